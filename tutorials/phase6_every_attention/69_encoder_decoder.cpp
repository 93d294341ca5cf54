// Step 69. Can attention translate without any recurrence, and which attention does what?
//
// New here: the transformer in its first form (Vaswani et al. 2017), an encoder and a decoder, made
// of parts that you know: self-attention over the source, masked self-attention over what was
// said, cross-attention from one to the other. Each is taken out once. The task is that of step 68.
// Writes out/plots/phase6_encoder_decoder.png; takes about 17 seconds.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "course/translation.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/error.hpp"
#include "tapestry/nn/embedding.hpp"
#include "tapestry/nn/positions.hpp"
#include "tapestry/nn/transformer_block.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/pictures.hpp"
#include "tapestry/plot/heatmap_grid.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/progress.hpp"
#include "tapestry/training.hpp"

using namespace tapestry;

namespace {

constexpr Index width = 48, heads = 4, steps = 500, rows = 32;
constexpr Index fewest = 2, most = 5, most_tested = 7;  // noun phrases of a sentence

struct EncoderDecoder : Module {
  Embedding source_words, target_words;
  TransformerBlock encoder;  // self-attention over the source, and a feed-forward part
  LayerNorm encoded_norm;
  TransformerBlock said;  // masked self-attention over the target, without feed-forward
  LayerNorm cross_norm;
  MultiHeadAttention cross;  // queries from the target, keys and values from the source
  LayerNorm thought_norm;
  FeedForward thought;
  LayerNorm last_norm;
  Linear out;

  EncoderDecoder(const TranslationTask& task, Random& random)
      : source_words(task.source_words().size(), width, random, init::lecun_normal),
        target_words(task.target_words().size(), width, random, init::lecun_normal),
        encoder(width, heads, random,
                {.attention = {.initializer = init::xavier_uniform},
                 .feed_forward = {.initializer = init::xavier_uniform}}),
        encoded_norm(width),
        said(width, heads, random,
             {.attention = {.is_causal = true, .initializer = init::xavier_uniform},
              .has_feed_forward = false}),
        cross_norm(width),
        cross(width, heads, random, {.initializer = init::xavier_uniform}),
        thought_norm(width),
        thought(width, random, {.initializer = init::xavier_uniform}),
        last_norm(width),
        out(width, task.target_words().size(), random, {.initializer = init::xavier_uniform}) {}

  // -> logits (rows, length of the target, words)
  Tensor operator()(const TranslationBatch& b, const ForwardContext& pass = {}) const {
    const Mask words_only = Mask::padding(b.source_lengths);
    return out(last_norm(decode(placed(target_words(b.target.inputs)),
                                encode(placed(source_words(b.source)), words_only, pass),
                                words_only, pass)));
  }

  Tensor encode(const Tensor& x, const Mask& words_only, const ForwardContext& pass) const {
    const Capture::Name name("source");
    return encoded_norm(encoder(x, words_only, pass));  // (batch, source, width)
  }

  // Padding behind the target needs no mask: it comes later, and has no part in the loss.
  Tensor decode(const Tensor& x, const Tensor& encoded, const Mask& words_only,
                const ForwardContext& pass) const {
    const auto look_back = [&] {
      const Capture::Name name("target");
      return said(x, {}, pass);  // (batch, target, width)
    };
    Tensor y = look_back();  // (batch, target, width)
    const Capture::Name name("cross");
    y = y + cross.cross_attend(cross_norm(y), encoded, words_only, pass);  // (batch, target, width)
    return y + thought(thought_norm(y));                                   // (batch, target, width)
  }

  // (batch, length, width)
  static Tensor placed(const Tensor& x) { return x + sinusoidal_positions(x.size(1), width); }

