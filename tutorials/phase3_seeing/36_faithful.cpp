// Step 36. Is the map of attention true?
//
// New here: other answers to "how much did the model take from this word", beside the weight: the
// share of the weighted values, the gradient times the weight, and what happens when this one link
// is cut: to the right letter's logit, to its log-probability, and when all heads lose it at once.
// Reads the induction model of step 26; writes out/plots/phase3_faithful.png; takes 2 seconds.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "course/inside.hpp"
#include "course/link_pictures.hpp"
#include "course/one_text.hpp"
#include "course/tasks.hpp"
#include "tapestry/analysis/faithfulness.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/error.hpp"
#include "tapestry/io/transformer_file.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/plot/png.hpp"

using namespace tapestry;

namespace {

constexpr int sequences = 40;
const TinyTask task(TaskKind::induction, {.longest = 6});
using Numbers = std::vector<double>;
using Links = std::vector<MeasuredLink>;  // of the last query

constexpr double MeasuredLink::* measures[] = {&MeasuredLink::weight, &MeasuredLink::share,
                                               &MeasuredLink::gradient};
double logit(const MeasuredLink& link) { return link.cut.logit; }
double other_logit(const MeasuredLink& link) { return std::abs(link.cut.other); }

// The heads of layer 1 that are cut together.
const std::vector<std::vector<Index>> head_cuts = {{}, {0}, {1}, {2}, {3}, all_heads};
const char* const cut_names[] = {"none", "1.0", "1.1", "1.2", "1.3", "all four"};

// Weights, shares, and gradient times weight for the logit: (1, heads, length, length) each.
std::vector<Tensor> maps(const Reader& reader) {
  const auto target = [&] {  // ()
    const Tensor logits = reader.model(reader.ids, {}, {.need_weights = true});
    const Tensor last = slice(logits, 1, -1, logits.size(1));  // (1, 1, vocabulary)
    return sum(slice(last, 2, reader.right, reader.right + 1)) - mean(last);
  };
  const Tensor gradients = gradient_times_attention(target, layer);
  const MultiHeadAttention& attention = reader.model.blocks[1].attention;
  const Capture seen;
  target();
  const Tensor weights = seen[layer + ".weights"];                   // (1, heads, length, length)
  const Tensor values = attention.by_heads(seen[layer + ".value"]);  // (1, heads, length, d_v)
  return {weights, value_shares(weights, values, attention.output.weight), gradients};
}

MeasuredText measure(const Transformer& model, const Words& words, Random& random) {
  Reader reader = reader_of(model, task, words);
  reader.other = other_letter(task, reader.right, random);
  MeasuredText result{{"<bos>"}, words.back()};
  result.reads.insert(result.reads.end(), words.begin(), words.end() - 1);
  for (const auto& heads : head_cuts) result.heads.push_back(head_cut(reader, heads));
  const Effect whole = result.heads[0].left;
  const Index last = reader.ids.shape[1] - 1;
  const std::vector<Tensor> three = maps(reader);
  result.links.resize(all_heads.size());
  for (Index key = 0; key <= last; ++key) {
    result.cut_in_all.push_back(whole - reader.with_link(key, all_heads, 0));
    for (const Index head : all_heads) {
      const auto of = [&](std::size_t i) { return double{three[i].at({0, head, last, key})}; };
      result.links[static_cast<std::size_t>(head)].push_back(
          {of(0), of(1), of(2), whole - reader.with_link(key, {head}, 0)});
    }
  }
  return result;
}

void print_agreement(const std::vector<MeasuredText>& texts) {
  std::printf("\n2. Rank agreement of each row with the cut (logit), %d sequences\n", sequences);
  std::printf("head        weight    share gradient\n");
  for (std::size_t head = 0; head < all_heads.size(); ++head) {
    std::printf("1.%-7zu", head);
    for (const auto measure : measures) {
      const auto agreement = [&](const MeasuredText& one) {
        return same_order(numbers(one.links[head], measure), numbers(one.links[head], logit));
      };
      std::printf(" %8.2f", mean_of(numbers(texts, agreement)));
    }
    std::printf("\n");
  }
}

// The links of some heads that have half of the weight or more.
Links strong_links(const std::vector<MeasuredText>& texts, const std::vector<Index>& heads) {
  Links strong;
  for (const MeasuredText& one : texts) {
    for (const Index head : heads) {
      for (const MeasuredLink& link : one.links[static_cast<std::size_t>(head)]) {
        if (link.weight >= 0.5) strong.push_back(link);
      }
    }
  }
  return strong;
}

// What is behind a high agreement: most links are nothings, and of the others?
void print_links(const std::vector<MeasuredText>& texts) {
  double links = 0, small = 0, same = 0, same_of_other = 0;
  for (const MeasuredText& one : texts) {
    for (const Links& row : one.links) {
      const Numbers weights = numbers(row, &MeasuredLink::weight), cuts = numbers(row, logit);
      same += same_greatest(weights, cuts) ? 1 : 0;
      same_of_other += same_greatest(weights, numbers(row, other_logit)) ? 1 : 0;
      for (const double cut : cuts) links += 1, small += std::abs(cut) < 0.05 ? 1 : 0;
    }
  }
  const Numbers strong = numbers(strong_links(texts, all_heads), logit);
  const auto [least, greatest] = std::ranges::minmax(strong);
  std::printf("\n3. Of %.0f links, %.0f %% change the logit by less than 0.05 when cut.\n", links,
              100 * small / links);
  std::printf("In %.0f of %zu rows the largest weight stands where the cut costs most.\n", same,
              all_heads.size() * texts.size());
  std::printf("In %.0f rows it stands where the cut changes the logit of another letter most.\n",
              same_of_other);
  std::printf("Of the %zu links of weight 0.5 or more, cuts go from %.2f to %.2f.\n", strong.size(),
              least, greatest);
}

void print_correlations(const std::vector<MeasuredText>& texts) {
  std::printf("Their correlation with the cut (logit), and their weights\n");
  std::printf("head        weight    share gradient    weights\n");
  for (std::size_t i = 1; i < head_cuts.size(); ++i) {
    const Links strong = strong_links(texts, head_cuts[i]);
    std::printf("%-9s", cut_names[i]);
    for (const auto measure : measures) {
      std::printf(" %8.2f", correlation(numbers(strong, measure), numbers(strong, logit)));
    }
    const Spread weights = spread_of(numbers(strong, &MeasuredLink::weight));
    std::printf("    %.2f +- %.2f\n", weights.mean, weights.deviation);
  }
}

void print_heads(const std::vector<MeasuredText>& texts) {
  std::printf("\n4. Whole heads cut: what is lost, mean of %zu sequences\n", texts.size());
  std::printf("head            logit      log-probability\n");
  const auto print_lost = [&](const char* name, const std::vector<std::size_t>& cuts) {
    std::printf("%-9s", name);
    for (const auto which : {&Effect::logit, &Effect::log_probability}) {
      const Spread lost = spread_of(numbers(texts, [&](const MeasuredText& one) {
        double sum = 0;
        for (const std::size_t cut : cuts) sum += (one.heads[0].left - one.heads[cut].left).*which;
        return sum;
      }));
      std::printf(" %7.3f +- %.3f", lost.mean, lost.deviation);
    }
    std::printf("\n");
  };
  for (std::size_t i = 1; i <= 4; ++i) print_lost(cut_names[i], {i});
  print_lost("their sum", {1, 2, 3, 4});
  print_lost("all four", {5});
}

// Why do the four losses not add up to that of all? Before the division the logit is a sum over
// heads: divided by the deviation of the whole row, both are equal.
void print_deviations(const std::vector<MeasuredText>& texts) {
  std::printf("the row's deviation before the last layer norm, mean\n");
  std::printf("without   none     1.0     1.1     1.2     1.3 all four\n      ");
  Numbers lost;
  for (std::size_t cut = 0; cut < head_cuts.size(); ++cut) {
    const auto deviation = [&](const MeasuredText& one) { return one.heads[cut].deviation; };
    const auto loss = [&](const MeasuredText& one) {
      return (one.heads[0].undivided - one.heads[cut].undivided) / one.heads[0].deviation;
    };
    std::printf(" %7.3f", mean_of(numbers(texts, deviation)));
    lost.push_back(mean_of(numbers(texts, loss)));
  }
  std::printf(
      "\neach row divided by that of \"none\": one by one they lose %.2f, all four together %.2f\n",
      lost[1] + lost[2] + lost[3] + lost[4], lost[5]);
}

// The strongest link of each head, times 1, 0.9, ..., 0: the logit above that without it.
void print_doses(const Transformer& model, const Words& words, const MeasuredText& one) {
  const Reader reader = reader_of(model, task, words);
  std::printf("\n5. The link to \"%s\" made weaker: the logit\n", one.says.c_str());
  std::printf("times      1.0     0.8     0.6     0.4     0.2     0.0\n");
  const Index key = std::find(one.reads.begin(), one.reads.end(), one.says) - one.reads.begin();
  for (const Index head : all_heads) {
    std::printf("1.%td   ", head);
    for (int tenths = 10; tenths >= 0; tenths -= 2) {
      std::printf("%8.3f", reader.with_link(key, {head}, tenths / 10.).logit);
    }
    std::printf("\n");
  }
}

}  // namespace

int main() try {
  std::printf("Step 36: is the map true? (takes about 2 seconds)\n");
  const Transformer model = read_transformer("out/checkpoints/induction_model.safetensors",
                                             "step 26 trains and saves it. Type: make run-26");
  const Words example = example_of(task, 5, 3).words;
  Random letters(4);
  const MeasuredText one = measure(model, example, letters);
  std::printf("\n1. Head 1.1, which looks from \"%s\" for what to say (\"%s\")\n%s",
              one.reads.back().c_str(), one.says.c_str(), table_of_links(one, 1).c_str());
  std::vector<MeasuredText> texts;
  Random random(3);
  for (int i = 0; i < sequences; ++i) {
    texts.push_back(measure(model, task.sequence(Part::held_out, random).words, letters));
  }
  print_agreement(texts);
  print_links(texts);
  print_correlations(texts);
  print_heads(texts);
  print_deviations(texts);
  print_doses(model, example, one);
  const double least = 1e-3;  // what is smaller could be rounding
  plot::write_png(maps_of_links(one, least), "out/plots/phase3_faithful.png");
  std::printf("\nwrote out/plots/phase3_faithful.png\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
