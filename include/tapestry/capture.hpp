// Seeing inside, and reaching in: layers file what they compute, under names, while somebody looks;
// what is filed can be replaced.
//
//   Capture seen;                                     // layers file from here on
//   const Tensor logits = model(ids);
//   seen["blocks.0.attention.weights"];               // what the model really used
//
//   const Tensor keep = Tensor({4, 1, 1}, {1, 0, 1, 1});         // (heads, 1, 1)
//   seen.replace("blocks.0.attention.heads", [&](const Tensor& heads) { return heads * keep; });
//   const Tensor without_head_1 = model(ids);
//
// Without a live Capture nothing is filed and nothing is kept. With one, attention takes the
// explicit path, since weights that are to be seen must be stored.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tapestry/tensor.hpp"

namespace tapestry {

class Capture {
 public:
  // Throws Error if another Capture lives on this thread.
  Capture();
  ~Capture();
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  // What was filed under that name. Throws Error, listing what there is, if nothing was.
  const Tensor& operator[](std::string_view name) const;
  bool contains(std::string_view name) const { return find(name) != nullptr; }

  // From now on the model goes on with f(tensor) where it files a tensor under this name, as long
  // as the Capture lives; what is filed is f(tensor), too. For ablation, pruning and patching. A
  // second function for the same name takes the place of the first; an empty one ends it. f may
  // use operations, also on a live tape, and must give the shape it got, or the model throws Error.
  // A name that nothing is filed under changes nothing: contains(name) tells after the call.
  using Replacement = std::function<Tensor(const Tensor& tensor)>;
  void replace(std::string_view name, Replacement f);

  // Everything, in the order of filing.
  const Parameters& all() const { return filed_; }

  // A part of a name, as long as it lives: with Name("blocks", 0) and Name("attention") alive,
  // "weights" is filed as "blocks.0.attention.weights". Does nothing without a Capture.
  class Name {
   public:
    explicit Name(const char* part, Index number = -1);
    ~Name();
    Name(const Name&) = delete;
    Name& operator=(const Name&) = delete;

   private:
    Capture* capture_;  // the one that lives, if any
    std::size_t length_ = 0;
  };

  // True while a Capture lives on this thread.
  static bool active();

  // For layers: files a tensor under a name, and returns what to go on with: the tensor, or what
  // replaces it. One filed before under the same name is forgotten, so that of several passes the
  // last is seen. Without a Capture it only returns the tensor.
  static Tensor record(const char* name, const Tensor& tensor);

 private:
  const Parameter* find(std::string_view name) const;
  Tensor replaced(const std::string& name, const Tensor& tensor) const;

  Parameters filed_;
  std::vector<std::pair<std::string, Replacement>> replacements_;
  std::string prefix_;  // of the Names that live
};

}  // namespace tapestry
