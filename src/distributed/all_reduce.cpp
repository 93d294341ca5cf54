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
  AllReduce(Ranks& ranks, std::span<real> numbers)
      : ranks_(ranks),
        numbers_(numbers),
        own_(part_of(ranks.rank())),
        own_buckets_(buckets_of(own_)) {}

  void run() {
    receive_parts();
    std::vector<Message> given = send_parts();
    for (std::size_t i = 0; i < own_buckets_.size(); ++i) add_bucket(i);
    receive_sums(given);
    for (Message& message : under_way_) ranks_.wait(message);
  }

 private:
  Range part_of(int rank) const {
    const TreeNode part = share_of(static_cast<Index>(numbers_.size()), ranks_.size(), rank);
    return {part.first, part.last};
  }
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
    for (const int rank : others()) {
      Part part{rank, Tensor::empty({own_.count()})};
      for (const Range& bucket : own_buckets_) {
        const std::span<real> room(raw(part.numbers) + (bucket.first - own_.first),
                                   std::size_t(bucket.count()));
        part.messages.push_back(ranks_.receive(rank, tags::parts, std::as_writable_bytes(room)));
      }
      parts_.push_back(std::move(part));
    }
  }

  std::vector<Message> send_parts() {
    std::vector<Message> sent;
    for (const int to : others()) {
      for (const Range& bucket : buckets_of(part_of(to))) {
        sent.push_back(ranks_.send(to, tags::parts, std::as_bytes(at(bucket))));
      }
    }
    return sent;
  }

  // Over this rank's own numbers, once they have been sent.
  void receive_sums(std::vector<Message>& given) {
    std::size_t i = 0;
    for (const int from : others()) {
      for (const Range& bucket : buckets_of(part_of(from))) {
        ranks_.wait(given[i++]);
        under_way_.push_back(
            ranks_.receive(from, tags::sums_of_parts, std::as_writable_bytes(at(bucket))));
      }
    }
  }

  void add_bucket(std::size_t number) {
    const Range& bucket = own_buckets_[number];
    std::vector<TreePart> leaves{{{ranks_.rank(), ranks_.rank() + 1}, at(bucket).data()}};
    for (Part& part : parts_) {
      ranks_.wait(part.messages[number]);
      leaves.push_back(
          {{part.rank, part.rank + 1}, raw(part.numbers) + (bucket.first - own_.first)});
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
  Range own_;
  std::vector<Range> own_buckets_;
  std::vector<Part> parts_;
  std::vector<Message> under_way_;
};

}  // namespace

void all_reduce(Ranks& ranks, std::span<real> numbers) { AllReduce(ranks, numbers).run(); }

}  // namespace tapestry
