// PyTorch as a peer, where python3 has it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "row.hpp"
#include "torch_process.hpp"

namespace tapestry::bench {

class Torch {
 public:
  // The command is a line for the shell, "" for no PyTorch.
  explicit Torch(const std::string& python);

  // Adds PyTorch to those who race on this row, if it has the same work. On one thread only: with
  // two, its own threads and OpenBLAS's hinder each other.
  void join(const std::string& row, std::vector<Contestant>& contestants);

  // Lines for the screen: which one takes part, or how to get it. The peak is that of one thread.
  std::string description(double peak_gflops) const;
  std::string lost();  // once, when it was lost on the way: a line that says why; else ""

 private:
  std::shared_ptr<TorchProcess> process_;  // none if it was not asked for
  bool was_there_ = false;
};

}  // namespace tapestry::bench
