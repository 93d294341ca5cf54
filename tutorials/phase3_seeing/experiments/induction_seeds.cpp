// Do the findings of steps 33, 35, 36 and 38 hold for other seeds? The induction model of step 26
// with ten of them; takes about 2 minutes.
//
// Heads of layer 1 that are named "induction" (step 33); what the log-probability of the letter to
// be said loses when one head of layer 1 is cut (the most of the four), and when all are (step 38);
// what its logit loses then, also if the last layer norm divides by the deviation of the uncut row
// ("fixed norm"); how far weights order links as cuts do (logit), of all links and of those of
// weight 0.5 or more, of the four heads and of each; in how many rows the largest weight is the
// largest cut, also for the logit of another letter, drawn at random; in how many the largest cut
// and its gradient times weight have opposite signs; what is said when the weights on the right
// letter and on another of the prompt are exchanged, in all heads or in one, and when those on two
// other letters are; and agreement with the derivatives (step 35).
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "course/inside.hpp"
#include "course/one_text.hpp"
#include "course/task_models.hpp"
#include "tapestry/analysis/evidence.hpp"
#include "tapestry/analysis/faithfulness.hpp"
#include "tapestry/analysis/jacobian.hpp"
#include "tapestry/analysis/rollout.hpp"
#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

constexpr std::uint64_t seeds = 10;
constexpr Index steps = 1000;
constexpr int texts = 40;  // those of step 36
const TinyTask task(TaskKind::induction, {.longest = 6});

// How many heads of layer 1 get the name, as in step 33.
double named(const Transformer& model, std::uint64_t seed) {
  std::vector<TaskSequence> sequences, mixed;
  Random random(5);
  for (int i = 0; i < 300; ++i) {
    sequences.push_back(task.sequence(Part::held_out, random));
    mixed.push_back(with_mixed_prompt(sequences.back(), random));
  }
  const auto attended = [&](const Transformer& which, const Batch& batch) {
    return Attended{weights_of(which, batch.inputs)[1], rows_with_targets(batch, true),
                    batch.inputs};
  };
  const Batch text = task.batch(sequences);  // (300, length)
  const auto evidence = pattern_evidence(
      attended(model, text), attended(task_model(task, init::lecun_normal, 1000 + seed), text),
      attended(model, task.batch(mixed)));
  return static_cast<double>(std::count_if(evidence.begin(), evidence.end(), [](const auto& head) {
    return head_name(head) == "induction";
  }));
}

struct Cuts {
  double one = 0, all = 0;  // log-probability lost: the most by one head, and by all
  // The logit lost: the least and the most by one head, the four added up, and by all.
  double least = 0, most = 0, sum = 0, all_logit = 0;
  double sum_fixed = 0, all_fixed = 0;  // ... with the deviation of the uncut row
  double order = 0;
  double strong = 0;         // correlation of the links of weight 0.5 or more, of the four heads
  std::vector<double> each;  // ... of each head, the least first
  // Rows where the largest weight is the largest cut, in percent; also for another letter's logit.
  double same = 0, same_of_other = 0;
  double opposite = 0;  // ... where the largest cut and its gradient have opposite signs
  // What is said when weights are exchanged in all four heads, in percent.
  double says_other = 0, says_right = 0;
  double two_others_right = 0;                // ... those on two other letters
  std::array<double, 4> one_head_other = {};  // ... in each head alone
};

struct Randoms {  // each its own, so that one more drawn from one changes nothing of the others
  Random texts{3}, letters{4}, places{4}, thirds{5};
};

// Links of the last query: weights, and the logit that is lost without each.
struct Links {
  std::vector<double> weight, lost, gradient;  // gradient: times the weight
  std::vector<double> change;                  // of another letter's logit, without its sign
};

// Gradient times weight for the logit, as in step 36: (1, heads, length, length).
Tensor gradients_of(const Reader& reader) {
  return gradient_times_attention(
      [&] {  // ()
        const Tensor logits = reader.model(reader.ids, {}, {.need_weights = true});
        const Tensor last = slice(logits, 1, -1, logits.size(1));  // (1, 1, vocabulary)
        return sum(slice(last, 2, reader.right, reader.right + 1)) - mean(last);
      },
      layer);
}

// Weights and gradients are (1, heads, length, length).
Links links_of(const Reader& reader, const Effect& whole, const Tensor& weights,
               const Tensor& gradients, Index head) {
  Links links;
  const Index length = reader.ids.shape[1];
  for (Index key = 0; key < length; ++key) {
    links.weight.push_back(double{weights.at({0, head, length - 1, key})});
    links.gradient.push_back(double{gradients.at({0, head, length - 1, key})});
    const Effect lost = whole - reader.with_link(key, {head}, 0);
    links.lost.push_back(lost.logit);
    links.change.push_back(std::abs(lost.other));
  }
  return links;
}

