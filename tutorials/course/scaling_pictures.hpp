// What step 56 sees of attention that learns, with the division by sqrt(d_k) and without it, and
// its pictures.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "tapestry/plot/canvas.hpp"
#include "tapestry/tensor.hpp"

namespace tapestry::scaling {

// What is seen of one step. Query i should look at key i.
struct Look {
  Tensor weights, gradient;  // (items, items): A and d loss / d A
  double loss = 0, entropy = 0;
  double by_a = 0, by_scores = 0, by_w = 0;  // norms of d loss / d A, scores, W_Q and W_K
  double dead = 0, stuck = 0;                // rows dead; those of them that are wrong
  std::vector<Index> stuck_at = {};  // of each row the key of the largest weight; -1: not stuck
};

using Film = std::vector<Look>;  // by step

struct Setting {
  std::string name;  // "raw: not divided"
  double rate = 0;
  std::vector<Film> films = {};  // one for each seed

  std::string short_name() const;  // "raw"

  // Over the seeds, and over the steps from `first` to `last`.
  double mean(Index first, Index last, double Look::* number) const;
  double mean(Index step, double Look::* number) const { return mean(step, step, number); }

  // Of all seeds and these steps; of an even number of them the greater one of the middle two.
  double median(Index first, Index last, double Look::* number) const;

  // Of the means of those steps that lie close to `step` on a log axis (from 1 / 1.3 to 1.3 times,
  // counted from 1), none after `last`.
  double running_median(Index step, Index last, double Look::* number) const;
};

using Settings = std::array<Setting, 4>;

// Above, the first two settings at one step: weights and gradients of the first seed. Below, curves
// of all settings up to this step: loss, entropy, gradient of W_Q and W_K, rows stuck. Every film
// has all steps. `scale`: pixels per logical unit.
plot::Canvas frame(const Settings& settings, Index d_k, Index step, double scale);

// A film of them: every step while much happens, fewer later; the first and the last one stand
// still for a while.
std::vector<plot::Canvas> frames(const Settings& settings, Index d_k);

}  // namespace tapestry::scaling
