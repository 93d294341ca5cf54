#include "plot/swarm.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace tapestry::plot {
namespace {

// Between its ends no dot may be placed.
struct Taken {
  double from, to;
};

// How far two dots must be moved from each other, 0 where they are apart along the axis.
double needed(const Extent& a, const Extent& b, double apart) {
  const double gap = std::max({a.from - b.to, b.from - a.to, 0.0});
  return gap < apart ? std::sqrt(apart * apart - gap * gap) : 0;
}

// The first free place from 0 on.
double free_place(std::vector<Taken> taken) {
  std::sort(taken.begin(), taken.end(),
            [](const Taken& a, const Taken& b) { return a.from < b.from; });
  double place = 0;
  for (const Taken& part : taken) {
    if (part.from < place - 1e-9 && place < part.to - 1e-9) place = part.to;
  }
  return place;
}

}  // namespace

std::vector<double> swarm(const std::vector<Extent>& dots, double apart) {
  std::vector<std::size_t> order(dots.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return dots[a].from < dots[b].from; });
  std::vector<double> moved(dots.size(), 0.0);
  for (std::size_t i = 0; i < order.size(); ++i) {
    std::vector<Taken> forth, back;  // seen to the positive and to the negative side
    for (std::size_t k = 0; k < i; ++k) {
      const double side = needed(dots[order[k]], dots[order[i]], apart), at = moved[order[k]];
      if (side == 0) continue;
      forth.push_back({at - side, at + side});
      back.push_back({-at - side, -at + side});
    }
    const double right = free_place(forth), left = free_place(back);
    moved[order[i]] = left < right - 1e-9 ? -left : right;
  }
  return moved;
}

}  // namespace tapestry::plot
