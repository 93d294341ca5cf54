#include "distributed/gradient_sum.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "distributed/tags.hpp"
#include "tensor/raw.hpp"

namespace tapestry {
namespace {

constexpr std::size_t most_nodes = 64, of_sum = most_nodes - 1;  // places of a bucket's tags

bool is_node(Index count, const TreeNode& wanted) {
  TreeNode node{0, count};
  while (node.count() > wanted.count()) {
    const Index middle = node.middle();
    node = wanted.first < middle ? TreeNode{node.first, middle} : TreeNode{middle, node.last};
  }
  return node == wanted;
}

std::span<real> numbers_of(const Tensor& row, const Range& range) {
  return {raw(row) + range.first, static_cast<std::size_t>(range.count())};
}

}  // namespace

GradientSum::GradientSum(Ranks& ranks, const Parameters& parameters, Index micro_batches,
                         bool divided)
    : ranks_(ranks),
      layout_(parameters),
      micro_batches_(micro_batches),
      divided_(divided),
      share_(share_of(micro_batches, ranks.size(), ranks.rank())),
      nodes_(whole_nodes(micro_batches, share_)),
      owned_(static_cast<std::size_t>(ranks.size())) {
  int rank = 0;
  for (Range& range : owned_) range = layout_.owned(ranks.size(), rank++, divided);
  make_buckets();
}

void GradientSum::make_buckets() {
  int owner = 0;
  for (const Range& all : owned_) {
    for (const Range& range : buckets_of(all)) buckets_.push_back({range, owner});
    ++owner;
  }
  for (const Range& numbers : layout_.ranges()) {
    const auto first = std::find_if(buckets_.begin(), buckets_.end(), [&](const Bucket& bucket) {
      return bucket.range.last > numbers.first;
    });
    const auto last = std::find_if(first, buckets_.end(), [&](const Bucket& bucket) {
      return bucket.range.first >= numbers.last;
    });
    of_parameter_.emplace_back(first - buckets_.begin(), last - buckets_.begin());
  }
}

int GradientSum::tag(std::size_t bucket, std::size_t node) const {
  return tags::sums + static_cast<int>(bucket * most_nodes + node);
}

void GradientSum::copy(std::size_t parameter, const Tensor& gradient, const Tensor& row) const {
  const std::span<real> to = numbers_of(row, layout_.ranges()[parameter]);
  if (to.empty()) return;
  if (!gradient.defined()) {
    std::fill(to.begin(), to.end(), real(0));
    return;
  }
  const Tensor numbers = gradient.contiguous();
  std::memcpy(to.data(), raw(numbers), to.size_bytes());
}

// ---------------------------------------------------------------- the micro-batches of this rank

void GradientSum::add(Index micro_batch, const Gradients& gradients) {
  const Tensor row = Tensor::empty({layout_.count()});
  for (std::size_t i = 0; i < gradients.size(); ++i) copy(i, gradients.at(i), row);
  sums_.emplace_back(TreeNode{micro_batch, micro_batch + 1}, row);
  merge_siblings();
}

// Like the carry of a binary counter: so no more than log2(micro-batches) sums are kept.
void GradientSum::merge_siblings() {
  while (sums_.size() > 1) {
    const TreeNode &left = sums_[sums_.size() - 2].first, &right = sums_.back().first;
    const TreeNode both{left.first, right.last};
    if (!is_node(micro_batches_, both) || both.middle() != left.last) return;
    add_up(both, {{left, raw(sums_[sums_.size() - 2].second)}, {right, raw(sums_.back().second)}},
           layout_.count());
    sums_.pop_back();
    sums_.back().first = both;
  }
}

void GradientSum::begin_last(Index micro_batch) {
  sums_.emplace_back(TreeNode{micro_batch, micro_batch + 1}, Tensor::empty({layout_.count()}));
  for (const auto& [first, last] : of_parameter_) {
    for (std::size_t bucket = first; bucket < last; ++bucket) ++buckets_[bucket].waiting;
  }
  post_receives();
}

void GradientSum::complete(std::size_t position, const Tensor& gradient) {
  copy(position, gradient, sums_.back().second);
  const auto [first, last] = of_parameter_[position];
  for (std::size_t bucket = first; bucket < last; ++bucket) {
    if (--buckets_[bucket].waiting == 0) send(bucket);
  }
}

// This rank's sums, from the number with that place in the row on.
std::vector<TreePart> GradientSum::parts_at(Index number) const {
  std::vector<TreePart> parts;
  for (const auto& [node, row] : sums_) parts.push_back({node, raw(row) + number});
  return parts;
}

// ---------------------------------------------------------------- between ranks

void GradientSum::send(std::size_t number) {
  Bucket& bucket = buckets_[number];
  const bool own = bucket.owner == ranks_.rank();
  const std::vector<TreePart> parts = parts_at(bucket.range.first);
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const real* const sum = add_up(nodes_[i], parts, bucket.range.count());
    if (own) continue;
    const std::span numbers(sum, static_cast<std::size_t>(bucket.range.count()));
    bucket.sent.push_back(ranks_.send(bucket.owner, tag(number, i), std::as_bytes(numbers)));
  }
  (own ? to_add_ : to_fetch_).push_back(number);
}

