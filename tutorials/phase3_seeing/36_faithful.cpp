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
#include <utility>
#include <vector>

#include "course/inside.hpp"
#include "course/one_text.hpp"
#include "course/tasks.hpp"
#include "tapestry/analysis/evidence.hpp"
#include "tapestry/analysis/faithfulness.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/error.hpp"
#include "tapestry/io/transformer_file.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/pictures.hpp"
#include "tapestry/plot/heatmap.hpp"
#include "tapestry/plot/png.hpp"

using namespace tapestry;

namespace {

constexpr int sequences = 40;
const TinyTask task(TaskKind::induction, {.longest = 6});

// The numbers of the last query, for one text: by head and key, or by key.
struct Look {
  Words reads;       // "<bos>" and all letters but the last
  std::string says;  // the last
  std::vector<std::vector<double>> weight, share, gradient;
  std::vector<std::vector<Effect>> cut;  // what is lost without the link
  std::vector<Effect> cut_in_all;        // without it in all four heads
  std::vector<Effect> head_cut;          // without the head
  Effect whole;                          // of the whole model
  Effect layer_cut;                      // without any head of layer 1
  // Of the row that the last layer norm divides: of the whole model, without each head, all heads.
  std::vector<double> deviation;
};

std::vector<std::vector<double>> last_rows(const Tensor& map) {  // of (1, heads, length, length)
  std::vector<std::vector<double>> rows;
  for (const Index head : all_heads) {
    rows.push_back(doubles(slice(slice(map, 1, head, head + 1), 2, -1, map.size(2))));
  }
  return rows;
}

// Weights, value shares, and gradient times weight for the logit above the mean.
void add_maps(const Reader& reader, Look& result) {
  const auto target = [&] {  // ()
    const Tensor logits = reader.model(reader.ids, {}, {.need_weights = true});
    const Tensor last = slice(logits, 1, -1, logits.size(1));  // (1, 1, vocabulary)
    return sum(slice(last, 2, reader.right, reader.right + 1)) - mean(last);
  };
  const MultiHeadAttention& attention = reader.model.blocks[1].attention;
  Tensor weights, values;
  {
    const Capture seen;
    target();
    weights = seen[layer + ".weights"];                   // (1, heads, length, length)
    values = attention.by_heads(seen[layer + ".value"]);  // (1, heads, length, d_v)
  }
  result.weight = last_rows(weights);
  result.share = last_rows(value_shares(weights, values, attention.output.weight));
  result.gradient = last_rows(gradient_times_attention(target, layer));
}

// The standard deviation of the last row that enters the last layer norm, which divides by it.
double deviation_without(const Reader& reader, const std::vector<Index>& heads) {
  const Tensor factors = factors_without(heads);  // (heads, 1, 1)
  Capture reach;
  reach.replace(layer + ".heads", [&](const Tensor& outputs) { return outputs * factors; });
  reader.model(reader.ids, {}, {.need_weights = true});  // (1, length, vocabulary)
  const Tensor rows = reach["blocks.1.output"];          // (1, length, d_model)
  return spread(slice(rows, 1, -1, rows.size(1))).deviation;
}

Look look(const Transformer& model, const Words& words) {
  const Reader reader = reader_of(model, task, words);
  Look result;
  result.says = words.back();
  result.reads = {"<bos>"};
  result.reads.insert(result.reads.end(), words.begin(), words.end() - 1);
  add_maps(reader, result);
  const Effect whole = result.whole = reader.without_heads({});
  for (const Index head : all_heads) {
    result.cut.emplace_back();
    for (Index key = 0; key < reader.ids.shape[1]; ++key) {
      result.cut.back().push_back(whole - reader.with_link(key, {head}, 0));
    }
    result.head_cut.push_back(whole - reader.without_heads({head}));
  }
  result.deviation = {deviation_without(reader, {})};
  for (const Index head : all_heads) result.deviation.push_back(deviation_without(reader, {head}));
  result.deviation.push_back(deviation_without(reader, all_heads));
  for (Index key = 0; key < reader.ids.shape[1]; ++key) {
    result.cut_in_all.push_back(whole - reader.with_link(key, all_heads, 0));
  }
  result.layer_cut = whole - reader.without_heads(all_heads);
  return result;
}

void print(const Look& one, std::size_t head) {
  std::printf("\n1. Head 1.%zu, which looks from \"%s\" for what to say (\"%s\")\n", head,
              one.reads.back().c_str(), one.says.c_str());
  std::printf("                                     cut in this head       cut in all heads\n");
  std::printf("word   weight  share  gradient     logit  log-probability    log-probability\n");
  for (std::size_t j = 0; j < one.reads.size(); ++j) {
    std::printf("%-6s %6.2f %6.2f %9.2f %9.2f %16.4f %18.4f\n", one.reads[j].c_str(),
                one.weight[head][j], one.share[head][j], one.gradient[head][j],
                one.cut[head][j].logit, one.cut[head][j].log_probability,
                one.cut_in_all[j].log_probability);
  }
}

std::vector<double> logits_of(const std::vector<Effect>& row) {
  std::vector<double> result;
  for (const Effect& one : row) result.push_back(one.logit);
  return result;
}

// How far two rows put the words in the same order. Sizes are compared, not signs.
double agreement(const std::vector<double>& a, const std::vector<double>& b) {
  const auto row = [](const std::vector<double>& values) {
    Tensor result = Tensor::empty({1, std::ssize(values)});  // (1, keys)
    for (Index j = 0; j < std::ssize(values); ++j) {
      result.set({0, j}, std::abs(values[static_cast<std::size_t>(j)]));
    }
    return result;
  };
  return double{rank_agreement(row(a), row(b)).item()};
}

void print_agreement(const std::vector<Look>& looks) {
  std::printf("\n2. Rank agreement of each row with the cut (logit), %zu sequences\n",
              looks.size());
  std::printf("head   weight  value share  gradient x weight\n");
  for (std::size_t head = 0; head < all_heads.size(); ++head) {
    std::vector<double> weight, share, gradient;
    for (const Look& one : looks) {
      const std::vector<double> cut = logits_of(one.cut[head]);
      weight.push_back(agreement(one.weight[head], cut));
      share.push_back(agreement(one.share[head], cut));
      gradient.push_back(agreement(one.gradient[head], cut));
    }
    std::printf("1.%zu %9.2f %12.2f %18.2f\n", head, mean_of(weight), mean_of(share),
                mean_of(gradient));
  }
}

// What is behind a high agreement: most links are nothings, and of the others?
void print_links(const std::vector<Look>& looks) {
  std::vector<double> weight, cut;  // of the links of weight 0.5 or more
  double links = 0, small = 0, strongest = 0, other_sign = 0;
  for (const Look& one : looks) {
    for (std::size_t head = 0; head < all_heads.size(); ++head) {
      const std::vector<double>& row = one.weight[head];
      for (std::size_t key = 0; key < row.size(); ++key) {
        links += 1, small += std::abs(one.cut[head][key].logit) < 0.05 ? 1 : 0;
        if (row[key] < 0.5) continue;
        weight.push_back(row[key]);
        cut.push_back(one.cut[head][key].logit);
      }
      const auto most =
          static_cast<std::size_t>(std::max_element(row.begin(), row.end()) - row.begin());
      const Effect& effect = one.cut[head][most];
      strongest += 1;
      const bool clear = std::abs(effect.logit) > 1e-3 && std::abs(effect.log_probability) > 1e-5;
      other_sign += clear && (effect.logit > 0) != (effect.log_probability > 0) ? 1 : 0;
    }
  }
  const auto [least, greatest] = std::minmax_element(cut.begin(), cut.end());
  std::printf("\n3. Of %.0f links, %.0f %% change the logit by less than 0.05 when cut.\n", links,
              100 * small / links);
  std::printf("Of the %zu links of weight 0.5 or more, cuts go from %.2f to %.2f;\n", cut.size(),
              *least, *greatest);
  std::printf("weight and cut correlate by %.2f among them.\n", correlation(weight, cut));
  std::printf("Of the %.0f strongest links of a row, %.0f raise the logit and lower the\n",
              strongest, other_sign);
  std::printf("log-probability, or the other way round (by more than rounding).\n");
}

void print_heads(const std::vector<Look>& looks) {
  std::printf("\n4. Whole heads cut: what is lost, mean of %zu sequences\n", looks.size());
  std::printf("head          logit          log-probability\n");
  const auto print_line = [&](const std::string& name, const auto& effect_of) {
    std::vector<real> logit, probability;
    for (const Look& one : looks) {
      logit.push_back(static_cast<real>(effect_of(one).logit));
      probability.push_back(static_cast<real>(effect_of(one).log_probability));
    }
    const Spread a = spread(Tensor({std::ssize(logit)}, logit)),
                 b = spread(Tensor({std::ssize(probability)}, probability));
    std::printf("%-9s %6.2f +- %4.2f %10.3f +- %.3f\n", name.c_str(), a.mean, a.deviation, b.mean,
                b.deviation);
  };
  for (std::size_t head = 0; head < all_heads.size(); ++head) {
    print_line("1." + std::to_string(head), [&](const Look& one) { return one.head_cut[head]; });
  }
  print_line("their sum", [](const Look& one) {
    Effect sum{};
    for (const Effect& head : one.head_cut) {
      sum.logit += head.logit;
      sum.log_probability += head.log_probability;
    }
    return sum;
  });
  print_line("all four", [](const Look& one) { return one.layer_cut; });
}

// Why do the four losses not add up to that of all? The logit times the deviation is a sum of what
// the heads add.
void print_deviations(const std::vector<Look>& looks) {
  double single = 0, all = 0;
  std::vector<double> deviation(looks[0].deviation.size());
  for (const Look& one : looks) {
    const auto undivided = [&](std::size_t cut, const Effect& lost) {
      return (one.whole.logit - lost.logit) * one.deviation[cut];
    };
    const double whole = undivided(0, {});
    for (std::size_t head = 0; head < all_heads.size(); ++head) {
      single += whole - undivided(head + 1, one.head_cut[head]);
    }
    all += whole - undivided(deviation.size() - 1, one.layer_cut);
    for (std::size_t cut = 0; cut < deviation.size(); ++cut) deviation[cut] += one.deviation[cut];
  }
  const auto count = double(looks.size());
  std::printf("the row's deviation before the last layer norm, mean\n");
  std::printf("no cut   without 1.0      1.1      1.2      1.3   all four\n");
  std::printf("%6.3f %13.3f %8.3f %8.3f %8.3f %10.3f\n", deviation[0] / count, deviation[1] / count,
              deviation[2] / count, deviation[3] / count, deviation[4] / count,
              deviation[5] / count);
  std::printf("logit times deviation: heads one by one lose %.1f, all four together %.1f\n",
              single / count, all / count);
}

// The strongest link of each head, times 1, 0.9, ..., 0: the logit above that without it.
void print_doses(const Transformer& model, const Words& words, const Look& one) {
  const Reader reader = reader_of(model, task, words);
  std::printf("\n5. The link to \"%s\" made weaker: the logit\n", one.says.c_str());
  std::printf("times ");
  for (int tenths = 10; tenths >= 0; tenths -= 2) std::printf("%8.1f", tenths / 10.);
  std::printf("\n");
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
  std::vector<double> alone, in_all;
  for (const Effect& cut : one.cut[head]) alone.push_back(cut.log_probability);
  for (const Effect& cut : one.cut_in_all) in_all.push_back(cut.log_probability);
  const std::pair<const char*, std::vector<double>> rows[] = {
      {"weight", one.weight[head]},
      {"grad x weight", one.gradient[head]},
      {"cut: logit", logits_of(one.cut[head])},
      {"cut: ln p", alone},
      {"all cut: ln p", in_all}};
  plot::Heatmap map;
  for (const auto& [name, values] : rows) {
    double greatest = 0;
    for (const double value : values) greatest = std::max(greatest, std::abs(value));
    const double scale = std::max(greatest, 1e-3);  // what is smaller could be rounding: pale
    for (const double value : values) map.values.push_back(value / scale);
    char label[64];
    std::snprintf(label, sizeof label, "%s, %.3f", name, greatest);
    map.row_labels.emplace_back(label);
  }
  map.rows = std::ssize(map.row_labels);
  map.columns = std::ssize(one.reads);
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
    map.row_axis = "";
    map.column_axis = "key, for the last query";
    map.colours = plot::ColourMap::blue_orange;
    map.low = -1;
    map.high = 1;
    map.colour_bar = false;
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
  const Look one = look(model, example);
  print(one, 1);
  std::vector<Look> looks;
  Random random(3);
  for (int i = 0; i < sequences; ++i) {
    looks.push_back(look(model, task.sequence(Part::held_out, random).words));
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