// A place of the prompt, drawn at random, that is none of these.
Index other_place(const TaskSequence& sequence, const std::vector<Index>& taken, Random& random) {
  Index place = taken[0];
  while (std::ranges::count(taken, place) > 0) place = random.randint(sequence.given - 1);
  return place;
}

// What is said when the weights on the letter to be said and on another of the prompt are
// exchanged; and, as controls, in each head alone, and when two other letters are exchanged.
void add_exchange(const Reader& reader, const TaskSequence& sequence, Randoms& random,
                  Cuts& result) {
  const auto begin = sequence.words.begin();
  const Index key = std::find(begin, sequence.words.end(), sequence.words.back()) - begin;
  const Index other = other_place(sequence, {key}, random.places);
  const Index third = other_place(sequence, {key, other}, random.thirds);
  const auto said = [&](Index a, Index b, const std::vector<Index>& heads) {
    return said_with_exchanged(reader, a + 1, b + 1, heads);  // key 0: <bos>
  };
  const Index letter = task.vocabulary().id(sequence.words[static_cast<std::size_t>(other)]);
  constexpr double share = 100.0 / texts;
  const Index says = said(key, other, all_heads);
  result.says_other += says == letter ? share : 0;
  result.says_right += says == reader.right ? share : 0;
  result.two_others_right += said(other, third, all_heads) == reader.right ? share : 0;
  for (std::size_t head = 0; head < all_heads.size(); ++head) {
    const Index alone = said(key, other, {all_heads[head]});
    result.one_head_other[head] += alone == letter ? share : 0;
  }
}

void add_strong(const Links& from, Links& to) {
  for (std::size_t key = 0; key < from.weight.size(); ++key) {
    if (from.weight[key] < 0.5) continue;
    to.weight.push_back(from.weight[key]);
    to.lost.push_back(from.lost[key]);
  }
}

// Gradient and cut of the link whose cut changes the logit most.
bool have_opposite_signs(const Links& links) {
  const auto size = [](double number) { return std::abs(number); };
  const auto most = std::ranges::max_element(links.lost, {}, size);
  return *most * links.gradient[static_cast<std::size_t>(most - links.lost.begin())] < 0;
}

Cuts cuts(const Transformer& model) {
  Cuts result;
  std::vector<double> by_head(all_heads.size()), logit_by_head(all_heads.size());
  std::vector<Links> strong(all_heads.size());
  Links of_all;
  Randoms random;
  for (int i = 0; i < texts; ++i) {
    const TaskSequence sequence = task.sequence(Part::held_out, random.texts);
    Reader reader = reader_of(model, task, sequence.words);
    reader.other = other_letter(task, reader.right, random.letters);
    add_exchange(reader, sequence, random, result);
    const HeadCut uncut = head_cut(reader, {});
    const Effect whole = uncut.left;
    const auto fixed = [&](const HeadCut& cut) {
      return (uncut.undivided - cut.undivided) / uncut.deviation / texts;
    };
    const Tensor weights = weights_of(model, reader.ids)[1],  // (1, heads, length, length) each
        gradients = gradients_of(reader);
    for (std::size_t head = 0; head < all_heads.size(); ++head) {
      const Links links = links_of(reader, whole, weights, gradients, all_heads[head]);
      result.order += same_order(links.weight, links.lost) / (4 * texts);
      result.same += same_greatest(links.weight, links.lost) ? 100.0 / (4 * texts) : 0;
      result.same_of_other += same_greatest(links.weight, links.change) ? 100.0 / (4 * texts) : 0;
      result.opposite += have_opposite_signs(links) ? 100.0 / (4 * texts) : 0;
      add_strong(links, strong[head]);
      add_strong(links, of_all);
      const HeadCut cut = head_cut(reader, {all_heads[head]});
      by_head[head] += (whole - cut.left).log_probability / texts;
      logit_by_head[head] += (whole - cut.left).logit / texts;
      result.sum_fixed += fixed(cut);
    }
    const HeadCut cut = head_cut(reader, all_heads);
    result.all += (whole - cut.left).log_probability / texts;
    result.all_logit += (whole - cut.left).logit / texts;
    result.all_fixed += fixed(cut);
  }
  result.one = std::ranges::max(by_head);
  result.least = std::ranges::min(logit_by_head);
  result.most = std::ranges::max(logit_by_head);
  result.sum = mean_of(logit_by_head) * static_cast<double>(all_heads.size());
  result.strong = correlation(of_all.weight, of_all.lost);
  for (const Links& head : strong) result.each.push_back(correlation(head.weight, head.lost));
  std::ranges::sort(result.each);
  return result;
}

// With the derivatives, mean of 10 sequences.
struct Agreement {
  double last_layer = 0, rollout = 0, other = 0, even = 0;  // of ranks
  RowAgreement last_layer_by_size = {0, 0}, rollout_by_size = {0, 0};
};

