// An experiment for step 75: do its rows hold for other seeds? Each seed has its own parameters at
// the start, and its own windows of the text. The two blocks differ least, so they get ten seeds;
// the samples show by how much the share of known words changes. Seed 1 is that of the step.
// It reads these lessons as they are, or a file: build/release/experiments/75_seeds my_text.txt
// Takes about three minutes of processor time.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "course/byte_counts.hpp"
#include "course/held_out.hpp"
#include "course/lesson_text.hpp"
#include "course/text_runs.hpp"
#include "tapestry/error.hpp"
#include "tapestry/plot/dot_plot.hpp"
#include "tapestry/progress.hpp"

using namespace tapestry;
using namespace tapestry::text_runs;

namespace {

struct Row {
  const char* name;
  TransformerOptions options;
  Indices seen;  // (tokens)
  Index steps, seeds;
  std::vector<double> bits = {}, known = {};  // of each seed
};

std::vector<Row> rows_of(const Text& text) {
  const Indices& all = text.train;
  const TransformerOptions today = of_today(text.tokenizer.size());
  return {{"100 steps", today, all, 100, 3},
          {"500 steps", today, all, 500, 10},
          {"500 steps, the first tenth", today, every_tenth(all, all.shape[0] / 10 + 1), 500, 3},
          {"500 steps, every tenth piece", today, every_tenth(all, 10 * length), 500, 3},
          {"500 steps, the block of 2017", of_2017(text.tokenizer.size()), all, 500, 10}};
}

void measure(Row& row, const Text& text, Progress& progress) {
  for (Index seed = 1; seed <= row.seeds; ++seed) {
    const Transformer model = train_on_text({row.options, row.seen, row.steps, seed});
    row.bits.push_back(bits_per_byte(model, text.tokenizer, text.test));
    row.known.push_back(100 * known_words(written(model, text, 1000, 9), text.learned));
    progress.step();
  }
}

void print_known(const std::vector<double>& known) {
  const auto [low, high] = std::minmax_element(known.begin(), known.end());
  std::printf("  %2.0f to %2.0f %%\n", *low, *high);
}

void print(const Row& row) {
  const auto [low, high] = std::minmax_element(row.bits.begin(), row.bits.end());
  std::printf("%-32s %5d  %5.2f  %4.2f to %4.2f", row.name, int(row.seeds),
              plot::mean_interval(row.bits).mean, *low, *high);
  print_known(row.known);
}

void print_controls(const Text& text) {
  std::vector<double> known;
  for (Index seed = 1; seed <= 10; ++seed) {
    known.push_back(100 * known_words(written_by_frequency(text, 1000, seed), text.learned));
  }
  std::printf("%-32s %5d %21s", "tokens drawn by their frequency", 10, "");
  print_known(known);
  std::printf("%-38s  %5.2f\n", "bytes, counted behind 4 bytes",
              ByteCounts(text.learned, 4).bits_per_byte(text.held_out));
}

void print_blocks(const std::vector<double>& today, const std::vector<double>& old) {
  std::vector<double> less;  // bits of the block of 2017
  std::printf("\n500 steps, held out, seed by seed\nblock of today  ");
  for (const double bits : today) std::printf(" %4.2f", bits);
  std::printf("\nblock of 2017   ");
  for (std::size_t i = 0; i < old.size(); ++i) {
    std::printf(" %4.2f", old[i]);
    less.push_back(today[i] - old[i]);
  }
  const plot::MeanInterval all = plot::mean_interval(less);
  std::printf("\n2017 has less by %4.2f (95 %% interval %4.2f to %4.2f), in %d of %d seeds\n",
              all.mean, all.low, all.high,
              int(std::count_if(less.begin(), less.end(), [](double bits) { return bits > 0; })),
              int(less.size()));
}

}  // namespace

int main(int count, char** values) try {
  const RealText real = real_text(count, values);
  const Text text = text_of(real.bytes);
  std::printf("Experiment 75_seeds: bits per byte of the held-out tenth, and known words\n");
  std::printf("text: %s, %d bytes, checksum %08x\n\n", real.name.c_str(), int(real.bytes.size()),
              static_cast<unsigned>(number_of(real.bytes)));  // tells a kept table's text
  std::printf("%-32s seeds   mean         range  known words\n", "");
  std::vector<Row> table = rows_of(text);
  Index models = 0;
  for (const Row& row : table) models += row.seeds;
  Progress progress("training", models, "models");
  for (Row& row : table) {
    measure(row, text, progress);
    print(row);
    std::fflush(stdout);
  }
  print_controls(text);
  print_blocks(table[1].bits, table[4].bits);
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
