#include <cmath>

#include "course/exercise.hpp"
#include "phase6.hpp"
#include "tapestry/attention_variants.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::grouped_queries) grouped_queries;
}

namespace {

using Grouped = std::function<decltype(learn::grouped_queries)>;

Attempt mixed(const Grouped& f) { return attempt("output", f); }

enum Kind { right, modulo, by_groups, first, values_modulo, no_root, root_of_heads };

// The groups whose keys and whose values a head reads.
std::pair<Index, Index> read_by(Kind kind, Index head, Index heads, Index groups) {
  const Index group = head / (heads / groups);
  if (kind == modulo) return {head % groups, head % groups};
  if (kind == by_groups) return {head / groups, head / groups};
  if (kind == first) return {0, 0};
  return {group, kind == values_modulo ? head % groups : group};
}

// What scores are divided by.
double divisor(Kind kind, const Tensor& q) {
  if (kind == no_root) return 1;
  return std::sqrt(double(kind == root_of_heads ? q.size(0) : q.size(2)));
}

// Number by number.
Grouped by_numbers(Kind kind) {
  return [=](const Tensor& q, const Tensor& k, const Tensor& v) {
    const Index heads = q.size(0), n = q.size(1), keys = k.size(1), d = q.size(2);
    Tensor result = Tensor::zeros({heads, n, v.size(2)});  // (heads, queries, d_v)
    for (Index place = 0; place < heads * n; ++place) {
      const Index h = place / n, i = place % n;
      const auto [of_keys, of_values] = read_by(kind, h, heads, k.size(0));
      std::vector<double> terms;
      double total = 0;
      for (Index j = 0; j < keys; ++j) {
        double s = 0;
        for (Index c = 0; c < d; ++c) {
          s += double{q.at({h, i, c})} * double{k.at({of_keys, j, c})};
        }
        terms.push_back(std::exp(s / divisor(kind, q)));
        total += terms.back();
      }
      for (Index e = 0; e < v.size(2); ++e) {
        double sum = 0;
        for (Index j = 0; j < keys; ++j) {
          sum += terms[std::size_t(j)] * double{v.at({of_values, j, e})};
        }
        result.set({h, i, e}, sum / total);
      }
    }
    return result;
  };
}

// Keys and values copied for each head, then the library's attention.
Grouped by_copies(Kind kind) {
  return [=](const Tensor& q, const Tensor& k, const Tensor& v) {
    if (kind == right) return grouped_attention(q, k, v);
    const Index heads = q.size(0), groups = k.size(0);
    std::vector<Tensor> keys, values;
    for (Index h = 0; h < heads; ++h) {
      const auto [of_keys, of_values] = read_by(kind, h, heads, groups);
      keys.push_back(slice(k, 0, of_keys, of_keys + 1));
      values.push_back(slice(v, 0, of_values, of_values + 1));
    }
    const double larger = std::sqrt(double(q.size(2))) / divisor(kind, q);
    return attention(q * larger, concat(keys, 0), concat(values, 0)).output;
  };
}

KnownMistake known(Kind kind, const char* name, const char* sentence) {
  return {name, sentence, mixed(by_numbers(kind)), mixed(by_copies(kind))};
}

// Two heads in a group, and no fewer groups, so that no wrong way reads beyond the keys.
NamedTensors inputs(Random& random, Index size) {
  const Index groups = size < 3 ? 2 : 3 + random.randint(2), n = 1 + random.randint(2);
  const Index keys = size + 1, d = 2 + random.randint(3);
  return {{"q", random.normal({2 * groups, n, d})},
          {"k", random.normal({groups, keys, d})},
          {"v", random.normal({groups, keys, 1 + size / 2})}};
}

const std::vector<KnownMistake> mistakes = {
    known(modulo, "groups dealt out in turn",
          "Head h reads group h % groups: neighbours read different groups. Any division "
          "could be learned, but weights that were learned with one give wrong outputs "
          "with another."),
    known(by_groups, "divided by the number of groups",
          "Head h reads group h / groups. A group has heads / groups heads, so it has to "
          "be h / (heads / groups). With other sizes this reads beyond the keys, or "
          "leaves groups unread."),
    known(first, "one group for all",
          "All heads read group 0. That is multi-query attention; the other groups are "
          "not used at all."),
    known(values_modulo, "keys of one group, values of another",
          "The keys are right, but the values are those of group h % groups: weights "
          "of one group mix values that do not belong to its keys."),
    known(no_root, "scores not divided",
          "The scores are not divided by sqrt(d), the root of the length of a key."),
    known(root_of_heads, "divided by another root",
          "The scores are divided by the root of the number of heads. It is d, the length of a "
          "key, that makes them large: q.size(2).")};

}  // namespace

int main(int count, char** arguments) {
  return judge(
      {.inputs = inputs,
       .learner = mixed(learn::grouped_queries),
       .right = {mixed(solution::grouped_queries), mixed(by_numbers(right)),
                 mixed(by_copies(right))},
       .mistakes = mistakes,
       .hints = {"A loop over heads. For each: which group, then attention as in phase 1.",
                 "A group has heads / groups heads, so head h reads group h / (heads / groups), a "
                 "division of whole numbers.",
                 "outputs.push_back(matmul(softmax(matmul(query, transpose(key)) / "
                 "std::sqrt(double(d))), value)); at the end concat(outputs, 0)."}},
      count, arguments);
}
