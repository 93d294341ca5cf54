// 51a. Which head can go first, and which next?
//
// loss(kept) is the loss of a model that keeps some of its heads: kept is a std::vector<bool> with
// an element for each head, true where the head is kept. Find out what each head is worth.
//
// 1. cost_alone: how much the loss grows when this head alone is removed
//    cost_h = loss(all but h) - loss(all)
//    ->   (heads)
// 2. pruning_order: remove one head after the other until none is left. Each time measure anew:
//    of the heads that are still there, remove the one without which the loss is smallest.
//    ->   std::vector<Index>: the head that went first, the one that went second, ...
//
// Two heads that do the same cost nothing alone: either can go. When one is gone, the other costs
// much. That is why the order has to be measured anew.
// std::vector<bool> kept(std::size_t(heads), true) keeps all; kept[std::size_t(h)] = false removes.
// Lesson: tutorials/phase5_experiments/1_which_heads.md, section 51
#include <cmath>
#include <vector>

#include "phase5.hpp"

namespace learn {

Tensor cost_alone(const HeadLoss& loss, Index heads) {
  // Yours.
  not_written_yet();
}

std::vector<Index> pruning_order(const HeadLoss& loss, Index heads) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
