#include "course/sum_rank.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tapestry {
namespace {

constexpr int tag_of_time = 1, tag_of_numbers = 2;

double bytes_in(std::size_t count) { return double(count * sizeof(float)); }

}  // namespace

SumRank::SumRank(Ranks& all, NetworkLink link, std::size_t count)
    : SumRecord{std::vector(count, std::ldexp(1.0F, all.rank()))}, ranks(all), link_(link) {
  end_step();
}

void SumRank::send(int to, std::size_t first, std::size_t last) {
  const std::span part = std::span(numbers).subspan(first, last - first);
  out_free_ = std::max(clock, out_free_) + link_.seconds(bytes_in(part.size()));
  Message time = ranks.send(to, tag_of_time, bytes_of(std::as_const(out_free_)));
  Message data = ranks.send(to, tag_of_numbers, std::as_bytes(part));
  ranks.wait(time), ranks.wait(data);
  now_.sent.push_back({ranks.rank(), to, first, last});
  ++messages, bytes += bytes_in(part.size());
}

std::vector<float> SumRank::receive(int from, std::size_t count) {
  double arrival = 0;
  std::vector<float> got(count);
  Message time = ranks.receive(from, tag_of_time, bytes_of(arrival));
  Message data = ranks.receive(from, tag_of_numbers, std::as_writable_bytes(std::span(got)));
  ranks.wait(time), ranks.wait(data);
  const double took = link_.seconds(bytes_in(count));
  in_free_ = std::max(arrival - took, in_free_) + took;
  clock = std::max(clock, in_free_);
  return got;
}

void SumRank::add(const std::vector<float>& other, std::size_t first) {
  for (std::size_t i = 0; i < other.size(); ++i) numbers[first + i] += other[i];
}

void SumRank::put(const std::vector<float>& other, std::size_t first) {
  std::copy(other.begin(), other.end(), numbers.begin() + std::ptrdiff_t(first));
}

void SumRank::end_step() {
  if (numbers.size() <= 4) now_.after = numbers;
  steps.push_back(std::exchange(now_, {}));
}

}  // namespace tapestry
