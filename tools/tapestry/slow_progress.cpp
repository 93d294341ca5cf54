#include "slow_progress.hpp"

namespace tapestry::command {

void SlowProgress::operator()(Index made, Index all) {
  if (all != all_ || made <= made_) begin(all);
  const bool is_slow = now() - start_ > 1;
  if (!line_ && is_slow && made < all) {
    line_ = std::make_shared<Progress>(what_, all, unit_, ProgressOptions{.done = made});
  } else if (line_) {
    for (Index i = made_; i < made; ++i) line_->step();
  }
  made_ = made;
  if (made == all) line_.reset();
}

}  // namespace tapestry::command
