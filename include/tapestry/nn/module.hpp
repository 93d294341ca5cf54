// What all layers and models have in common: members with names, and so parameters with names.
//
//   struct Classifier : Module {
//     Embedding words;
//     std::vector<TransformerBlock> blocks;
//     Linear out;
//     ...
//     Members members() const override {
//       return {{"words", words}, {"blocks", blocks}, {"out", out}};
//     }
//   };
//
//   Adam adam(classifier.parameters());  // words.weight, blocks.0.attention.query.weight, ...
//   std::cout << classifier.summary();
//   write_safetensors("a.safetensors", classifier.parameters());  // io/safetensors.hpp
//   load_parameters(classifier.parameters(), read_safetensors("a.safetensors"));
//
// A Module holds nothing itself. To copy one is to copy its fields: the copy shares the numbers,
// since a Tensor is a handle.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tapestry/tensor.hpp"

namespace tapestry {

class Module;

// A tensor that is learned, or modules, under a name. To be used at once: it points to them.
class Member {
 public:
  Member(std::string name, const Tensor& parameter);  // left out if undefined
  Member(std::string name, const Module* module);     // left out if null
  Member(std::string name, const Module& module) : Member(std::move(name), &module) {}

  template <class Layer>  // left out if there is none
  Member(std::string name, const std::optional<Layer>& layer)
      : Member(std::move(name), layer ? &*layer : nullptr) {}

  template <class Layer>  // "name.0", "name.1", ...
  Member(std::string name, const std::vector<Layer>& layers)
      : name_(std::move(name)), numbered_(true) {
    for (const Layer& layer : layers) modules_.push_back(&layer);
  }

  // Adds its parameters to the list, each with its full name.
  void append_to(Parameters& list, const std::string& prefix) const;

 private:
  std::string name_;
  Tensor parameter_;
  std::vector<const Module*> modules_;
  bool numbered_ = false;
};

using Members = std::vector<Member>;

// All their parameters, in order: parameters({{"up", up}, {"down", down}}).
[[nodiscard]] Parameters parameters(const Members& members, const std::string& prefix = "");

class Module {
 public:
  virtual ~Module() = default;

  // The one place where a layer names what it is made of. The order is that of parameters().
  [[nodiscard]] virtual Members members() const = 0;

  // Everything that is learned: "<prefix>blocks.0.attention.query.weight", ...
  [[nodiscard]] Parameters parameters(const std::string& prefix = "") const;

  // How many numbers are learned.
  [[nodiscard]] Index num_parameters() const;

  // A table of the layers that learn something, with the shapes of their tensors, how many numbers
  // these have and how many bytes they take; the last line has the sums.
  [[nodiscard]] std::string summary() const;
};

}  // namespace tapestry