void GradientSum::post_receives() {
  for (int hop = 1; hop < ranks_.size(); ++hop) {
    const int from = (ranks_.rank() + ranks_.size() - hop) % ranks_.size();
    const std::vector<TreeNode> nodes =
        whole_nodes(micro_batches_, share_of(micro_batches_, ranks_.size(), from));
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      Received one{from, nodes[i], Tensor::empty({own().count()})};
      for (const Bucket& bucket : buckets_) {
        Message message;
        if (bucket.owner == ranks_.rank()) {
          const Range place{bucket.range.first - own().first, bucket.range.last - own().first};
          const std::span<real> room = numbers_of(one.numbers, place);
          message = ranks_.receive(from, tag(one.messages.size(), i), std::as_writable_bytes(room));
        }
        one.messages.push_back(message);
      }
      received_.push_back(std::move(one));
    }
  }
}

// Does what needs no waiting. Buckets are complete in one order on all ranks, nearly.
void GradientSum::advance() {
  const auto have_ended = [&](std::vector<Message>& messages) {
    return std::all_of(messages.begin(), messages.end(),
                       [&](Message& message) { return ranks_.done(message); });
  };
  const auto has_come = [&](std::size_t bucket) {
    return std::all_of(received_.begin(), received_.end(),
                       [&](Received& one) { return ranks_.done(one.messages[bucket]); });
  };
  while (!to_add_.empty() && has_come(to_add_.front())) add_next();
  while (!to_fetch_.empty() && have_ended(buckets_[to_fetch_.front()].sent)) fetch_next();
}

// The sum of all ranks, into this rank's first row, and to all others.
void GradientSum::add_next() {
  const std::size_t number = to_add_.front();
  to_add_.pop_front();
  const Range& range = buckets_[number].range;
  std::vector<TreePart> parts;
  const std::vector<TreePart> rows = parts_at(range.first);
  for (const TreeNode& node : nodes_) {
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const TreePart& part) {
      return part.node.first == node.first;  // where add_up put the sum
    });
    parts.push_back({node, row->numbers});
  }
  for (Received& one : received_) {
    ranks_.wait(one.messages[number]);
    parts.push_back({one.node, raw(one.numbers) + (range.first - own().first)});
  }
  const real* const sum = add_up({0, micro_batches_}, parts, range.count());
  const std::span<real> to = numbers_of(sums_.front().second, range);
  if (sum != to.data()) std::memcpy(to.data(), sum, to.size_bytes());
  for (int hop = 1; hop < ranks_.size() && !divided_; ++hop) {
    const int other = (ranks_.rank() + hop) % ranks_.size();
    sums_under_way_.push_back(ranks_.send(other, tag(number, of_sum), std::as_bytes(to)));
  }
}

// What was sent to an owner has been read: the sum may come there.
void GradientSum::fetch_next() {
  const std::size_t number = to_fetch_.front();
  to_fetch_.pop_front();
  Bucket& bucket = buckets_[number];
  for (Message& message : std::exchange(bucket.sent, {})) ranks_.wait(message);
  if (divided_) return;
  const std::span<real> to = numbers_of(sums_.front().second, bucket.range);
  sums_under_way_.push_back(
      ranks_.receive(bucket.owner, tag(number, of_sum), std::as_writable_bytes(to)));
}

Tensor GradientSum::finish() {
  for (; !to_add_.empty(); advance()) add_next();
  while (!to_fetch_.empty()) fetch_next();
  for (Message& message : std::exchange(sums_under_way_, {})) ranks_.wait(message);
  received_.clear();
  const Tensor sum = sums_.front().second;
  sums_.clear();
  return sum;
}

}  // namespace tapestry
