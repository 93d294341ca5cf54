// Step 37. What has been found, on one page?
//
// New here: nothing but the page. From the tape to a head that looks back: each panel is a picture
// and a sentence, and the numbers in the sentences are computed here, from what phases 1 and 2
// saved. (What steps 33 and 36 measure is measured again in course/repeated_letters.cpp.)
// Reads files of steps 14, 15, 23, 26; writes out/plots/summary_all_phases.png; takes a second.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "course/grammar.hpp"
#include "course/inside.hpp"
#include "course/page.hpp"
#include "course/repeated_letters.hpp"
#include "course/saved.hpp"
#include "course/summary_pictures.hpp"
#include "tapestry/analysis/jacobian.hpp"
#include "tapestry/analysis/patterns.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/io/transformer_file.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/pictures.hpp"
#include "tapestry/plot/flow.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/tape.hpp"

using namespace tapestry;

namespace {

const Words words = Grammar().example().words;  // the cat sat on the mat

Safetensors read(const std::string& path) {
  return read_saved(path, "phases 1 and 2 write it. Type: make phase1 phase2");
}

// The finding of a panel. It goes to the screen as well.
template <class... Numbers>
std::string told(const char* format, Numbers... numbers) {
  const std::string finding = formatted(format, numbers...);
  std::printf("%s\n", finding.c_str());
  return finding;
}

// ---- Phases 0 and 1: one head

plot::Diagram the_tape() {
  const Safetensors head = read("out/checkpoints/single_head_model.safetensors");
  const Indices ids = Vocabulary(Grammar().words()).encode(words);     // (6)
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
      told("Queries meet keys: scores. Softmax makes weights of them, to mix %zu words' values.",
           words.size());
  return diagram;
}

plot::LineChart why_scale() {
  std::vector<double> sizes, divided, not_divided;
  for (const Index d_k : {8, 32, 128, 512}) {
    Random random(42);
    const Tensor q = random.normal({512, d_k}), k = random.normal({16, d_k});
    const Tensor scores = matmul(q, transpose(k));  // (512, 16)
    const auto largest = [](const Tensor& x) { return double{mean(max(softmax(x), -1)).item()}; };
    sizes.push_back(static_cast<double>(d_k));
    divided.push_back(largest(scores / std::sqrt(d_k)));
    not_divided.push_back(largest(scores));
  }
  const std::string finding =
      told("Random numbers, d_k = 512: one key of 16 takes %.2f of the weight; divided, %.2f.",
           not_divided.back(), divided.back());
  return scale_chart(sizes, divided, not_divided, finding);
}

plot::Heatmap one_head() {
  const Tensor weights = read("out/weights/attention_weights.safetensors")["weights"];  // (6, 6)
  return word_map(weights, words, "A head that has learned",
                  told("Hide “sat”, and “cat” gets %.2f of its attention, where chance is %.2f.",
                       double{weights.at({2, 1})}, 1.0 / 6));
}

// ---- Phase 2: many heads

plot::HeatmapGrid many_heads(const Tensor& maps) {  // (heads, 6, 6)
  const auto best = [&](Index query, Index key) {
    const Tensor all = slice(slice(maps, 1, query, query + 1), 2, key, key + 1);  // (heads, 1, 1)
    return Index{argmax(all, 0).values[0]};
  };
  const Index subject = best(2, 1), place = best(5, 3);
  const std::string finding =
      told("A hidden “sat” finds “cat” in head %td (%.2f), “mat” finds “on” in head %td (%.2f).",
           subject, double{maps.at({subject, 2, 1})}, place, double{maps.at({place, 5, 3})});
  return head_maps(maps, words, finding);
}

plot::BarChart entropy(const Safetensors& seen) {
  const auto words_seen = [&](const char* which) {  // (300, heads, 6, 6) -> (heads)
    return doubles(exp(mean(attention_entropy(seen[which]), {0, -1})));
  };
  const std::vector<double> trained = words_seen("grammar.trained");
  const std::vector<double> untrained = words_seen("grammar.untrained");
  const auto [least, most] = std::ranges::minmax(trained);
  const std::string finding =
      told("Words in effect, e^entropy: %.1f to %.1f of six; untrained, from a small start, %.1f.",
           least, most, untrained[0]);
  return width_chart(trained, untrained, finding);
}

// ---- Phase 3: seeing

plot::Flow arrows(const Tensor& maps) {
  plot::Flow flow{words, words, doubles(slice(maps, 0, 1, 2)), 2.0 / 6, "The same, as arrows", ""};
  flow.subtitle =
      told("Head 1. The even weight is %.2f; links below twice that, %.2f, are left out.", 1.0 / 6,
           *flow.threshold);
  return flow;
}

plot::BarChart names(const Transformer& model) {
  const auto [trained, untrained, old_place] = weights_behind(model);
  const std::string finding = told(
      "Head 1.1: %.2f of its weight on what followed this letter; untrained %.2f; by place %.2f.",
      trained[5], untrained[5], old_place[5]);
  return name_chart(trained, untrained, old_place, finding);
}

plot::LineChart cuts(const Transformer& model) {
  const auto [weights, falls] = cut_links(model);
  double weak = 0, least = 1, most = 0;  // lost without a link of weight below 0.1, above 0.9
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] < 0.1) weak = std::max(weak, std::abs(falls[i]));
    if (weights[i] > 0.9) least = std::min(least, falls[i]), most = std::max(most, falls[i]);
  }
  const std::string finding = told(
      "Below 0.1 the logit moves by %.2f at most. Above 0.9: a rise of %.2f to a fall of %.2f.",
      weak, -least, most);
  return cut_chart(weights, falls, finding);
}

// ---- Phase 4: the mask

const Indices one_text = ids_before_last(repeated_letters(1));  // (1, 10)
const Words letters = split_words(repeated_letters_task().vocabulary().decode(one_text));

plot::Heatmap the_mask() {
  plot::Heatmap map = mask_heatmap(Mask::causal(), letters, letters, "The causal mask");
  map.subtitle = told("Black pairs, %td of %zu: score −∞, weight 0.",
                      std::ranges::count(map.values, 1.0), map.values.size());
  return map;
}

plot::Heatmap looking_back(const Transformer& model) {
  const double back = mean_weight(weights_of(model, one_text)[1], 1, induction_keys(one_text));
  const std::string finding = told(
      "Letters come again, and head 1.1 looks at what followed them: %.2f of its weight.", back);
  const Tensor weights = map_of_head(model, one_text, {1, 1});  // (10, 10)
  return causal_map(weights, letters, "Under the mask: looking back", finding);
}

plot::Heatmap proof(const Transformer& model) {
  const Tensor norms = jacobian_norms([&] { model(one_text); }, "embedding", "blocks.1.output");
  const Tensor later = Mask::causal().to(MaskEncoding::drop, norms.shape());  // (10, 10), as norms
  const std::string finding =
      told("The largest derivative is %.1f, the largest by a later letter %g (grey: exactly 0).",
           double{max(norms).item()}, double{max(norms * later).item()});
  return derivative_map(norms, letters, finding);
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
