#include "plot/palette.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

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

std::span<const Shade> shades_of(const Group& group, const std::vector<Shade>& shades) {
  return std::span(shades).subspan(group.first, group.last - group.first);
}

Group group_of(const std::vector<Shade>& shades, std::size_t first, std::size_t last) {
  Group group{first, last};
  const std::span<const Shade> all = shades_of(group, shades);
  double weight = 0;
  for (const Shade& shade : all) weight += shade.weight;
  for (std::size_t c = 0; c < group.mean.size(); ++c) {
    double &mean = group.mean[c], &error = group.error[c];
    for (const Shade& shade : all) mean += shade.weight * shade.channel[c] / weight;
    for (const Shade& shade : all) {
      const double off = shade.channel[c] - mean;
      error += shade.weight * off * off;
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
  for (const Sum& sum : sums_) {
    const auto count = static_cast<double>(sum.count);
    if (sum.count == 0) continue;
    shades.push_back({static_cast<std::size_t>(&sum - sums_.data()),
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
  place_.resize(sums_.size());
  for (const Group& group : groups) {
    const auto place = static_cast<std::uint8_t>(colours_.size());
    for (const Shade& shade : shades_of(group, shades)) place_[shade.bin] = place;
    const auto& [r, g, b] = group.mean;
    colours_.push_back({level(r), level(g), level(b)});
  }
}

}  // namespace tapestry::plot
