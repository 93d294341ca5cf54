#include "torch_peer.hpp"

#include <limits>

#include "tapestry/format.hpp"

namespace tapestry::bench {

Torch::Torch(const std::string& python) {
  if (python.empty()) return;
  process_ = std::make_shared<TorchProcess>(python);
  was_there_ = process_->is_there();
}

void Torch::join(const std::string& row, std::vector<Contestant>& contestants) {
  if (process_ == nullptr || !process_->is_there() || !process_->prepares(row)) return;
  contestants.push_back({.name = "PyTorch", .run = {}, .seconds = [process = process_] {
                           constexpr double never = std::numeric_limits<double>::infinity();
                           return process->seconds().value_or(never);
                         }});
  contestants.back().is_judged = process_->is_judged();
}

std::string Torch::description(double peak_gflops) const {
  if (process_ == nullptr) return "PyTorch: not asked for";
  if (!was_there_) {
    return "PyTorch takes no part (" + process_->problem() +
           "). It is in Debian's\npackages python3-torch and libopenblas0-pthread; --python names "
           "another python.";
  }
  std::string text = "PyTorch " + process_->version() +
                     ", one thread; its product of 512 x 512 x " +
                     formatted("512 reaches %.0f GFLOP/s", process_->gflops());
  if (!process_->is_judged()) text += "\n(older than 2.6: shown, not judged)";
  if (process_->gflops() < peak_gflops / 3) {
    text +=
        "\n(far from this machine's limit: has it a slow BLAS? libopenblas0-pthread has a fast "
        "one)";
  }
  return text;
}

std::string Torch::lost() {
  if (!was_there_ || process_->is_there()) return {};
  was_there_ = false;
  return "PyTorch takes no part any more: " + process_->problem();
}

}  // namespace tapestry::bench
