// Step 36. Is the map of attention true?
//
// New here: other answers to "how much did the model take from this word", beside the weight: the
// share of the weighted values, the gradient times the weight, and what happens when this one link
// is cut: to the right letter's logit, to its log-probability, and when all heads lose it at once.
// Reads the induction model of step 26; writes out/plots/phase3_faithful.png; takes 2 seconds.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "course/inside.hpp"
#include "course/one_text.hpp"
#include "course/tasks.hpp"
#include "tapestry/analysis/evidence.hpp"
#include "tapestry/analysis/faithfulness.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/io/transformer_file.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/pictures.hpp"
#include "tapestry/plot/heatmap.hpp"
#include "tapestry/plot/png.hpp"

using namespace tapestry;

namespace {

constexpr int sequences = 40;
const TinyTask task(TaskKind::induction, {.longest = 6});
using Numbers = std::vector<double>;

// A link from the last query to a key, in one head.
struct Link {
  double weight, share, gradient;
  Effect cut;  // what is lost without it; also of another letter, drawn at random
};
constexpr double Link::* measures[] = {&Link::weight, &Link::share, &Link::gradient};
double logit(const Link& link) { return link.cut.logit; }
double other_logit(const Link& link) { return std::abs(link.cut.other); }

// The heads of layer 1 that are cut together.
const std::vector<std::vector<Index>> head_cuts = {{}, {0}, {1}, {2}, {3}, all_heads};

struct Look {
  Words reads;                                // "<bos>" and all letters but the last
  std::string says;                           // the last
  std::vector<std::vector<Link>> links = {};  // by head and key
  std::vector<Effect> cut_in_all = {};        // by key: without the link in all four heads
  std::vector<HeadCut> heads = {};            // as in head_cuts
};

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

Look look(const Transformer& model, const Words& words, Random& random) {
  Reader reader = reader_of(model, task, words);
  reader.other = other_letter(task, reader.right, random);
  Look result{{"<bos>"}, words.back()};
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

void print(const Look& one, std::size_t head) {
  std::printf("\n1. Head 1.%zu, which looks from \"%s\" for what to say (\"%s\")\n", head,
              one.reads.back().c_str(), one.says.c_str());
  std::printf("                                     cut in this head       cut in all heads\n");
  std::printf("word   weight  share  gradient     logit  log-probability    log-probability\n");
  for (std::size_t j = 0; j < one.reads.size(); ++j) {
    const Link& link = one.links[head][j];
    std::printf("%-6s %6.2f %6.2f %9.2f %9.2f %16.4f %18.4f\n", one.reads[j].c_str(), link.weight,
                link.share, link.gradient, link.cut.logit, link.cut.log_probability,
                one.cut_in_all[j].log_probability);
  }
}

// One number of each item: numbers(links, &Link::weight).
template <class Item, class Number>
Numbers numbers(const std::vector<Item>& items, Number number) {
  Numbers result;
  for (const Item& item : items) result.push_back(std::invoke(number, item));
  return result;
}

Tensor row_of(const Numbers& numbers) {  // (1, count)
  return Tensor({1, std::ssize(numbers)}, std::vector<real>(numbers.begin(), numbers.end()));
}

// A line of a table: a number for each measure.
template <class Number>
void print_line(const std::string& name, Number number) {
  std::printf("%-9s", name.c_str());
  for (const auto measure : measures) std::printf(" %8.2f", number(measure));
}

void print_agreement(const std::vector<Look>& looks) {
  std::printf("\n2. Rank agreement of each row with the cut (logit), %d sequences\n", sequences);
  std::printf("head        weight    share gradient\n");
  for (std::size_t head = 0; head < all_heads.size(); ++head) {
    print_line("1." + std::to_string(head), [&](double Link::* measure) {
      return mean_of(numbers(looks, [&](const Look& one) {
        return same_order(numbers(one.links[head], measure), numbers(one.links[head], logit));
      }));
    });
    std::printf("\n");
  }
}

// By head, and at the end of all of them.
void print_correlations(const std::vector<std::vector<Link>>& strong) {
  std::printf("Their correlation with the cut (logit), and their weights\n");
  std::printf("head        weight    share gradient    weights\n");
  for (std::size_t i = 0; i < strong.size(); ++i) {
    print_line(i < 4 ? "1." + std::to_string(i) : "all four", [&](double Link::* measure) {
      return correlation(numbers(strong[i], measure), numbers(strong[i], logit));
    });
    const Spread weights = spread(row_of(numbers(strong[i], &Link::weight)));
    std::printf("    %.2f +- %.2f\n", weights.mean, weights.deviation);
  }
}

// What is behind a high agreement: most links are nothings, and of the others?
void print_links(const std::vector<Look>& looks) {
  std::vector<std::vector<Link>> strong(all_heads.size() + 1);  // by head; at the end all of them
  double links = 0, small = 0, same = 0, same_of_other = 0;
  for (const Look& one : looks) {
    for (std::size_t head = 0; head < all_heads.size(); ++head) {
      const std::vector<Link>& row = one.links[head];
      const Numbers weights = numbers(row, &Link::weight);
      same += same_greatest(weights, numbers(row, logit)) ? 1 : 0;
      same_of_other += same_greatest(weights, numbers(row, other_logit)) ? 1 : 0;
      for (const Link& link : row) {
        links += 1, small += std::abs(logit(link)) < 0.05 ? 1 : 0;
        if (link.weight >= 0.5) strong[head].push_back(link), strong.back().push_back(link);
      }
    }
  }
  const auto [least, greatest] = std::ranges::minmax(numbers(strong.back(), logit));
  std::printf("\n3. Of %.0f links, %.0f %% change the logit by less than 0.05 when cut.\n", links,
              100 * small / links);
  std::printf("In %.0f of %zu rows the largest weight stands where the cut costs most.\n", same,
              all_heads.size() * looks.size());
  std::printf("In %.0f rows it stands where the cut changes the logit of another letter most.\n",
              same_of_other);
  std::printf("Of the %zu links of weight 0.5 or more, cuts go from %.2f to %.2f.\n",
              strong.back().size(), least, greatest);
  print_correlations(strong);
}

void print_heads(const std::vector<Look>& looks) {
  std::printf("\n4. Whole heads cut: what is lost, mean of %zu sequences\n", looks.size());
  std::printf("head            logit      log-probability\n");
  const auto print_lost = [&](const std::string& name, const std::vector<std::size_t>& cuts) {
    std::printf("%-9s", name.c_str());
    for (const auto which : {&Effect::logit, &Effect::log_probability}) {
      const Spread lost = spread(row_of(numbers(looks, [&](const Look& one) {
        double sum = 0;
        for (const std::size_t cut : cuts) sum += (one.heads[0].left - one.heads[cut].left).*which;
        return sum;
      })));
      std::printf(" %7.3f +- %.3f", lost.mean, lost.deviation);
    }
    std::printf("\n");
  };
  for (std::size_t i = 1; i <= 4; ++i) print_lost("1." + std::to_string(i - 1), {i});
  print_lost("their sum", {1, 2, 3, 4});
  print_lost("all four", {5});
}

// Why do the four losses not add up to that of all? Before the division the logit is a sum over
// heads: divided by the deviation of the whole row, both are equal.
void print_deviations(const std::vector<Look>& looks) {
  std::printf("the row's deviation before the last layer norm, mean\n");
  std::printf("without   none     1.0     1.1     1.2     1.3 all four\n      ");
  for (std::size_t i = 0; i < head_cuts.size(); ++i) {
    std::printf(" %7.3f",
                mean_of(numbers(looks, [&](const Look& one) { return one.heads[i].deviation; })));
  }
  const auto lost = [&](std::size_t cut) {
    return mean_of(numbers(looks, [&](const Look& one) {
      return (one.heads[0].undivided - one.heads[cut].undivided) / one.heads[0].deviation;
    }));
  };
  std::printf(
      "\neach row divided by that of \"none\": one by one they lose %.2f, all four together %.2f\n",
      lost(1) + lost(2) + lost(3) + lost(4), lost(5));
}

// The strongest link of each head, times 1, 0.9, ..., 0: the logit above that without it.
void print_doses(const Transformer& model, const Words& words, const Look& one) {
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

// The measures of one head, a row each, divided by its largest size, which is part of its name.
plot::Heatmap strip(const Look& one, std::size_t head) {
  const std::vector<Link>& links = one.links[head];
  plot::Heatmap map;
  const auto add = [&](const char* name, const Numbers& values) {
    double greatest = 0;
    for (const double value : values) greatest = std::max(greatest, std::abs(value));
    const double scale = std::max(greatest, 1e-3);  // what is smaller could be rounding: pale
    for (const double value : values) map.values.push_back(value / scale);
    map.row_labels.push_back(formatted("%s, %.3f", name, greatest));
  };
  add("weight", numbers(links, &Link::weight));
  add("grad x weight", numbers(links, &Link::gradient));
  add("cut: logit", numbers(links, logit));
  add("cut: ln p", numbers(links, [](const Link& link) { return link.cut.log_probability; }));
  add("all cut: ln p", numbers(one.cut_in_all, &Effect::log_probability));
  map.rows = std::ssize(map.row_labels), map.columns = std::ssize(one.reads);
  map.column_labels = one.reads;
  return map;
}

void draw(const Look& one) {
  plot::Canvas canvas(1360, 720, 1.5);
  const std::vector<plot::Rect> areas = plot::panels(canvas.area().inset(16), 2, 2);
  for (std::size_t head = 0; head < areas.size(); ++head) {
    plot::Heatmap map = strip(one, head);
    map.title = "Head 1." + std::to_string(head);
    map.subtitle = "each row divided by its largest size, which stands on its left";
    map.row_axis = "", map.column_axis = "key, for the last query";
    map.colours = plot::ColourMap::blue_orange;
    map.low = -1, map.high = 1, map.colour_bar = false;
    plot::draw(canvas, areas[head], map);
  }
  plot::write_png(canvas, "out/plots/phase3_faithful.png");
}

}  // namespace

int main() try {
  std::printf("Step 36: is the map true? (takes about 2 seconds)\n");
  const Transformer model = read_transformer("out/checkpoints/induction_model.safetensors",
                                             "step 26 trains and saves it. Type: make run-26");
  const Words example = example_of(task, 5, 3).words;
  Random letters(4);
  const Look one = look(model, example, letters);
  print(one, 1);
  std::vector<Look> looks;
  Random random(3);
  for (int i = 0; i < sequences; ++i) {
    looks.push_back(look(model, task.sequence(Part::held_out, random).words, letters));
  }
  print_agreement(looks);
  print_links(looks);
  print_heads(looks);
  print_deviations(looks);
  print_doses(model, example, one);
  draw(one);
  std::printf("\nwrote out/plots/phase3_faithful.png\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
