// Records the named intermediate tensors of layers while it is in scope, and can replace them.
//
//   Capture seen;                                     // layers record from here on
//   const Tensor logits = model(ids, {}, {.need_weights = true});
//   seen["blocks.0.attention.weights"];               // what the model really used
//
//   const Tensor keep = Tensor({4, 1, 1}, {1, 0, 1, 1});         // (heads, 1, 1)
//   seen.replace("blocks.0.attention.heads", [&](const Tensor& heads) { return heads * keep; });
//   const Tensor without_head_1 = model(ids);
//
// Without an active Capture nothing is recorded. With one, layers compute the same; attention
// stores its weights only if {.need_weights = true} (nn/forward_context.hpp) says so.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tapestry/tensor.hpp"

namespace tapestry {

class Capture {
 public:
  // Throws Error if another Capture is active on this thread.
  Capture();
  ~Capture();
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  // What was recorded under that name. Throws Error, listing the names there are, if nothing was.
  [[nodiscard]] const Tensor& operator[](std::string_view name) const;
  [[nodiscard]] bool contains(std::string_view name) const { return find(name) != nullptr; }

  // From now on, while the Capture is active, the model continues with f(tensor) where it records a
  // tensor under this name, and records f(tensor). For ablation, pruning and patching. A second
  // function for the same name replaces the first; an empty one removes it. f may use operations,
  // also while a tape records, and must keep the shape, or the model throws Error. A name that no
  // layer uses changes nothing: contains(name) tells after the call.
  using Replacement = std::function<Tensor(const Tensor& tensor)>;
  void replace(std::string_view name, Replacement f);

  // Everything, in the order of recording.
  const Parameters& all() const { return records_; }

  // A prefix for names while in scope: within Name("blocks", 0) and Name("attention"), "weights" is
  // recorded as "blocks.0.attention.weights". Does nothing without a Capture.
  class Name {
   public:
    explicit Name(const char* part, Index number = -1);
    ~Name();
    Name(const Name&) = delete;
    Name& operator=(const Name&) = delete;

   private:
    Capture* capture_;  // the active one, if any
    std::size_t length_ = 0;
  };

  // True while a Capture is active on this thread.
  [[nodiscard]] static bool active();

  // For layers: records a tensor under a name, and returns what to continue with: the tensor, or
  // its replacement. It replaces an earlier one of the same name: of several passes the last
  // counts. Without a Capture it only returns the tensor.
  static Tensor record(const char* name, const Tensor& tensor);

  // For layers: the tensor of this name, and those below it ("blocks" has "blocks.0.output"), do
  // not exist in this pass. To ask for one is then an error that tells the `remedy`. Throws Error,
  // with the same words, if one is to be replaced.
  static void not_stored(const char* name, const char* remedy);

 private:
  const Parameter* find(std::string_view name) const;
  Tensor replaced(const std::string& name, const Tensor& tensor) const;

  Parameters records_;
  std::vector<std::pair<std::string, Replacement>> replacements_;
  std::map<std::string, std::string, std::less<>> not_stored_;  // the remedy, by name
  std::string prefix_;                                          // of the Names in scope
};

}  // namespace tapestry
