#include <span>
#include <vector>

#include "phase8.hpp"

namespace learn {

std::vector<real> ring_all_reduce(Ranks& ranks, std::vector<real> numbers) {
  const int size = ranks.size();
  const auto begin = [&](int chunk) {
    return numbers.size() * std::size_t(chunk) / std::size_t(size);
  };
  for (int step = 0; step < 2 * (size - 1); ++step) {
    const int out = (ranks.rank() - step + 2 * size) % size, in = (out + size - 1) % size;
    const auto chunk = std::span(numbers).subspan(begin(out), begin(out + 1) - begin(out));
    std::vector<real> came(begin(in + 1) - begin(in));
    Message sent = ranks.send(ranks.next(), 1, std::as_bytes(chunk));
    Message got = ranks.receive(ranks.previous(), 1, std::as_writable_bytes(std::span(came)));
    ranks.wait(sent), ranks.wait(got);
    for (std::size_t i = 0; i < came.size(); ++i) {
      real& mine = numbers[begin(in) + i];
      mine = step < size - 1 ? mine + came[i] : came[i];
    }
  }
  return numbers;
}

}  // namespace learn
