#include "tapestry/distributed/all_reduce.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "distributed/layout.hpp"
#include "distributed/tags.hpp"
#include "tapestry/distributed/fixed_tree.hpp"
#include "tapestry/tensor.hpp"
#include "tensor/raw.hpp"

namespace tapestry {
namespace {

class AllReduce {
 public:
  AllReduce(Ranks& ranks, std::span<real> numbers) : ranks_(ranks), numbers_(numbers) {
    const auto count = static_cast<Index>(numbers.size());
    for (int rank = 0; rank < ranks.size(); ++rank) {
      buckets_.push_back(
          buckets_of({count * rank / ranks.size(), count * (rank + 1) / ranks.size()}));
    }
  }

  void run() {
    receive_parts();
    std::vector<Message> given = send_parts();
    for (std::size_t i = 0; i < own().size(); ++i) add_bucket(i);
    receive_sums(given);
    for (Message& message : under_way_) ranks_.wait(message);
  }

 private:
  const std::vector<Range>& own() const { return buckets_[std::size_t(ranks_.rank())]; }
  std::span<real> at(const Range& range) const {
    return numbers_.subspan(std::size_t(range.first), std::size_t(range.count()));
  }
  // All other ranks, from the next one on, so that not all begin with rank 0.
  std::vector<int> others() const {
    std::vector<int> ranks;
    for (int hop = 1; hop < ranks_.size(); ++hop) {
      ranks.push_back((ranks_.rank() + hop) % ranks_.size());
    }
    return ranks;
  }

  void receive_parts() {
    const Index count = own().empty() ? 0 : own().back().last - own().front().first;
    for (const int rank : others()) {
      Part part{rank, Tensor::empty({count})};
      for (const Range& bucket : own()) {
        const std::span<real> room(raw(part.numbers) + (bucket.first - own().front().first),
                                   std::size_t(bucket.count()));
        part.messages.push_back(ranks_.receive(rank, tags::parts, std::as_writable_bytes(room)));
      }
      parts_.push_back(std::move(part));
    }
  }

  std::vector<Message> send_parts() {
    std::vector<Message> sent;
    for (const int to : others()) {
      for (const Range& bucket : buckets_[std::size_t(to)]) {
        sent.push_back(ranks_.send(to, tags::parts, std::as_bytes(at(bucket))));
      }
    }
    return sent;
  }

  // Over this rank's own numbers, once they have been sent.
  void receive_sums(std::vector<Message>& given) {
    std::size_t i = 0;
    for (const int from : others()) {
      for (const Range& bucket : buckets_[std::size_t(from)]) {
        ranks_.wait(given[i++]);
        under_way_.push_back(
            ranks_.receive(from, tags::sums_of_parts, std::as_writable_bytes(at(bucket))));
      }
    }
  }

  void add_bucket(std::size_t number) {
    const Range& bucket = own()[number];
    const Index start = own().front().first;
    std::vector<TreePart> leaves{{{ranks_.rank(), ranks_.rank() + 1}, at(bucket).data()}};
    for (Part& part : parts_) {
      ranks_.wait(part.messages[number]);
      leaves.push_back({{part.rank, part.rank + 1}, raw(part.numbers) + (bucket.first - start)});
    }
    const real* const sum = add_up({0, ranks_.size()}, leaves, bucket.count());
    if (sum != at(bucket).data()) std::memcpy(at(bucket).data(), sum, at(bucket).size_bytes());
    for (const Part& part : parts_) {
      under_way_.push_back(ranks_.send(part.rank, tags::sums_of_parts, std::as_bytes(at(bucket))));
    }
  }

  struct Part {  // the numbers of another rank
    int rank;
    Tensor numbers;
    std::vector<Message> messages = {};  // by own bucket
  };

  Ranks& ranks_;
  std::span<real> numbers_;
  std::vector<std::vector<Range>> buckets_;  // by owner
  std::vector<Part> parts_;
  std::vector<Message> under_way_;
};

}  // namespace

void all_reduce(Ranks& ranks, std::span<real> numbers) { AllReduce(ranks, numbers).run(); }

}  // namespace tapestry
