// Step 37. What has been found, on one page?
//
// New here: nothing but the page. From the tape to a head that looks back: each panel is a picture
// and a sentence, and the numbers in the sentences are computed here, from what phases 1 and 2
// saved.
// Reads files of steps 14, 15, 23, 26; writes out/plots/summary_all_phases.png; takes 2 seconds.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "course/grammar.hpp"
#include "course/inside.hpp"
#include "course/one_text.hpp"
#include "course/page.hpp"
#include "course/tasks.hpp"
#include "tapestry/analysis/evidence.hpp"
#include "tapestry/analysis/jacobian.hpp"
#include "tapestry/error.hpp"
#include "tapestry/io/transformer_file.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/pictures.hpp"
#include "tapestry/plot/charts.hpp"
#include "tapestry/plot/flow.hpp"
#include "tapestry/plot/heatmap_grid.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/tape.hpp"
#include "tapestry/text/input_format.hpp"

using namespace tapestry;

namespace {

const Words words = Grammar().example().words;  // the cat sat on the mat
const TinyTask task(TaskKind::induction, {.shortest = 5, .longest = 5});
constexpr plot::Colour trained_colour{17, 102, 168}, untrained_colour{196, 201, 209},
    mixed_colour{214, 120, 40};

Safetensors read(const std::string& path) {
  if (std::filesystem::exists(path)) return read_safetensors(path);
  throw Error(path + " is not there yet: phases 1 and 2 write it. Type: make phase1 phase2");
}

// The finding of a panel, with up to four numbers in it. It goes to the screen as well.
std::string told(const char* format, double a, double b = 0, double c = 0, double d = 0) {
  char line[240];
  std::snprintf(line, sizeof line, format, a, b, c, d);
  std::printf("%s\n", line);
  return line;
}

plot::Heatmap map_of(const Tensor& weights, const Words& labels, const std::string& title) {
  plot::Heatmap map = attention_heatmap(weights, labels, labels, title);
  map.row_axis = "query: the word that looks";
  map.column_axis = "key: where it looks";
  map.colour_bar = false;
  if (labels.size() > 6) map.print = plot::PrintValues::never;
  return map;
}

// ---- Phases 0 and 1: one head

plot::Diagram the_tape() {
  const Safetensors head = read("out/checkpoints/single_head_model.safetensors");
  const Indices ids = Vocabulary(Grammar().words()).ids(words);        // (6)
  const Tensor x = embedding(head["words"], ids) + head["positions"];  // (6, 64), as q and v
  const Tensor q = matmul(x, head["head.query.weight"]), v = matmul(x, head["head.value.weight"]);
  const Tensor kt = transpose(matmul(x, head["head.key.weight"])).contiguous();  // (64, 6)
  Tape tape(Parameters{{"query", q}, {"keyᵀ", kt}, {"value", v}}, Tape::Keep::values);
  const Tensor scores = matmul(q, kt), weights = softmax(scores / std::sqrt(64.0));  // (6, 6)
  tape.label(scores, "scores");
  tape.label(weights, "weights");
  tape.label(matmul(weights, v), "mixture");  // (6, 64)
  plot::Diagram diagram = tape_diagram(tape, "One head of attention, as the tape recorded it");
  diagram.subtitle =
      told("Queries meet keys: scores. Softmax makes weights of them, to mix %.0f words' values.",
           static_cast<double>(words.size()));
  return diagram;
}

plot::LineChart why_scale() {
  plot::LineChart chart{.title = "Why scores are divided by √d_k"};
  chart.x_axis = {.name = "d_k", .log = true, .low = {}, .high = {}};
  chart.y_axis = {.name = "largest of 16 weights, mean", .log = false, .low = 0, .high = 1};
  chart.series = {{"divided", {}, {}}, {"not divided", {}, {}}};
  chart.series[0].colour = plot::series_colour(3);  // as in steps 13, 17 and 56
  chart.series[1].colour = plot::series_colour(2);
  for (const Index d_k : {8, 32, 128, 512}) {
    Random random(42);
    const Tensor q = random.normal({512, d_k}), k = random.normal({16, d_k});
    for (plot::Series& series : chart.series) {  // softmax(...): (512, 16)
      const double by = series.name == "divided" ? std::sqrt(static_cast<double>(d_k)) : 1;
      series.markers = true;
      series.x.push_back(static_cast<double>(d_k));
      series.y.push_back(double{mean(max(softmax(matmul(q, transpose(k)) / by), -1)).item()});
    }
  }
  chart.subtitle =
      told("Random numbers, d_k = 512: one key of 16 takes %.2f of the weight; divided, %.2f.",
           chart.series[1].y.back(), chart.series[0].y.back());
  return chart;
}

plot::Heatmap one_head() {
  plot::Heatmap map = map_of(read("out/weights/attention_weights.safetensors")["weights"], words,
                             "A head that has learned");
  map.subtitle = told("Hide “sat”, and “cat” gets %.2f of its attention, where chance is %.2f.",
                      map.values[2 * words.size() + 1], 1.0 / 6);
  return map;
}

// ---- Phase 2: many heads

plot::HeatmapGrid many_heads(const Tensor& maps) {  // (heads, 6, 6)
  plot::HeatmapGrid grid{.columns = 2, .maps = {}, .title = "Several heads share the work"};
  for (Index head = 0; head < maps.size(0); ++head) {
    const Tensor map = squeeze(slice(maps, 0, head, head + 1), 0);  // (6, 6)
    grid.maps.push_back(map_of(map, words, "head " + std::to_string(head)));
  }
  const auto best = [&](Index query, Index key) {
    const std::vector<double> all =
        doubles(slice(slice(maps, 1, query, query + 1), 2, key, key + 1));  // (heads, 1, 1)
    return std::max_element(all.begin(), all.end()) - all.begin();
  };
  const Index subject = best(2, 1), place = best(5, 3);
  grid.subtitle =
      told("A hidden “sat” finds “cat” in head %.0f (%.2f), “mat” finds “on” in head %.0f (%.2f).",
           static_cast<double>(subject), double{maps.at({subject, 2, 1})},
           static_cast<double>(place), double{maps.at({place, 5, 3})});
  return grid;
}

plot::BarChart entropy(const Safetensors& seen) {
  const auto words_seen = [&](const char* which) {  // (300, heads, 6, 6) -> (heads)
    return doubles(exp(mean(attention_entropy(seen[which]), {0, -1})));
  };
  plot::BarChart chart{.title = "Trained heads look at less", .labels = {"0", "1", "2", "3"}};
  chart.series = {{"trained", words_seen("grammar.trained"), trained_colour},
                  {"untrained", words_seen("grammar.untrained"), untrained_colour}};
  const std::vector<double>& trained = chart.series[0].values;
  chart.label_axis = "head";
  chart.y_axis = {.name = "words looked at, in effect", .log = false, .low = 0, .high = 7};
  chart.digits = 1;
  const auto [least, most] = std::minmax_element(trained.begin(), trained.end());
  chart.subtitle =
      told("Words in effect, e^entropy: %.1f to %.1f of six; untrained, from a small start, %.1f.",
           *least, *most, chart.series[1].values[0]);
  return chart;
}

// ---- Phase 3: seeing

plot::Flow arrows(const Tensor& maps) {
  plot::Flow flow{words, words, doubles(slice(maps, 0, 1, 2)), 2.0 / 6, "The same, as arrows", ""};
  flow.subtitle =
      told("Head 1. The even weight is %.2f; links below twice that, %.2f, are left out.", 1.0 / 6,
           *flow.threshold);
  return flow;
}

// Five held-out letters and all of them again. The model reads all but the last.
std::vector<TaskSequence> repetitions(Index count) {
  std::vector<TaskSequence> result;
  for (Index i = 0; i < count; ++i) {
    result.push_back(example_of(task, 5, 4, static_cast<std::uint64_t>(i)));
  }
  return result;
}

Indices ids_of(const std::vector<TaskSequence>& sequences) {  // (count, 10)
  std::vector<Words> texts;
  for (const auto& one : sequences) texts.emplace_back(one.words.begin(), one.words.end() - 1);
  return next_word_batch(task.vocabulary(), texts).inputs;
}

// The mean weight of the heads of both layers on these keys.
std::vector<double> weights_on(const Transformer& model, const Indices& read, const Indices& keys) {
  std::vector<double> result;
  for (const Tensor& weights : weights_of(model, read)) {  // (300, heads, 10, 10)
    for (Index head = 0; head < weights.size(1); ++head) {
      result.push_back(mean_weight(weights, head, keys));
    }
  }
  return result;
}

plot::BarChart names(const Transformer& model) {
  const std::vector<TaskSequence> sequences = repetitions(300);
  std::vector<TaskSequence> mixed;
  Random random(6);
  for (const TaskSequence& one : sequences) mixed.push_back(with_mixed_prompt(one, random));
  const Indices ids = ids_of(sequences), mixed_ids = ids_of(mixed);  // (300, 10) each
  const Indices keys = induction_keys(ids), letter = induction_keys(mixed_ids);
  Indices place = keys;  // -1 where it is the letter's key, too
  for (std::size_t i = 0; i < place.values.size(); ++i) {
    if (place.values[i] == letter.values[i]) place.values[i] = -1;
  }
  const Transformer fresh = untrained(model, init::lecun_normal);
  plot::BarChart chart{.title = "A name needs baselines",
                       .labels = {"0.0", "0.1", "0.2", "0.3", "1.0", "1.1", "1.2", "1.3"}};
  chart.series = {{"trained", weights_on(model, ids, keys), trained_colour},
                  {"untrained", weights_on(fresh, ids, keys), untrained_colour},
                  {"old place, letters mixed", weights_on(model, mixed_ids, place), mixed_colour}};
  chart.label_axis = "layer.head";
  chart.y_axis = {.name = "weight on what followed before", .log = false, .low = 0, .high = 1};
  chart.print_values = false;
  chart.subtitle = told(
      "Head 1.1: %.2f of its weight on what followed this letter; untrained %.2f; by place %.2f.",
      chart.series[0].values[5], chart.series[1].values[5], chart.series[2].values[5]);
  return chart;
}

plot::LineChart cuts(const Transformer& model) {
  plot::LineChart chart{.title = "Cut a link: what is lost?"};
  chart.x_axis = {.name = "weight of a link from the last letter", .low = 0, .high = 1};
  chart.y_axis.name = "cut: the right logit falls by";
  chart.series.push_back({"a link of layer 1", {}, {}, false, true, false, trained_colour});
  double weak = 0, least = 1, most = 0;  // lost without a link of weight below 0.1, above 0.9
  for (const TaskSequence& one : repetitions(40)) {
    const Reader reader = reader_of(model, task, one.words);
    const Effect whole = reader.without_heads({});
    const Tensor weights = weights_of(model, reader.ids)[1];  // (1, heads, 10, 10)
    for (const Index head : all_heads) {
      for (Index key = 0; key < 10; ++key) {
        const Effect lost = whole - reader.with_link(key, {head}, 0);
        const double weight{weights.at({0, head, 9, key})};
        chart.series[0].x.push_back(weight), chart.series[0].y.push_back(lost.logit);
        if (weight < 0.1) weak = std::max(weak, std::abs(lost.logit));
        if (weight > 0.9) least = std::min(least, lost.logit), most = std::max(most, lost.logit);
      }
    }
  }
  chart.subtitle = told(
      "Below 0.1 the logit moves by %.2f at most. Above 0.9: a rise of %.2f to a fall of %.2f.",
      weak, -least, most);
  return chart;
}

// ---- Phase 4: the mask

Words letters() { return split_words(task.vocabulary().text(ids_of(repetitions(1)))); }

plot::Heatmap the_mask() {
  plot::Heatmap map = mask_heatmap(Mask::causal(), letters(), letters(), "The causal mask");
  const auto hidden = std::count(map.values.begin(), map.values.end(), 1.0);
  map.subtitle = told("Black pairs, %.0f of %.0f, get the score −∞ and the weight 0.",
                      static_cast<double>(hidden), static_cast<double>(map.values.size()));
  return map;
}

plot::Heatmap looking_back(const Transformer& model) {
  const Tensor layers = weights_of(model, ids_of(repetitions(1)))[1];     // (1, heads, 10, 10)
  const Tensor weights = squeeze(squeeze(slice(layers, 1, 1, 2), 1), 0);  // (10, 10)
  double stripe = 0;
  for (Index query = 6; query < 10; ++query) stripe += double{weights.at({query, query - 4})} / 4;
  plot::Heatmap map = map_of(weights, letters(), "Under the mask: looking back");
  for (Index at = 0; at < 100; ++at) map.masked.push_back(at % 10 > at / 10);
  map.subtitle = told(
      "Letters come again, and head 1.1 looks at what followed them: %.2f of its weight.", stripe);
  return map;
}

plot::Heatmap proof(const Transformer& model) {
  const Indices ids = ids_of(repetitions(1));  // (1, 10)
  const Tensor norms = jacobian_norms([&] { model(ids); }, "embedding", "blocks.1.output");
  const Tensor later = Mask::causal().to(MaskEncoding::drop, norms.shape());  // (10, 10), as norms
  plot::Heatmap map = map_of(norms / max(norms), letters(), "No derivative by a later letter");
  for (double& value : map.values) value = value == 0 ? NAN : value;
  map.subtitle =
      told("The largest derivative is %.1f, the largest by a later letter %g (grey: exactly 0).",
           double{max(norms).item()}, double{max(norms * later).item()});
  map.row_axis = "output";
  map.column_axis = "letter that was read";
  return map;
}

}  // namespace