void add(RowAgreement& to, const RowAgreement& one, double count) {
  to.correlation += one.correlation / count;
  to.same_greatest += one.same_greatest / count;
}

Agreement agreement(const Transformer& model) {
  constexpr int few = 10;
  Agreement result;
  Tensor before;  // rollout of the sequence before
  for (int i = 0; i <= few; ++i) {
    const Words words = example_of(task, 6, 4, static_cast<std::uint64_t>(i)).words;
    const Indices ids = task.batch({TaskSequence{words, 7, false}}).inputs;  // (1, length)
    const std::vector<Tensor> layers = weights_of(model, ids);
    const std::vector<Tensor> even(2, uniform_attention(layers[0].shape(), Mask::causal()));
    const Tensor rollout = squeeze(attention_rollout(layers), 0);  // (length, length)
    if (i > 0) {
      const Tensor norms = jacobian_norms([&] { model(ids); }, "embedding", "blocks.1.output");
      const auto with = [&](const Tensor& map) {
        return double{rank_agreement(map, norms, Mask::causal()).item()} / few;
      };
      const Tensor last_layer = squeeze(mean(layers[1], 1), 0);  // (length, length)
      result.last_layer += with(last_layer);
      result.rollout += with(rollout);
      add(result.last_layer_by_size, row_agreement(last_layer, norms), few);
      add(result.rollout_by_size, row_agreement(rollout, norms), few);
      result.other += with(before);
      result.even += with(squeeze(attention_rollout(even), 0));
    }
    before = rollout;
  }
  return result;
}

// A line of the table: one number of each model.
template <class Item, class Number>
void print(const char* what, const std::vector<Item>& models, int digits, Number number) {
  std::printf("%-28s", what);
  for (const Item& one : models) std::printf(" %5.*f", digits, double{std::invoke(number, one)});
  std::printf("\n");
}

void print_cuts(const std::vector<Cuts>& models) {
  print("one head cut: ln p falls by", models, 3, &Cuts::one);
  print("all four cut", models, 3, &Cuts::all);
  print("one head cut: logit, least", models, 2, &Cuts::least);
  print("  the most", models, 2, &Cuts::most);
  print("  the four added up", models, 2, &Cuts::sum);
  print("all four cut: logit", models, 2, &Cuts::all_logit);
  print("fixed norm: added up", models, 2, &Cuts::sum_fixed);
  print("  all four cut", models, 2, &Cuts::all_fixed);
  print("weight and cut: same order", models, 2, &Cuts::order);
  print("  weight >= 0.5: correlation", models, 2, &Cuts::strong);
  print("    one head, mean of four", models, 2, [](const Cuts& c) { return mean_of(c.each); });
  print("      the least", models, 2, [](const Cuts& c) { return c.each.front(); });
  print("      the greatest", models, 2, [](const Cuts& c) { return c.each.back(); });
  print("largest is the same key, %", models, 0, &Cuts::same);
  print("  logit of another letter", models, 0, &Cuts::same_of_other);
  print("opposite to gradient, %", models, 0, &Cuts::opposite);
  print("exchanged: says the other, %", models, 0, &Cuts::says_other);
  print("  says the right one", models, 0, &Cuts::says_right);
  print("one head: the other, at most", models, 0,
        [](const Cuts& c) { return std::ranges::max(c.one_head_other); });
  print("two others: the right one", models, 0, &Cuts::two_others_right);
}

void print_agreement(const std::vector<Agreement>& models) {
  std::printf("rank agreement with the derivatives\n");
  print("  weights of layer 1", models, 2, &Agreement::last_layer);
  print("  rollout", models, 2, &Agreement::rollout);
  print("  of another sequence", models, 2, &Agreement::other);
  print("  of even weights", models, 2, &Agreement::even);
  const auto print_sizes = [&](int digits, auto number) {
    print("  weights of layer 1", models, digits,
          [&](const Agreement& a) { return number(a.last_layer_by_size); });
    print("  rollout", models, digits,
          [&](const Agreement& a) { return number(a.rollout_by_size); });
  };
  std::printf("correlation with the derivatives\n");
  print_sizes(2, [](const RowAgreement& rows) { return rows.correlation; });
  std::printf("largest is the same key, %%\n");
  print_sizes(0, [](const RowAgreement& rows) { return 100 * rows.same_greatest; });
}

}  // namespace

int main() try {
  std::vector<double> seed_numbers, names;
  std::vector<Cuts> cut;
  std::vector<Agreement> agree;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const Transformer model = trained_on(task, init::lecun_normal, seed, steps);
    seed_numbers.push_back(static_cast<double>(seed));
    names.push_back(named(model, seed));
    cut.push_back(cuts(model));
    agree.push_back(agreement(model));
  }
  print("seed", seed_numbers, 0, std::identity());
  print("named induction, of 4", names, 0, std::identity());
  print_cuts(cut);
  print_agreement(agree);
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
