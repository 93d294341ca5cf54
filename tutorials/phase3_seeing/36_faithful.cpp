// Step 36. Is the map of attention true?
//
// New here: other answers to "how much did the model take from this word", beside the weight: the
// share of the weighted values, the gradient times the weight, and what happens when this one link
// is cut: to the right letter's logit, to its log-probability, and when all heads lose it at once.
// Reads the induction model of step 26; writes out/plots/phase3_faithful.png; takes less
// than a second.
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

std::size_t greatest(const Numbers& row) {  // its key; sizes are compared, without signs
  const auto size = [](double number) { return std::abs(number); };
  return static_cast<std::size_t>(std::ranges::max_element(row, {}, size) - row.begin());
}

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
  const Effect whole = reader.without_heads({});
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
  const auto print_row = [&](const std::string& name, const std::vector<Index>& heads) {
    const Links strong = strong_links(texts, heads);
    std::printf("%-9s", name.c_str());
    for (const auto measure : measures) {
      std::printf(" %8.2f", correlation(numbers(strong, measure), numbers(strong, logit)));
    }
    const Spread weights = spread_of(numbers(strong, &MeasuredLink::weight));
    std::printf("    %.2f +- %.2f\n", weights.mean, weights.deviation);
  };
  for (const Index head : all_heads) print_row("1." + std::to_string(head), {head});
  print_row("all four", all_heads);
}

// Does gradient times weight tell the sign of the cut that changes the logit most?
void print_signs(const std::vector<MeasuredText>& texts) {
  int opposite = 0, elsewhere = 0;
  double clearest = 0;
  std::string example;
  for (const MeasuredText& one : texts) {
    for (std::size_t head = 0; head < one.links.size(); ++head) {
      const Links& row = one.links[head];
      const std::size_t key = greatest(numbers(row, logit));
      const MeasuredLink& link = row[key];
      const double product = link.gradient * logit(link);
      opposite += product < 0 ? 1 : 0;
      elsewhere += greatest(numbers(row, &MeasuredLink::gradient)) == key ? 0 : 1;
      if (product >= clearest) continue;
      clearest = product;
      example = "1." + std::to_string(head) + "\n" + table_of_links(one, head);
    }
  }
  std::printf("\n4. The link of each row whose cut changes the logit most: in %d rows gradient\n",
              opposite);
  std::printf("and cut have opposite signs,\nin %d the gradient is largest at another key.\n",
              elsewhere);
  std::printf("The clearest row: head %s", example.c_str());
}

}  // namespace

int main() try {
  std::printf("Step 36: is the map true? (takes less than a second)\n");
  const Transformer model = read_transformer("out/checkpoints/induction_model.safetensors",
                                             "step 26 trains and saves it. Type: make run-26");
  Random letters(4);
  const MeasuredText one = measure(model, example_of(task, 5, 3).words, letters);
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
  print_signs(texts);
  const double least = 1e-3;  // what is smaller could be rounding
  plot::write_png(maps_of_links(one, least), "out/plots/phase3_faithful.png");
  std::printf("\nwrote out/plots/phase3_faithful.png\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
