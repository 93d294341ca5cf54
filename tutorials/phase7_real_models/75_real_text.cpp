// Step 75. What does a small model learn from a text that people wrote?
//
// New here: training on tokens of a real text, measured in bits per byte on a part of it that is
// held out, beside counts of bytes; two budgets, a tenth of the text (the first, or
// pieces from everywhere), and the block of 2017 (step 71).
// It reads these lessons, or a file: build/release/tutorials/75_real_text my_text.txt
// Writes out/plots/phase7_real_text.png; takes about 40 seconds.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include "course/byte_counts.hpp"
#include "course/lesson_text.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/generation.hpp"
#include "tapestry/nn/transformer.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/plot/charts.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/text/byte_pairs.hpp"
#include "tapestry/text/corpus.hpp"
#include "tapestry/text/text_stream.hpp"
#include "tapestry/training.hpp"

using namespace tapestry;

namespace {

constexpr Index merges = 512, length = 128, rows = 8;

// ---- The text: merges and models learn from nine tenths of it, the last tenth is held out.

struct Text {
  std::string learned;  // bytes
  std::string held_out;
  Tokenizer tokenizer;
  Indices train, test;  // (tokens) of the two
};

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

// Of every ten pieces of so many ids the first.
Indices every_tenth(const Indices& ids, Index piece) {
  Indices some;
  for (Index at = 0; at < ids.shape[0]; at += 10 * piece) {
    const auto begin = ids.values.begin() + at;
    some.values.insert(some.values.end(), begin, begin + std::min(piece, ids.shape[0] - at));
  }
  some.shape = {std::ssize(some.values)};
  return some;  // (tokens)
}

// ---- The measure: 64 windows or fewer, spread evenly; what they predict is counted in bytes.

double bits_per_byte(const Transformer& model, const Tokenizer& tokenizer, const Indices& ids) {
  double nats = 0, bytes = 0;
  const Index apart = std::max(length, (ids.shape[0] - 1) / 64);
  for (Index at = 0; at + length < ids.shape[0]; at += apart) {
    const auto begin = ids.values.begin() + at;
    const Indices inputs({length}, {begin, begin + length});
    const Indices targets({length}, {begin + 1, begin + length + 1});
    nats += double(length) * double{cross_entropy(model(inputs), targets).item()};
    bytes += double(tokenizer.decode(targets.values).size());
  }
  return nats / std::log(2.0) / bytes;
}

// ---- Models and their training

// Of step 71, "all six" but grouped queries: the block of `tapestry train FILE --merges N`.
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
  return {.vocab_size = words,
          .max_length = length,
          .d_ff = 122,  // as many parameters
          .norm_place = NormPlace::post,
          .activation = Activation::relu};
}

Index parameters_of(const TransformerOptions& options) {
  Random random(1);
  return Transformer(options, random).parameter_count();
}

struct Run {
  std::string name;
  TransformerOptions options;
  Indices seen;  // (tokens) of the training text
  Index steps;
  std::vector<double> at = {}, learned = {}, held_out = {};  // bits per byte, at some steps
};

std::string sample(const NextLogits& next, const Text& text, Index count, Index seed) {
  Random random(static_cast<std::uint64_t>(seed));
  const Indices ids = generate(next, text.tokenizer.encode("\n\nThe"), random,
                               {.sampling = {.temperature = 0.8}, .max_new_tokens = count});
  return text.tokenizer.decode(ids.values);
}

// Tokens without context: always ln of how often each stands in the text to learn from.
NextLogits by_frequency(const Text& text) {
  Tensor counts = Tensor::zeros({text.tokenizer.size()});  // (words)
  for (const std::int32_t id : text.train.values) counts.set({id}, double{counts.at({id})} + 1);
  return [logits = log(counts)](const Indices&) { return logits; };
}

std::string in_one_line(const std::string& bytes) {
  TextStream stream;
  std::string text = stream.add(bytes);
  text += stream.finish();
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos;) {
    text.replace(at, 1, "↵");
  }
  return text;
}

// The bits per byte are measured after each tenth of the steps. `says` gets some samples of the
// second run.
Transformer train_model(Run& run, const Text& text, std::vector<std::string>& says) {
  Random random(1);
  Transformer model(run.options, random);
  Adam adam(model.parameters());
  const auto loss_of_step = [&](Index step) {
    Random data(1, static_cast<std::uint64_t>(step));
    const Batch b = random_windows(run.seen, rows, length, data);  // (rows, length)
    return cross_entropy(model(b.inputs), b.targets);              // logits (rows, length, words)
  };
  const auto measure = [&](Index step, double) {
    if (step % (run.steps / 10) != 0) return;
    run.at.push_back(double(step));
    run.learned.push_back(bits_per_byte(model, text.tokenizer, run.seen));
    run.held_out.push_back(bits_per_byte(model, text.tokenizer, text.test));
    if (run.name == "500 steps" && (step == 50 || step == 150 || step == 500)) {
      const std::string words = in_one_line(sample(next_logits_of(model, length), text, 50, 5));
      says.push_back(formatted("   step %3d: ", int(step)) + words);
    }
  };
  TrainingOptions options{.steps = run.steps, .what = run.name, .after_step = measure};
  options.learning_rate = [&](Index step) {
    return cosine_schedule(step,
                           {.peak = 5e-3, .floor = 5e-4, .warmup_steps = 30, .steps = run.steps});
  };
  measure(0, 0);
  train(adam, loss_of_step, options);
  return model;
}

