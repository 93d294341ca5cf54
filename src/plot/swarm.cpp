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
  std::ranges::sort(taken, {}, &Taken::from);
  double place = 0;
  for (const Taken& part : taken) {
    if (part.from < place - 1e-9) place = std::max(place, part.to);
  }
  return place;
}

}  // namespace

std::vector<double> swarm(const std::vector<Extent>& dots, double apart) {
  std::vector<std::size_t> order(dots.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return dots[i].from; });
  std::vector<double> moved(dots.size());
  std::vector<std::size_t> placed;
  for (const std::size_t i : order) {
    std::vector<Taken> forth, back;  // seen to the positive and to the negative side
    for (const std::size_t k : placed) {
      const double side = needed(dots[k], dots[i], apart), at = moved[k];
      forth.push_back({at - side, at + side});
      back.push_back({-at - side, -at + side});
    }
    const double right = free_place(forth), left = free_place(back);
    moved[i] = left < right - 1e-9 ? -left : right;
    placed.push_back(i);
  }
  return moved;
}

}  // namespace tapestry::plot
