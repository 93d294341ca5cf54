#include <cmath>

#include "course/exercise.hpp"
#include "phase7.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::pooled_groups) pooled_groups;
}

namespace {

using Pooling = std::function<decltype(learn::pooled_groups)>;

Attempt pooled(const Pooling& pooling) {
  return [=](const NamedTensors& in) -> NamedTensors {
    const auto whole = [&](std::size_t i) { return Index(std::lround(in[i].value.item())); };
    return {{"columns", pooling(in[0].value, whole(1), whole(2))}};
  };
}

enum Kind {
  right,
  summed,
  by_root,
  by_all,
  first_only,
  dealt,
  by_groups,
  all_alike,
  mixed_columns
};

// How much of a head goes to a group.
double share(Kind kind, Index head, Index group, Index heads, Index groups) {
  const Index each = heads / groups;
  const bool is_in = kind == dealt       ? head % groups == group
                     : kind == by_groups ? head / groups == group
                                         : head / each == group;
  if (kind == all_alike) return 1 / double(heads);
  if (!is_in || (kind == first_only && head % each != 0)) return 0;
  if (kind == summed || kind == first_only) return 1;
  if (kind == by_root) return 1 / std::sqrt(double(each));
  return 1 / double(kind == by_all ? heads : each);
}

// Number by number: each goes to its places.
Pooling by_numbers(Kind kind) {
  return [=](const Tensor& w, Index heads, Index groups) {
    const Index rows = w.size(0), d = w.size(1) / heads;
    Tensor result = Tensor::zeros({rows, groups * d});  // (d_model, groups d)
    for (Index place = 0; place < w.numel(); ++place) {
      const Index row = place / (heads * d), column = place % (heads * d);
      const bool is_mixed = kind == mixed_columns;
      const Index head = is_mixed ? column % heads : column / d;
      const Index c = is_mixed ? column / heads : column % d;
      for (Index group = 0; group < groups; ++group) {
        const Index to = is_mixed ? c * groups + group : group * d + c;
        const double more = share(kind, head, group, heads, groups) * w.at({row, column});
        result.set({row, to}, double{result.at({row, to})} + more);
      }
    }
    return result;
  };
}

// A product of matrices: shares (groups, heads) times the heads of each row.
Pooling by_shares(Kind kind) {
  return [=](const Tensor& w, Index heads, Index groups) {
    const Index rows = w.size(0), d = w.size(1) / heads;
    Tensor shares = Tensor::zeros({groups, heads});  // (groups, heads)
    for (Index i = 0; i < groups * heads; ++i) {
      const Index group = i / heads, head = i % heads;
      shares.set({group, head}, share(kind, head, group, heads, groups));
    }
    if (kind == mixed_columns) {
      const Tensor sums = matmul(reshape(w, {rows, d, heads}), transpose(shares));
      return reshape(sums, {rows, groups * d});  // (d_model, groups d)
    }
    const Tensor sums = matmul(shares, reshape(w, {rows, heads, d}));  // (d_model, groups, d)
    return reshape(sums, {rows, groups * d});                          // (d_model, groups d)
  };
}

// A mean over an axis of its own for the heads of a group.
Tensor by_mean(const Tensor& w, Index heads, Index groups) {
  const Index rows = w.size(0), d = w.size(1) / heads;
  const Tensor apart = reshape(w, {rows, groups, heads / groups, d});
  return reshape(mean(apart, 2), {rows, groups * d});  // (d_model, groups d)
}

// More groups than heads in one, so that the wrong group exists for each head.
NamedTensors inputs(Random& random, Index size) {
  const Index groups = size < 3 ? 2 : 3 + random.randint(2), each = 2, d = 1 + size / 2;
  return {{"w", random.normal({size, groups * each * d}) + 0.5},
          {"heads", double(groups * each)},
          {"groups", double(groups)}};
}

KnownMistake known(Kind kind, const char* name, const char* sentence) {
  return {name, sentence, pooled(by_numbers(kind)), pooled(by_shares(kind))};
}

const std::vector<KnownMistake> mistakes = {
    known(
        summed, "a sum in place of the mean",
        "The heads of a group are added up. Keys, and with them scores, are then too large by the "
        "number of heads in a group, and softmax is too sharp."),
    known(
        by_root, "divided by a root",
        "The sum is divided by the root of the number of heads in a group. The mean is asked for."),
    known(by_all, "divided by all heads",
          "The sum is divided by the number of all heads. A mean over a group is divided by the "
          "number of heads in it, heads / groups."),
    known(first_only, "the first head of a group",
          "The first head of each group is kept, and the others are lost. That was tried, too "
          "(Ainslie et al. 2023), and was worse than the mean."),
    known(dealt, "groups dealt out in turn",
          "Heads h, h + groups, h + 2 groups, ... were taken together. Head h of the queries will "
          "read group h / (heads / groups): a group is made of neighbours."),
    known(by_groups, "divided by the number of groups",
          "Head h was put into group h / groups. A group has heads / groups heads, so it has to be "
          "h / (heads / groups)."),
    known(
        all_alike, "one group for all",
        "Every group is the mean of all heads: that is multi-query attention, kept several times."),
    known(
        mixed_columns, "the heads' columns mixed",
        "Neighbouring columns were taken for the same column of neighbouring heads. The d columns "
        "of a head stand together: column j belongs to head j / d.")};

}  // namespace

int main(int count, char** arguments) {
  return judge(
      {.inputs = inputs,
       .learner = pooled(learn::pooled_groups),
       .right = {pooled(solution::pooled_groups), pooled(by_numbers(right)),
                 pooled(by_shares(right)), pooled(by_mean)},
       .mistakes = mistakes,
       .hints = {"With d = w.size(1) / heads, column g d + c of the result is a mean over a column "
                 "of each head of the group.",
                 "Group g has heads / groups heads, and begins with head g * (heads / groups). "
                 "Number c of head h is column h * d + c.",
                 "reshape(w, {d_model, groups, heads / groups, d}), the mean over axis 2, and "
                 "reshape to {d_model, groups * d}. Or loops over rows, columns and the group's "
                 "heads."}},
      count, arguments);
}
