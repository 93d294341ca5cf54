// The sum of one step's gradients over its micro-batches, on whichever ranks they were computed.
#pragma once

#include <deque>
#include <vector>

#include "distributed/layout.hpp"
#include "tapestry/distributed/fixed_tree.hpp"
#include "tapestry/distributed/ranks.hpp"
#include "tapestry/tape.hpp"

namespace tapestry {

// For each step: add() for all micro-batches of this rank but the last, whose gradients come by
// complete() while its backward pass goes on; between begin_last() and finish().
//
// Numbers travel in buckets, stretches of a row of all numbers. A bucket is sent to its owner as
// soon as all gradients in it are complete: one message for each whole node of this rank's share.
// The owner adds what has come, and sends the sum to all, also while the backward pass goes on.
class GradientSum : public BackwardListener {
 public:
  // divided: owners have whole parameters, and sums stay with them.
  GradientSum(Ranks& ranks, const Parameters& parameters, Index micro_batches, bool divided);

  const TreeNode& share() const { return share_; }
  const std::vector<Range>& owned() const { return owned_; }  // by rank
  const Range& own() const { return owned_[static_cast<std::size_t>(ranks_.rank())]; }
  const ParameterLayout& layout() const { return layout_; }

  void add(Index micro_batch, const Gradients& gradients);
  void begin_last(Index micro_batch);
  void complete(std::size_t position, const Tensor& gradient) override;
  void after_record() override { advance(); }

  // Waits for the others' sums, and adds them -> (all numbers) of sums; if divided, own() of them.
  Tensor finish();

 private:
  struct Bucket {
    Range range;
    int owner;
    std::size_t waiting = 0;         // parameters in it that are not complete
    std::vector<Message> sent = {};  // to its owner
  };
  struct Received {  // of another rank, of one of its nodes
    int from;
    TreeNode node;
    Tensor numbers;                      // as many as own()
    std::vector<Message> messages = {};  // by bucket
  };

  void make_buckets();
  void copy(std::size_t parameter, const Tensor& gradient, const Tensor& row) const;
  void merge_siblings();
  std::vector<TreePart> parts_at(Index number) const;
  void send(std::size_t bucket);
  void post_receives();
  void advance();
  void add_next();
  void fetch_next();
  int tag(std::size_t bucket, std::size_t node) const;

  Ranks& ranks_;
  ParameterLayout layout_;
  Index micro_batches_;
  bool divided_;
  TreeNode share_;
  std::vector<TreeNode> nodes_;  // the whole ones of the share
  std::vector<Range> owned_;
  std::vector<Bucket> buckets_;
  std::vector<std::pair<std::size_t, std::size_t>> of_parameter_;  // its buckets, [first, last)

  // Of the current step: sums of micro-batches, nodes from left to right, each (all numbers).
  std::vector<std::pair<TreeNode, Tensor>> sums_;
  std::vector<Received> received_;
  std::deque<std::size_t> to_add_, to_fetch_;  // buckets complete here: own ones, and others'
  std::vector<Message> sums_under_way_;
};

}  // namespace tapestry
