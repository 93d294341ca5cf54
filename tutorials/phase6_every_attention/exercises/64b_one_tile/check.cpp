#include <algorithm>
#include <cmath>

#include "course/exercise.hpp"
#include "phase6.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::meet_tile) meet_tile;
}

namespace {

using Meeting = std::function<decltype(learn::meet_tile)>;

Attempt after(const Meeting& f) {
  return [=](const NamedTensors& in) -> NamedTensors {
    const TileState before{in[0].value, in[1].value, in[2].value};
    const TileState now = f(before, in[3].value, in[4].value, in[5].value);
    return {{"top", now.top}, {"total", now.total}, {"mixed", now.mixed}};
  };
}

enum Kind { right, none, sum_kept, mixed_kept, own_top, one_top, no_root, divided, too_late };

bool keeps_sum(Kind kind) { return kind == none || kind == sum_kept || kind == too_late; }
bool keeps_mixed(Kind kind) { return kind == none || kind == mixed_kept || kind == too_late; }

double score_of(Kind kind, const Tensor& q, Index i, const Tensor& k, Index j) {
  double s = 0;
  for (Index c = 0; c < q.size(1); ++c) s += double{q.at({i, c})} * double{k.at({j, c})};
  return kind == no_root ? s : s / std::sqrt(double(q.size(1)));
}

// Query by query, key by key.
Meeting by_numbers(Kind kind) {
  return [=](const TileState& before, const Tensor& q, const Tensor& k, const Tensor& v) {
    const Index rows = q.size(0), keys = k.size(0);
    TileState now{before.top.clone(), before.total.clone(), before.mixed.clone()};
    const auto score = [&](Index i, Index j) { return score_of(kind, q, i, k, j); };
    double highest = double{max(before.top).item()};
    for (Index place = 0; place < rows * keys; ++place) {
      highest = std::max(highest, score(place / keys, place % keys));
    }
    for (Index i = 0; i < rows; ++i) {
      double top = kind == own_top ? -INFINITY : double{before.top.at({i})};
      for (Index j = 0; j < keys; ++j) top = std::max(top, score(i, j));
      if (kind == one_top) top = highest;
      const double down = std::exp(double{before.top.at({i})} - top);
      const auto term = [&](Index j) { return std::exp(score(i, j) - top); };
      double total = double{before.total.at({i})} * (keeps_sum(kind) ? 1 : down);
      for (Index j = 0; j < keys; ++j) total += term(j);
      if (kind == too_late) total *= down;
      for (Index c = 0; c < v.size(1); ++c) {
        double mixed = double{before.mixed.at({i, c})} * (keeps_mixed(kind) ? 1 : down);
        for (Index j = 0; j < keys; ++j) mixed += term(j) * double{v.at({j, c})};
        const double last = kind == divided ? 1 / total : kind == too_late ? down : 1;
        now.mixed.set({i, c}, mixed * last);
      }
      now.top.set({i}, top), now.total.set({i}, total);
    }
    return now;
  };
}

// All rows at once.
Meeting by_tensors(Kind kind) {
  return [=](const TileState& before, const Tensor& q, const Tensor& k, const Tensor& v) {
    const double root = kind == no_root ? 1 : std::sqrt(double(q.size(1)));
    const Tensor scores = matmul(q, transpose(k)) / root;  // (rows, keys)
    Tensor top = max(scores, 1);                           // (rows)
    if (kind != own_top) top = maximum(top, before.top);
    if (kind == one_top) top = expand(max(top), top.shape());
    const Tensor down = exp(before.top - top);             // (rows)
    const Tensor terms = exp(scores - unsqueeze(top, 1));  // (rows, keys)
    const Tensor old = keeps_mixed(kind) ? before.mixed : before.mixed * unsqueeze(down, 1);
    const Tensor total = (keeps_sum(kind) ? before.total : before.total * down) + sum(terms, 1);
    Tensor mixed = old + matmul(terms, v);  // (rows, d_v)
    if (kind == too_late) return TileState{top, total * down, mixed * unsqueeze(down, 1)};
    if (kind == divided) mixed = mixed / unsqueeze(total, 1);
    return TileState{top, total, mixed};
  };
}

KnownMistake known(Kind kind, const char* name, const char* sentence) {
  return {name, sentence, after(by_numbers(kind)), after(by_tensors(kind))};
}

// Query 0 has met nothing; of the others, some have met less than this tile has, some more.
NamedTensors inputs(Random& random, Index size) {
  const Index rows = size + 1, d = size < 2 ? 2 : 4, d_v = 1 + size / 2;
  Tensor top = Tensor::full({rows}, -INFINITY), total = Tensor::zeros({rows});  // (rows) each
  Tensor mixed = Tensor::zeros({rows, d_v});                                    // (rows, d_v)
  for (Index i = 1; i < rows; ++i) {
    top.set({i}, (i % 2 == 1 ? -1.5 : 2) + random.uniform());
    total.set({i}, 1 + random.uniform());
    for (Index c = 0; c < d_v; ++c) mixed.set({i, c}, random.normal());
  }
  const Index keys = size + random.randint(2);
  return {{"top", top},
          {"total", total},
          {"mixed", mixed},
          {"q", random.normal({rows, d})},
          {"k", random.normal({keys, d})},
          {"v", random.normal({keys, d_v})}};
}

const std::vector<KnownMistake> mistakes = {
    known(none, "a tile without correction",
          "Neither total nor mixed is multiplied by exp(top - top'). Where this tile has a "
          "greater score than all before, the earlier keys keep a weight that belongs to "
          "the old maximum: too much."),
    known(sum_kept, "the sum is not corrected",
          "mixed is multiplied by exp(top - top'), but total is not. Weights then sum to "
          "less than 1 where the maximum rises."),
    known(mixed_kept, "the mixture is not corrected",
          "total is multiplied by exp(top - top'), but mixed is not. Earlier values count "
          "too much where the maximum rises."),
    known(too_late, "corrected too late",
          "total and mixed are multiplied by exp(top - top') after this tile's terms were added. "
          "These belong to the new maximum already; only what was there before shrinks."),
    known(own_top, "the maximum of this tile alone",
          "top' is the largest score of this tile, also where an earlier one was larger. "
          "mixed / total still comes out right, but exp(top - top') may then be infinite."),
    known(one_top, "one maximum for all queries",
          "All rows have the same maximum. mixed / total still comes out right, unless a "
          "row's scores lie so far below it that all its terms become 0."),
    known(no_root, "scores not divided",
          "The scores are not divided by sqrt(d), the root of the length of a key."),
    known(divided, "divided too early",
          "mixed is divided by total in this tile. That belongs after the last one: the "
          "next tile would add terms to a mixture that is divided already.")};

}  // namespace

int main(int count, char** arguments) {
  return judge(
      {.inputs = inputs,
       .learner = after(learn::meet_tile),
       .right = {after(solution::meet_tile), after(by_numbers(right)), after(by_tensors(right))},
       .mistakes = mistakes,
       .hints = {"First the scores, (rows, keys); then top', (rows); then the correction, (rows). "
                 "All else is made of these.",
                 "correction = exp(before.top - top); terms = exp(scores - unsqueeze(top, 1)).",
                 "total: before.total * correction + sum(terms, 1). mixed: before.mixed * "
                 "unsqueeze(correction, 1) + matmul(terms, v)."}},
      count, arguments);
}
