#include "plot/palette.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace tapestry::plot {
namespace {

// The mean colour of a bin that occurs.
struct Shade {
  std::size_t bin;
  double weight;  // the square root of its count, so that rare colours matter, too
  std::array<double, 3> channel;
};

// A range of shades with one colour of the palette.
struct Group {
  std::size_t first, last;  // last is one past the end
  std::array<double, 3> mean{};
  std::array<double, 3> error{};  // sum of squared distances from the mean, per channel

  std::size_t widest() const {
    return static_cast<std::size_t>(std::max_element(error.begin(), error.end()) - error.begin());
  }
  double worst() const { return last - first > 1 ? error[widest()] : 0; }
};

Group group_of(const std::vector<Shade>& shades, std::size_t first, std::size_t last) {
  Group group{first, last};
  double weight = 0;
  for (std::size_t i = first; i < last; ++i) weight += shades[i].weight;
  for (std::size_t c = 0; c < 3; ++c) {
    for (std::size_t i = first; i < last; ++i) {
      group.mean[c] += shades[i].weight * shades[i].channel[c] / weight;
    }
    for (std::size_t i = first; i < last; ++i) {
      const double off = shades[i].channel[c] - group.mean[c];
      group.error[c] += shades[i].weight * off * off;
    }
  }
  return group;
}

// Splits the group at its mean, in the channel where it is widest.
Group cut(std::vector<Shade>& shades, Group& group) {
  const std::size_t c = group.widest();
  const auto at = [&](std::size_t i) { return shades.begin() + static_cast<std::ptrdiff_t>(i); };
  const auto middle = std::partition(at(group.first), at(group.last), [&](const Shade& shade) {
    return shade.channel[c] <= group.mean[c];
  });
  const auto border = static_cast<std::size_t>(middle - shades.begin());
  const Group rest = group_of(shades, border, group.last);
  group = group_of(shades, group.first, border);
  return rest;
}

std::uint8_t level(double value) { return static_cast<std::uint8_t>(std::lround(value)); }

}  // namespace

void Palette::count(Colour colour) {
  Sum& sum = sums_[bin_of(colour)];
  ++sum.count;
  sum.r += colour.r;
  sum.g += colour.g;
  sum.b += colour.b;
}

// Like the median cut of Heckbert (1982), but always splits the group with the largest error, at
// its mean.
void Palette::choose(std::size_t most) {
  std::vector<Shade> shades;
  for (std::size_t bin = 0; bin < sums_.size(); ++bin) {
    const Sum& sum = sums_[bin];
    const auto count = static_cast<double>(sum.count);
    if (sum.count == 0) continue;
    shades.push_back({bin,
                      std::sqrt(count),
                      {static_cast<double>(sum.r) / count, static_cast<double>(sum.g) / count,
                       static_cast<double>(sum.b) / count}});
  }
  std::vector<Group> groups{group_of(shades, 0, shades.size())};
  while (groups.size() < most) {
    const auto worst =
        std::max_element(groups.begin(), groups.end(),
                         [](const Group& a, const Group& b) { return a.worst() < b.worst(); });
    if (!(worst->worst() > 0)) break;
    groups.push_back(cut(shades, *worst));  // `worst` is used before the vector grows
  }
  place_.assign(sums_.size(), 0);
  for (std::size_t k = 0; k < groups.size(); ++k) {
    const auto& mean = groups[k].mean;
    colours_.push_back({level(mean[0]), level(mean[1]), level(mean[2])});
    for (std::size_t i = groups[k].first; i < groups[k].last; ++i) {
      place_[shades[i].bin] = static_cast<std::uint8_t>(k);
    }
  }
}

}  // namespace tapestry::plot
