// Step 15. What does attention look like?
//
// New here: only the pictures. The trained head of step 14 is read from its file and drawn: its
// map, and the path of one query through it.
// Reads the model of step 14; writes out/plots/phase1_attention_heatmap.png,
// out/plots/phase1_qkv_flow.png and out/weights/attention_weights.safetensors; takes a second.
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "course/grammar.hpp"
#include "course/saved.hpp"
#include "tapestry/attention.hpp"
#include "tapestry/error.hpp"
#include "tapestry/io/safetensors.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/pictures.hpp"
#include "tapestry/plot/ascii.hpp"
#include "tapestry/plot/diagram.hpp"
#include "tapestry/plot/heatmap.hpp"
#include "tapestry/plot/numbers.hpp"
#include "tapestry/plot/png.hpp"

using namespace tapestry;

namespace {

struct Trace {  // every tensor of the head's forward pass for one sentence; row i is word i
  Tensor x, q, k, v, output;  // (6, 64)
  Tensor weights, scores;     // (6, 6)
};

Trace run(const Safetensors& model, const Indices& ids) {
  const Tensor x = embedding(model["words"], ids) + model["positions"];  // (6, 64), as q, k and v
  const Tensor q = matmul(x, model["head.query.weight"]), k = matmul(x, model["head.key.weight"]);
  const Tensor v = matmul(x, model["head.value.weight"]);  // (6, 64)
  const Attention head = attention(q, k, v);  // output (6, 64), weights and scores (6, 6)
  return {x, q, k, v, matmul(head.output, model["head.output.weight"]), head.weights, head.scores};
}

// (rows, columns) -> (1, columns)
Tensor row(const Tensor& matrix, Index i) { return slice(matrix, 0, i, i + 1); }

Trace with_hidden(const Safetensors& model, const Vocabulary& vocabulary, const Words& words,
                  std::size_t hidden) {
  Indices ids = vocabulary.encode(words);  // (6)
  ids.values[hidden] = Vocabulary::mask;
  return run(model, ids);
}

plot::Box box(const std::string& title, const std::string& detail, const Tensor& numbers) {
  plot::Box result{title, {detail, to_string(numbers.shape())}};
  result.thumbnail = plot::Thumbnail{numbers.size(0), numbers.size(1), doubles(numbers)};
  return result;
}

// The same box with its numbers beside their words, three in a line: "the 0.04   cat 0.62".
plot::Box with_words(plot::Box box, const Words& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i % 3 == 0) box.lines.emplace_back();
    box.lines.back() +=
        (i % 3 == 0 ? "" : "   ") + words[i] + " " + plot::number_text(box.thumbnail->values[i], 2);
  }
  return box;
}

// The path of one query: from the words to the output of the head.
plot::Diagram flow(const Trace& trace, Words words, Index at) {
  const std::string word = std::exchange(words[static_cast<std::size_t>(at)], "<mask>");
  plot::Diagram diagram;
  diagram.title = "One query through the head";
  diagram.subtitle = "“" + word +
                     "” is hidden and asks. Orange is positive, blue negative, white 0;"
                     " the scale of each box is its own, that of the weights −1 to 1";
  const Tensor mixture = matmul(row(trace.weights, at), trace.v);  // (1, 64)
  plot::Box rows = box("x", "words + positions", trace.x);
  rows.lines.emplace_back("rows: " + words[0]);
  for (std::size_t i = 1; i < words.size(); ++i) rows.lines.back() += ", " + words[i];
  const auto x = diagram.add(rows);
  const auto q = diagram.add(box("query", "row of x W_Q", row(trace.q, at)));
  const auto k = diagram.add(box("keys", "x W_K", trace.k));
  const auto v = diagram.add(box("values", "x W_V", trace.v));
  const auto scores =
      diagram.add(with_words(box("scores", "q kᵀ / √64", row(trace.scores, at)), words));
  plot::Box shares = with_words(box("weights", "softmax: sum 1", row(trace.weights, at)), words);
  shares.thumbnail->low = -1;
  shares.thumbnail->high = 1;
  const auto weights = diagram.add(shares);
  const auto mixed = diagram.add(box("mixture", "weights × values", mixture));
  const auto output = diagram.add(box("output", "mixture W_O", row(trace.output, at)));
  for (const auto made : {q, k, v}) diagram.connect(x, made);
  for (const auto read : {q, k}) diagram.connect(read, scores);
  diagram.connect(scores, weights);
  for (const auto read : {weights, v}) diagram.connect(read, mixed);
  diagram.connect(mixed, output);
  return diagram;
}

void draw_map(const Tensor& map, const Words& words) {
  plot::Heatmap picture = attention_heatmap(map, words, words, "Where a hidden word looks");
  picture.subtitle = "one trained head; on the diagonal: <mask>, in the place of the hidden word";
  picture.row_axis = "query: the hidden word";
  picture.column_axis = "key: the word it looks at";
  plot::write_png(plot::render(picture), "out/plots/phase1_attention_heatmap.png");
}

}  // namespace

int main() try {
  std::printf("Step 15: pictures (takes about a second)\n\n");
  const Safetensors model = read_saved("out/checkpoints/single_head_model.safetensors",
                                       "step 14 trains and saves it. Type: make run-14");
  const Vocabulary vocabulary(Grammar().words());
  const Words words = Grammar().example().words;

  std::vector<Tensor> weights, scores;  // row i comes from the sentence whose word i is hidden
  for (std::size_t i = 0; i < words.size(); ++i) {
    const Trace trace = with_hidden(model, vocabulary, words, i);
    weights.push_back(row(trace.weights, static_cast<Index>(i)));  // (1, 6)
    scores.push_back(row(trace.scores, static_cast<Index>(i)));    // (1, 6)
  }
  const Tensor map = concat(weights, 0);  // (6, 6)
  std::printf("Where each word looks when it is hidden (rows ask, columns answer):\n%s\n",
              plot::matrix_with_words(doubles(map), words, words).c_str());

  draw_map(map, words);
  const Trace trace = with_hidden(model, vocabulary, words, 2);
  std::printf("\"%s\" is hidden: its score for \"%s\" is %.2f, its weight %.2f\n", words[2].c_str(),
              words[1].c_str(), double{trace.scores.at({2, 1})}, double{trace.weights.at({2, 1})});
  plot::write_png(plot::render(flow(trace, words, 2)), "out/plots/phase1_qkv_flow.png");

  write_safetensors("out/weights/attention_weights.safetensors",
                    {{"weights", map}, {"scores", concat(scores, 0)}},
                    {{"words", Grammar().example().text()}, {"rows", "query"}, {"columns", "key"}});
  std::printf("wrote out/plots/phase1_attention_heatmap.png, out/plots/phase1_qkv_flow.png\n");
  std::printf("wrote out/weights/attention_weights.safetensors\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