int main() try {
  std::printf("Step 37: the whole story on one page (takes about a second)\n\n");
  const Safetensors seen = read("out/weights/multi_head_patterns.safetensors");
  const Transformer model = to_transformer(read("out/checkpoints/induction_model.safetensors"));
  plot::Canvas canvas = page();
  draw(canvas, card(canvas, 0, 0, 0, 2), the_tape());
  draw(canvas, card(canvas, 0, 2, 1), why_scale());
  draw(canvas, card(canvas, 1, 0, 1), one_head());
  draw(canvas, card(canvas, 1, 1, 2), many_heads(seen["grammar.example"]));
  draw(canvas, card(canvas, 1, 2, 2), entropy(seen));
  draw(canvas, card(canvas, 2, 0, 3), arrows(seen["grammar.example"]));
  draw(canvas, card(canvas, 2, 1, 3), names(model));
  draw(canvas, card(canvas, 2, 2, 3), cuts(model));
  draw(canvas, card(canvas, 3, 0, 4), the_mask());
  draw(canvas, card(canvas, 3, 1, 4), looking_back(model));
  draw(canvas, card(canvas, 3, 2, 4), proof(model));
  plot::write_png(canvas, "out/plots/summary_all_phases.png");
  std::printf("\nwrote out/plots/summary_all_phases.png\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
