// Seeing inside: layers file what they compute, under names, while somebody looks.
//
//   Capture seen;                                     // layers file from here on
//   const Tensor logits = model(ids);
//   seen["blocks.0.attention.weights"];               // what the model really used
//
// Without a live Capture nothing is filed and nothing is kept. With one, attention takes the
// explicit path, since weights that are to be seen must be stored.
#pragma once

#include <string>
#include <string_view>

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
  static bool lives();

  // For layers: files a tensor under a name; one filed before under the same name is replaced, so
  // that of several passes the last is seen. Does nothing without a Capture.
  static void file(const char* name, const Tensor& tensor);

 private:
  const Parameter* find(std::string_view name) const;

  Parameters filed_;
  std::string prefix_;  // of the Names that live
};

}  // namespace tapestry
