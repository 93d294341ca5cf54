// Step 37. What has been found, on one page?
//
// New here: nothing but the page. From the tape to a head that looks back: each panel is a picture
// and a sentence, and the numbers in the sentences are computed here, from what phases 1 and 2
// saved. (Phase 4 is about masks; the model of step 26 that repeats letters has one already.)
// Writes out/plots/summary_all_phases.png; takes about 2 seconds.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "tapestry/analysis/evidence.hpp"
#include "tapestry/analysis/faithfulness.hpp"
#include "tapestry/analysis/jacobian.hpp"
#include "tapestry/analysis/rollout.hpp"
#include "tapestry/error.hpp"
#include "tapestry/io/transformer_file.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/pictures.hpp"
#include "tapestry/plot/charts.hpp"
#include "tapestry/plot/flow.hpp"
#include "tapestry/plot/heatmap_grid.hpp"
#include "tapestry/plot/numbers.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/tape.hpp"
#include "tapestry/text/grammar.hpp"
#include "tapestry/text/tasks.hpp"

using namespace tapestry;
using plot::Canvas, plot::Rect;

namespace {

const Words words = Grammar().example().words;  // the cat sat on the mat
const TinyTask task(TaskKind::induction, {.shortest = 5, .longest = 5});
constexpr plot::Colour trained_colour{17, 102, 168}, untrained_colour{196, 201, 209};

Safetensors read(const std::string& path) {
  if (std::filesystem::exists(path)) return read_safetensors(path);
  throw Error(path + " is not there yet: phases 1 and 2 write it. Type: make phase1 phase2");
}

std::string two(double value) { return plot::number_text(value, 2); }
std::string one(double value) { return plot::number_text(value, 1); }

// The finding of a panel goes to the screen as well.
std::string told(const std::string& finding) {
  std::printf("%s\n", finding.c_str());
  return finding;
}

// ---- Phases 0 and 1: one head

void draw_tape(Canvas& canvas, Rect area, const Safetensors& head) {
  const Vocabulary vocabulary(Grammar().words());
  const Tensor x = embedding(head["words"], vocabulary.ids(words)) + head["positions"];
  const Tensor q = matmul(x, head["head.query.weight"]);
  const Tensor kt = transpose(matmul(x, head["head.key.weight"])).contiguous();
  const Tensor v = matmul(x, head["head.value.weight"]);
  Tape tape(Parameters{{"query", q}, {"keyᵀ", kt}, {"value", v}}, Tape::Keep::values);
  const Tensor scores = matmul(q, kt), weights = softmax(scores / 8), mixture = matmul(weights, v);
  tape.label(scores, "scores");
  tape.label(weights, "weights");
  tape.label(mixture, "mixture");
  plot::Diagram diagram = tape_diagram(tape, "One head of attention, as the tape recorded it");
  diagram.subtitle = told("Each of " + std::to_string(words.size()) +
                          " words asks with a query; keys answer; softmax makes shares of the "
                          "scores; the word gets that mixture of values. Gradients walk back.");
  plot::draw(canvas, area, diagram);
}

void draw_why_scale(Canvas& canvas, Rect area) {
  plot::LineChart chart{.title = "Why scores are divided by √d_k"};
  chart.x_axis = {.name = "d_k", .log = true, .low = {}, .high = {}};
  chart.y_axis = {.name = "largest of 16 weights, mean", .log = false, .low = 0, .high = 1};
  chart.series = {{"divided", {}, {}}, {"not divided", {}, {}}};
  chart.series[0].colour = trained_colour;
  chart.series[1].colour = plot::series_colour(1);
  for (const Index d_k : {8, 32, 128, 512}) {
    Random random(42);
    const Tensor q = random.normal({512, d_k}), k = random.normal({16, d_k});
    for (plot::Series& series : chart.series) {
      const double by = series.name == "divided" ? std::sqrt(static_cast<double>(d_k)) : 1;
      series.markers = true;
      series.x.push_back(static_cast<double>(d_k));
      series.y.push_back(double{mean(max(softmax(matmul(q, transpose(k)) / by), -1)).item()});
    }
  }
  chart.subtitle = told("Random queries and keys of 512 numbers: undivided, one key of 16 takes " +
                        two(chart.series[1].y.back()) + " of the weight; divided, " +
                        two(chart.series[0].y.back()) + ".");
  plot::draw(canvas, area, chart);
}

void draw_one_head(Canvas& canvas, Rect area) {
  const Tensor weights = read("out/weights/attention_weights.safetensors")["weights"];
  plot::Heatmap map = attention_heatmap(weights, words, words, "A head that has learned");
  map.subtitle =
      told("It guesses hidden words. Hide “sat”: “cat” gets " + two(double{weights.at({2, 1})}) +
           " of its attention, where chance is " + two(1.0 / 6) + ".");
  map.row_axis = "query: the hidden word";
  map.column_axis = "key: where it looks";
  map.colour_bar = false;
  plot::draw(canvas, area, map);
}

// ---- Phase 2: many heads

void draw_heads(Canvas& canvas, Rect area, const Tensor& maps) {  // (heads, 6, 6)
  plot::HeatmapGrid grid{.columns = 2, .maps = {}, .title = "Several heads share the work"};
  const auto best = [&](Index query, Index key) {  // "head 1 (0.98)"
    Index head = 0;
    for (Index h = 0; h < maps.size(0); ++h) {
      if (maps.at({h, query, key}) > maps.at({head, query, key})) head = h;
    }
    return "head " + std::to_string(head) + " (" + two(double{maps.at({head, query, key})}) + ")";
  };
  for (Index head = 0; head < maps.size(0); ++head) {
    const Tensor map = squeeze(slice(maps, 0, head, head + 1), 0);
    grid.maps.push_back(attention_heatmap(map, words, words, "head " + std::to_string(head)));
  }
  grid.subtitle = told("The hidden “sat” finds “cat” in " + best(2, 1) +
                       ", the hidden “mat” finds “on” in " + best(5, 3) + ".");
  grid.maps[0].row_axis = "query: the hidden word";
  grid.maps[0].column_axis = "key: where it looks";
  grid.maps[0].colour_bar = false;
  plot::draw(canvas, area, grid);
}

void draw_entropy(Canvas& canvas, Rect area, const Safetensors& seen) {
  const auto words_seen = [&](const char* which) {  // (300, heads, 6, 6) -> (heads)
    return doubles(exp(mean(attention_entropy(seen[which]), {0, -1})));
  };
  plot::BarChart chart{.title = "To learn is to look at less", .labels = {"0", "1", "2", "3"}};
  chart.label_axis = "head";
  chart.y_axis = {.name = "words looked at, in effect", .log = false, .low = 0, .high = 7};
  chart.digits = 1;
  chart.series = {{"trained", words_seen("grammar.trained"), trained_colour},
                  {"untrained", words_seen("grammar.untrained"), untrained_colour}};
  const std::vector<double>& trained = chart.series[0].values;
  chart.subtitle =
      told("Of six words a trained head looks at " +
           one(*std::min_element(trained.begin(), trained.end())) + " to " +
           one(*std::max_element(trained.begin(), trained.end())) + ", an untrained one at " +
           one(chart.series[1].values[0]) + ": e to the entropy, mean of 300 sentences.");
  plot::draw(canvas, area, chart);
}

// ---- Phase 3: seeing

void draw_flow(Canvas& canvas, Rect area, const Tensor& maps) {
  plot::Flow flow{.queries = words, .keys = words};
  flow.weights = doubles(slice(maps, 0, 1, 2));
  flow.threshold = 0.25;
  double held = 0;
  for (const double weight : flow.weights) held += weight >= flow.threshold ? weight : 0;
  flow.title = "The same, as arrows";
  flow.subtitle =
      told("Head 1: arrows from " + two(flow.threshold) + " on, well above chance, hold " +
           plot::number_text(100 * held / 6, 0) + " % of the attention.");
  plot::draw(canvas, area, flow);
}

// <bos>, five held-out letters and the first four of them again: (count, 10). The next is the fifth.
Indices repeated_letters(Index count) {
  Random random(5);
  const Batch batch = task.batch(Part::held_out, count, random);
  std::vector<std::int32_t> ids;
  for (std::size_t at = 0; at < batch.inputs.values.size(); ++at) {
    if (at % 11 < 10) ids.push_back(batch.inputs.values[at]);
  }
  return Indices({count, 10}, ids);
}

void draw_names(Canvas& canvas, Rect area, const Transformer& model) {
  TransformerOptions options = model.options;
  options.initialiser = init::inverse_root;
  Random random(7);
  const Transformer untrained(options, random);
  const Indices ids = repeated_letters(300);
  const auto scores = [&](const Transformer& which) {
    const Capture seen;
    which(ids);
    const Tensor weights = concat(filed_weights(seen), 1);  // the heads of both layers
    return doubles(mean(pattern_score(Pattern::induction, weights, Mask::causal(), ids), 0));
  };
  plot::BarChart chart{.title = "A name needs a baseline"};
  chart.label_axis = "layer.head";
  chart.y_axis = {.name = "weight on what followed before", .log = false, .low = 0, .high = 1};
  chart.labels = {"0.0", "0.1", "0.2", "0.3", "1.0", "1.1", "1.2", "1.3"};
  chart.series = {{"trained", scores(model), trained_colour},
                  {"untrained", scores(untrained), untrained_colour}};
  chart.print_values = false;
  const std::vector<double>& trained = chart.series[0].values;
  const auto best = std::max_element(trained.begin(), trained.end()) - trained.begin();
  const auto place = static_cast<std::size_t>(best);
  chart.subtitle = told("“What followed this letter before?” Head " + chart.labels[place] +
                        " looks there with " + two(trained[place]) + " of its weight, untrained " +
                        two(chart.series[1].values[place]) + ": an induction head.");
  plot::draw(canvas, area, chart);
}

void draw_truth(Canvas& canvas, Rect area, const Transformer& model) {
  plot::LineChart chart{.title = "Is the map true? Cut, and see"};
  chart.x_axis = {.name = "weight of a link to the last letter", .log = false, .low = 0, .high = 1};
  chart.y_axis.name = "cut: the right logit falls by";
  chart.series.push_back({"a link of layer 1", {}, {}, false, true, false, trained_colour});
  std::vector<Tensor> agreement;
  const Indices all = repeated_letters(40);
  for (std::size_t i = 0; i < 40; ++i) {
    const auto begin = all.values.begin() + static_cast<std::ptrdiff_t>(10 * i);
    const Indices ids({1, 10}, {begin, begin + 10});
    const Index right = ids.values[5];
    const auto logit = [&] { return slice(slice(model(ids), -2, 9, 10), -1, right, right + 1); };
    const LinkMaps maps = link_maps(logit, "blocks.1.attention", model.blocks[1].attention);
    const Tensor damage = maximum(maps.ablation, -maps.ablation);
    agreement.push_back(rank_agreement(maps.weights, damage, Mask::causal()));
    for (const double x : doubles(slice(maps.weights, 2, 9, 10))) chart.series[0].x.push_back(x);
    for (const double y : doubles(slice(maps.ablation, 2, 9, 10))) chart.series[0].y.push_back(y);
  }
  chart.subtitle = told(
      "Take one link away: in 40 sequences the weights put the letters nearly in "
      "the order of the damage, rank agreement " +
      two(spread(concat(agreement, 0)).mean) + ".");
  plot::draw(canvas, area, chart);
}

// ---- Phase 4: the mask

Words letters() {
  Words result;
  for (const std::int32_t id : repeated_letters(1).values) {
    result.push_back(task.vocabulary().word(id));
  }
  return result;
}

void draw_mask(Canvas& canvas, Rect area) {
  plot::Heatmap map =
      mask_heatmap(Mask::causal(), letters(), letters(), "Who writes has no future");
  const auto hidden = std::count(map.values.begin(), map.values.end(), 1.0);
  map.subtitle = told("The causal mask: black pairs, " + std::to_string(hidden) + " of " +
                      std::to_string(map.values.size()) + ", get a score of −∞ and the weight 0.");
  plot::draw(canvas, area, map);
}

void draw_induction(Canvas& canvas, Rect area, const Transformer& model) {
  const Capture seen;
  model(repeated_letters(1));
  const Tensor layer = squeeze(filed_weights(seen)[1], 0);
  const Tensor weights = squeeze(slice(layer, 0, 1, 2), 0);
  double stripe = 0;
  for (Index query = 6; query < 10; ++query) stripe += double{weights.at({query, query - 4})} / 4;
  plot::Heatmap map = attention_heatmap(weights, letters(), letters(), "Under it: looking back");
  for (Index at = 0; at < 100; ++at) map.masked.push_back(at % 10 > at / 10);
  map.subtitle =
      told("Letters come again, and head 1.1 looks at what followed them: " + two(stripe) +
           " of the weight is on the stripe.");
  map.colour_bar = false;
  map.print = plot::PrintValues::never;
  plot::draw(canvas, area, map);
}

void draw_proof(Canvas& canvas, Rect area, const Transformer& model) {
  const Indices ids = repeated_letters(1);
  const Tensor norms = jacobian_norms([&] { model(ids); }, "embedding", "blocks.1.output");
  const Tensor later = Mask::causal().to(MaskEncoding::drop, norms.shape());
  plot::Heatmap map = attention_heatmap(norms / max(norms), letters(), letters(), "Proved");
  for (double& value : map.values) value = value == 0 ? NAN : value;
  map.subtitle =
      told("What each output depends on, two layers deep. The largest derivative is " +
           one(double{max(norms).item()}) + ", the largest by a later letter " +
           plot::number_text(double{max(norms * later).item()}, 0) + " (grey: exactly 0).");
  map.row_axis = "output";
  map.column_axis = "letter read";
  map.colour_bar = false;
  map.print = plot::PrintValues::never;
  plot::draw(canvas, area, map);
}

// ---- The page

constexpr double width = 1240, border = 36, gap = 20, padding = 20, banner = 128, row = 452;
constexpr double column = (width - 2 * border - 2 * gap) / 3;

void draw_banner(Canvas& canvas) {
  canvas.fill_rect({0, 0, width, banner}, {24, 32, 48});
  canvas.text({border, 64}, "Attention, understood", {42, plot::white, true});
  canvas.text({border, 98},
              "From the tape to a head that looks back. Every number here was computed by the "
              "program that drew this page.",
              {15, {190, 202, 220}});
  canvas.text({width - border, 66}, "softmax(Q Kᵀ / √d_k) V",
              {30, {255, 205, 120}, false, plot::Align::right});
}

// A card in a row and column, so many columns wide, with the phase on it; what is left inside.
Rect card(Canvas& canvas, int down, int across, std::size_t phase, const char* name, int wide = 1) {
  const Rect frame{border + across * (column + gap), banner + gap + 8 + down * (row + gap),
                   wide * column + (wide - 1) * gap, row};
  const plot::Colour colour = plot::series_colour(phase < 4 ? phase : 5);
  canvas.fill_rect(frame, plot::white, 12);
  canvas.stroke_rect(frame, {{222, 227, 235}, 1}, 12);
  canvas.fill_rect({frame.x + padding, frame.y, 46, 5}, colour);
  canvas.text({frame.x + padding, frame.y + 27}, name, {11.5, colour, true});
  return {frame.x + padding, frame.y + 40, frame.width - 2 * padding, frame.height - 40 - padding};
}

}  // namespace