// ---- What was written

// The share of the words of three and more letters that stand in `known`.
double known_words(const std::string& text, const std::string& known) {
  const auto words_of = [](const std::string& bytes) {
    std::vector<std::string> words(1);
    for (const char c : bytes) {
      if (std::isalpha(static_cast<unsigned char>(c))) {
        words.back() += c;
      } else if (!words.back().empty()) {
        words.emplace_back();
      }
    }
    return words;
  };
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

// How many bytes of `text`, at its best place, stand one behind the other in `source`.
std::size_t longest_copy(const std::string& text, const std::string& source) {
  std::size_t longest = 0;
  for (std::size_t at = 0; at + longest < text.size(); ++at) {
    while (at + longest < text.size() &&
           source.find(text.substr(at, longest + 1)) != std::string::npos) {
      ++longest;
    }
  }
  return longest;
}

void print_counts(const Text& text, std::vector<double>& bits) {
  std::printf("2. Bits per byte\n");
  std::printf("%-38s %8s %10s\n", "", "learned", "held out");
  for (const int order : {0, 1, 2, 4}) {
    const ByteCounts counts(text.learned, order);
    bits.push_back(counts.bits_per_byte(text.held_out));
    std::printf("bytes, counted%-24s %8s %10.2f\n",
                order == 0   ? ""
                : order == 1 ? " behind 1 byte"
                             : formatted(" behind %d bytes", order).c_str(),
                "", bits.back());
  }
}

void print_written(const std::vector<std::string>& names, const std::vector<std::string>& written,
                   const Text& text) {
  std::printf("\n4. Of 1000 tokens that were written: words that are known\n");
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::printf("%-38s %7.0f %%\n", names[i].c_str(), 100 * known_words(written[i], text.learned));
  }
  std::printf("\n5. The longest copy from the text that all could learn from\n");
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::printf("%-38s %7d bytes\n", names[i].c_str(), int(longest_copy(written[i], text.learned)));
  }
}

void draw(const std::vector<Run>& runs, const std::vector<double>& counts) {
  plot::Canvas canvas(1500, 520);
  const std::vector<plot::Rect> panels = plot::panels(canvas.area().inset(16), 1, 2);
  for (const std::size_t which : {1, 2}) {
    const Run& run = runs[which];
    plot::LineChart chart{.title = which == 1 ? "The whole text" : "The first tenth",
                          .x_axis = {.name = "step"},
                          .y_axis = {.name = "bits per byte", .low = 0, .high = 6}};
    chart.series = {{.name = "text that it learns from", .x = run.at, .y = run.learned},
                    {.name = "held out", .x = run.at, .y = run.held_out, .markers = true}};
    chart.reference_lines = {{counts[0], formatted("bytes, counted: %.2f", counts[0])},
                             {counts[3], formatted("behind 4 bytes: %.2f", counts[3])}};
    plot::draw(canvas, panels[which - 1], chart);
  }
  plot::write_png(canvas, "out/plots/phase7_real_text.png");
  std::printf("\nWrote out/plots/phase7_real_text.png\n");
}

}  // namespace

int main(int count, char** values) try {
  const RealText real = real_text(count, values);
  const Text text = text_of(real.bytes);
  const Indices& all = text.train;
  const Index words = text.tokenizer.size();
  std::printf("Step 75: training on a real text (takes about 40 seconds)\n\n");
  std::vector<Run> runs = {
      {"100 steps", of_today(words), all, 100},
      {"500 steps", of_today(words), all, 500},
      {"500 steps, the first tenth", of_today(words), every_tenth(all, all.shape[0] / 10 + 1), 500},
      {"500 steps, every tenth piece", of_today(words), every_tenth(all, 10 * length), 500},
      {"500 steps, the block of 2017", of_2017(words), all, 500}};
  std::printf("1. %s: %d tokens to learn from, %d held out; models of %d numbers\n\n",
              real.name.c_str(), int(all.shape[0]), int(text.test.shape[0]),
              int(parameters_of(runs[0].options)));
  std::vector<double> counts;
  print_counts(text, counts);
  std::vector<std::string> names, written, says;
  for (Run& run : runs) {
    const Transformer model = train_model(run, text, says);
    std::printf("%-38s %8.2f %10.2f\n", run.name.c_str(), run.learned.back(), run.held_out.back());
    names.push_back(run.name);
    written.push_back(sample(next_logits_of(model, length), text, 1000, 9));
  }
  std::printf("\n3. How the second model goes on after \"The\"\n");
  for (const std::string& line : says) std::printf("%s\n", line.c_str());
  names.push_back("tokens drawn by their frequency");
  written.push_back(sample(by_frequency(text), text, 1000, 9));
  names.push_back("the held-out text itself");
  written.push_back(text.held_out.substr(0, written[1].size()));
  print_written(names, written, text);
  draw(runs, counts);
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