  Members members() const override {
    return {{"source_words", source_words},
            {"target_words", target_words},
            {"encoder", encoder},
            {"encoded_norm", encoded_norm},
            {"said", said},
            {"cross_norm", cross_norm},
            {"cross", cross},
            {"thought_norm", thought_norm},
            {"thought", thought},
            {"last_norm", last_norm},
            {"out", out}};
  }
};

struct Variant {
  const char* name;
  std::vector<const char*>
      silenced;  // the attention whose output is zeros, while training and afterwards
  std::uint64_t seeds;
};

const std::vector<Variant> variants = {
    {"all three", {}, 3},
    {"no source self-attention", {"source.attention.output"}, 2},
    {"no masked self-attention", {"target.attention.output"}, 2},
    {"cross-attention alone", {"source.attention.output", "target.attention.output"}, 2},
    {"no cross-attention", {"cross.output"}, 2}};

// In all passes that are compared: one algorithm, so that rounding does not tell variants apart.
constexpr ForwardContext stored = {.need_weights = true};

void silence(Capture& capture, const Variant& variant) {
  for (const char* name : variant.silenced) {
    capture.replace(name, [](const Tensor& x) { return Tensor::zeros(x.shape()); });
  }
}

EncoderDecoder learn(const Variant& variant, const TranslationTask& task, std::uint64_t seed) {
  Random random(seed);
  EncoderDecoder model(task, random);
  Adam adam(model.parameters());
  TrainingOptions options{.steps = steps};
  options.what = "";
  options.learning_rate = [](Index step) {
    return cosine_schedule(step, {.peak = 5e-3, .floor = 1e-4, .warmup_steps = 50, .steps = steps});
  };
  const auto loss_of_step = [&](Index step) {
    Capture capture;
    silence(capture, variant);
    Random drawn(seed, static_cast<std::uint64_t>(step));
    const TranslationBatch b = task.batch(Part::train, rows, drawn);
    return cross_entropy(model(b, stored), b.target.targets);  // logits (rows, target, words)
  };
  train(adam, loss_of_step, options);
  return model;
}

// The share of 300 held-out sentences with so many noun phrases that are wholly right.
double share_right(const EncoderDecoder& model, const Variant& variant, Index phrases) {
  Random random(77);
  const TranslationBatch b = TranslationTask({phrases, phrases}).batch(Part::held_out, 300, random);
  Capture capture;
  silence(capture, variant);
  return double(exact_matches(model(b, stored), b.target.targets)) / 300;
}

// Trains all variants; returns the first model.
EncoderDecoder compare(const TranslationTask& task) {
  std::string table;
  std::vector<EncoderDecoder> models;
  Progress progress("training", 11, "models");
  for (const Variant& variant : variants) {
    for (std::uint64_t seed = 1; seed <= variant.seeds; ++seed, progress.step()) {
      models.push_back(learn(variant, task, seed));
      char line[80];
      std::snprintf(line, sizeof line, "\n%-24s %d ", variant.name, int(seed));
      table += line;
      for (Index phrases = fewest; phrases <= most_tested; ++phrases) {
        std::snprintf(line, sizeof line, " %5.3f", share_right(models.back(), variant, phrases));
        table += line;
      }
    }
  }
  std::printf("1. Translations wholly right, of 300 held-out sentences of each length\n");
  std::printf("noun phrases                   2     3     4     5     6     7%s\n\n",
              table.c_str());
  return models.front();
}

// The word with the greatest logit at one position of logits (positions, words).
std::string greatest(const TranslationTask& task, const std::vector<double>& logits, Index at) {
  const auto first = logits.begin() + at * task.target_words().size();
  const auto id = std::max_element(first, first + task.target_words().size()) - first;
  return task.target_words().word(static_cast<std::int32_t>(id));
}

// What the model writes when it reads its own words, one after the other.
Words write(const EncoderDecoder& model, const TranslationTask& task, const Words& source) {
  Translation so_far = translate(source);
  so_far.target = {};
  while (so_far.target.size() < 40) {
    so_far.from = so_far.ends_as = std::vector<Index>(so_far.target.size(), -1);
    const std::vector<double> logits = doubles(model(task.batch({so_far})));  // (1, target, words)
    const std::string word = greatest(task, logits, static_cast<Index>(so_far.target.size()));
    if (word == "<eos>") break;
    so_far.target.push_back(word);
  }
  return so_far.target;
}

std::string text(const Words& words) {
  std::string joined;
  for (const std::string& word : words) joined += " " + word;
  return joined;
}

void write_some(const EncoderDecoder& model, const TranslationTask& task) {
  std::printf("2. Written word by word, by the first model; held-out sentences\n");
  Random random(3);
  for (const Index phrases : {2, 4, 7}) {
    const Translation one = TranslationTask({phrases, phrases}).sentence(Part::held_out, random);
    const Words said = write(model, task, one.source);
    std::printf("  %s\n =>%s\n", text(one.source).c_str(), text(said).c_str());
    if (said != one.target) std::printf(" not%s\n", text(one.target).c_str());
  }
  std::printf("\n");
}

void look(const EncoderDecoder& model) {
  Random random(77);
  const TranslationBatch b = TranslationTask({most, most}).batch(Part::held_out, 300, random);
  const Capture seen;
  model(b, stored);
  std::printf("3. Cross-attention in sentences of %d noun phrases: mean weight of each head\n",
              int(most));
  std::printf("                                 head 1  head 2  head 3  head 4    even\n");
  const auto print = [&](const char* name, const Tensor& marked) {
    const double words = double{sum(marked).item()};
    std::printf("%-32s", name);
    for (const Tensor& weights : split(seen["cross.weights"], heads, 1)) {  // (300, 1, ...)
      std::printf("   %.2f ", double{sum(squeeze(weights, 1) * marked).item()} / words);
    }
    double even = 0;
    for (Index row = 0; row < b.from.size(0); ++row) {
      const double asked = double{sum(slice(marked, 0, row, row + 1)).item()};
      even += asked / double(b.source_lengths[static_cast<std::size_t>(row)]) / words;
    }
    std::printf("   %.2f\n", even);
  };
  print("on the word that is translated", b.from);
  print("on the noun it has to agree with", b.ends_as);
  std::printf("\n");
}

// The verb, which is said last, without each head in turn: are its stem and its ending right?
void silence_heads(const EncoderDecoder& model, const TranslationTask& task) {
  Random random(77);
  const TranslationBatch b = TranslationTask({most, most}).batch(Part::held_out, 300, random);
  std::printf("4. The verb of the same sentences with one head of the cross-attention silenced\n");
  std::printf("                stem right  ending right\n");
  for (Index silenced = 0; silenced <= heads; ++silenced) {
    Tensor keep = Tensor::ones({heads, 1, 1});  // (heads, 1, 1)
    if (silenced > 0) keep.set({silenced - 1, 0, 0}, 0);
    Capture capture;
    capture.replace("cross.heads", [&](const Tensor& x) { return x * keep; });
    const std::vector<double> logits = doubles(model(b, stored));  // (300, target, words)
    double stems = 0, endings = 0;
    for (std::size_t row = 0; row < 300; ++row) {
      const auto at =
          static_cast<Index>(row) * b.target.inputs.shape[1] + b.target.lengths[row] - 2;
      const std::string verb = task.target_words().word(b.target.targets.values[std::size_t(at)]);
      const std::string said = greatest(task, logits, at);
      stems += said.substr(0, said.size() - 2) == verb.substr(0, verb.size() - 2) ? 1 : 0;
      endings += said.substr(said.size() - 2) == verb.substr(verb.size() - 2) ? 1 : 0;
    }
    const std::string name = silenced == 0 ? "none" : "head " + std::to_string(silenced);
    std::printf("%-15s %10.2f %13.2f\n", name.c_str(), stems / 300, endings / 300);
  }
  std::printf("\n");
}

void draw(const EncoderDecoder& model, const TranslationTask& task) {
  Random random(5);  // the sentence of step 68
  const Translation one = TranslationTask({4, 4}).sentence(Part::held_out, random);
  const Capture seen;
  model(task.batch({one}), stored);
  plot::HeatmapGrid grid;
  grid.columns = 2;
  grid.title = "Cross-attention of four heads while they translate";
  const Index n = static_cast<Index>(one.source.size());
  for (Index head = 0; head < heads; ++head) {
    const Tensor w = slice(slice(seen["cross.weights"], 1, head, head + 1), 2, 0, n);
    grid.maps.push_back(attention_heatmap(reshape(w, {n, n}), one.target, one.source,
                                          "head " + std::to_string(head + 1)));
    grid.maps.back().row_axis = "says", grid.maps.back().column_axis = "looks at";
  }
  plot::write_png(plot::render(grid, 340, 1.5), "out/plots/phase6_encoder_decoder.png");
}

}  // namespace

int main() try {
  std::printf("Step 69: an encoder and a decoder (takes about 17 seconds)\n\n");
  const TranslationTask task({fewest, most});
  const EncoderDecoder model = compare(task);
  write_some(model, task);
  look(model);
  silence_heads(model, task);
  draw(model, task);
  std::printf("wrote out/plots/phase6_encoder_decoder.png\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
