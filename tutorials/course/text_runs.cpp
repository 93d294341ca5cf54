#include "course/text_runs.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <set>
#include <vector>

#include "course/lesson_text.hpp"
#include "course/since_2017.hpp"
#include "tapestry/error.hpp"
#include "tapestry/generation.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/text/byte_pairs.hpp"
#include "tapestry/text/corpus.hpp"
#include "tapestry/training.hpp"

namespace tapestry::text_runs {
namespace {

std::string sample(const NextLogits& next, const Text& text, Index count, Index seed) {
  Random random(static_cast<std::uint64_t>(seed));
  const Indices ids = generate(next, text.tokenizer.encode("\n\nThe"), random,
                               {.sampling = {.temperature = 0.8}, .max_new_tokens = count});
  return text.tokenizer.decode(ids.values);
}

// 64 or fewer, spread evenly over ids (n).
std::vector<Batch> windows_of(const Indices& ids) {
  std::vector<Batch> windows;
  const Index apart = std::max(length, (ids.shape[0] - 1) / 64);
  for (Index at = 0; at + length < ids.shape[0]; at += apart) {
    const auto begin = ids.values.begin() + at;
    windows.push_back({Indices({length}, {begin, begin + length}),            // (length)
                       Indices({length}, {begin + 1, begin + length + 1})});  // (length)
  }
  return windows;
}

std::vector<std::string> words_of(const std::string& bytes) {
  std::vector<std::string> words(1);
  for (const char c : bytes) {
    if (std::isalpha(static_cast<unsigned char>(c))) {
      words.back() += c;
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  return words;
}

}  // namespace

Text text_of(const std::string& bytes) {
  const auto [learned, held_out] = parts_of(bytes);
  const Tokenizer tokenizer = byte_pair_tokenizer(learn_byte_pairs(learned, merges));
  Text text{learned, held_out, tokenizer, tokenizer.encode(learned), tokenizer.encode(held_out)};
  if (text.test.shape[0] < 2 * length) {
    throw Error("the text is too short: its last tenth must have " + std::to_string(2 * length) +
                " tokens, and has " + std::to_string(text.test.shape[0]) + ". Give a longer one.");
  }
  return text;
}

Indices every_tenth(const Indices& ids, Index piece) {
  Indices some;
  for (Index at = 0; at < ids.shape[0]; at += 10 * piece) {
    const auto begin = ids.values.begin() + at;
    some.values.insert(some.values.end(), begin, begin + std::min(piece, ids.shape[0] - at));
  }
  some.shape = {std::ssize(some.values)};
  return some;  // (tokens)
}

double bits_per_byte(const Transformer& model, const Tokenizer& tokenizer, const Indices& ids) {
  double nats = 0, bytes = 0;
  for (const Batch& window : windows_of(ids)) {
    nats += double(length) * double{cross_entropy(model(window.inputs), window.targets).item()};
    bytes += double(tokenizer.decode(window.targets.values).size());
  }
  return nats / std::log(2.0) / bytes;
}

double bytes_per_token(const Tokenizer& tokenizer, const Indices& ids) {
  double tokens = 0, bytes = 0;
  for (const Batch& window : windows_of(ids)) {
    tokens += double(length);
    bytes += double(tokenizer.decode(window.targets.values).size());
  }
  return bytes / tokens;
}

TransformerOptions of_today(Index words) {
  return {.vocab_size = words,
          .max_length = length,
          .d_ff = 176,
          .positions = Positions::rotary,
          .norm_kind = NormKind::rms,
          .activation = Activation::silu,
          .gated = true,
          .feed_forward_bias = false,
          .tied_logits = true};
}

TransformerOptions of_2017(Index words) {
  return since_2017::as_large_as(since_2017::parameters_of(of_today(words)),
                                 {.vocab_size = words,
                                  .max_length = length,
                                  .norm_place = NormPlace::post,
                                  .activation = Activation::relu});
}

Transformer train_on_text(const Run& run,
                          const std::function<void(const Transformer&, Index step)>& look) {
  const auto seed = static_cast<std::uint64_t>(run.seed);
  Random random(seed);
  Transformer model(run.options, random);
  Adam adam(model.parameters());
  const auto loss_of_step = [&](Index step) {
    Random data(seed, static_cast<std::uint64_t>(step));
    const Batch b = random_windows(run.seen, rows, length, data);  // (rows, length)
    return cross_entropy(model(b.inputs), b.targets);              // logits (rows, length, words)
  };
  TrainingOptions options{.steps = run.steps, .what = run.what};
  options.learning_rate = [&](Index step) {
    return cosine_schedule(step,
                           {.peak = 5e-3, .floor = 5e-4, .warmup_steps = 30, .steps = run.steps});
  };
  if (look) {
    look(model, 0);
    options.after_step = [&](Index step, double) { look(model, step); };
  }
  train(adam, loss_of_step, options);
  return model;
}

std::string written(const Transformer& model, const Text& text, Index count, Index seed) {
  return sample(next_logits_of(model, length), text, count, seed);
}

std::string written_by_frequency(const Text& text, Index count, Index seed) {
  Tensor counts = Tensor::zeros({text.tokenizer.size()});  // (words)
  for (const std::int32_t id : text.train.values) counts.set({id}, double{counts.at({id})} + 1);
  const Tensor logits = log(counts);  // (words)
  return sample([&](const Indices&) { return logits; }, text, count, seed);
}

double known_words(const std::string& text, const std::string& known) {
  const std::vector<std::string> all = words_of(known);
  const std::set<std::string> list(all.begin(), all.end());
  double count = 0, found = 0;
  for (const std::string& word : words_of(text)) {
    if (word.size() < 3) continue;
    ++count;
    found += list.contains(word);
  }
  return found / count;
}

}  // namespace tapestry::text_runs