int main() try {
  std::printf("Step 37: the whole story on one page (takes about 2 seconds)\n\n");
  const Safetensors head = read("out/checkpoints/single_head_model.safetensors");
  const Safetensors seen = read("out/weights/multi_head_patterns.safetensors");
  const Transformer model = to_transformer(read("out/checkpoints/induction_model.safetensors"));
  Canvas canvas(width, banner + 8 + 4 * (row + gap) + 2 * gap, 1.6, {241, 244, 249});
  draw_banner(canvas);
  draw_tape(canvas, card(canvas, 0, 0, 0, "PHASE 0 · THE TAPE", 2), head);
  draw_why_scale(canvas, card(canvas, 0, 2, 1, "PHASE 1 · ONE HEAD"));
  draw_one_head(canvas, card(canvas, 1, 0, 1, "PHASE 1 · ONE HEAD"));
  draw_heads(canvas, card(canvas, 1, 1, 2, "PHASE 2 · MANY HEADS"), seen["grammar.example"]);
  draw_entropy(canvas, card(canvas, 1, 2, 2, "PHASE 2 · MANY HEADS"), seen);
  draw_flow(canvas, card(canvas, 2, 0, 3, "PHASE 3 · SEEING"), seen["grammar.example"]);
  draw_names(canvas, card(canvas, 2, 1, 3, "PHASE 3 · SEEING"), model);
  draw_truth(canvas, card(canvas, 2, 2, 3, "PHASE 3 · SEEING"), model);
  draw_mask(canvas, card(canvas, 3, 0, 4, "PHASE 4 · CAUSAL MASKING"));
  draw_induction(canvas, card(canvas, 3, 1, 4, "PHASE 4 · CAUSAL MASKING"), model);
  draw_proof(canvas, card(canvas, 3, 2, 4, "PHASE 4 · CAUSAL MASKING"), model);
  plot::write_png(canvas, "out/plots/summary_all_phases.png");
  std::printf("\nwrote out/plots/summary_all_phases.png\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
