// Step 75. What does a small model learn from a text that people wrote?
//
// New here: training on tokens of a real text, measured in bits per byte on a part of it that is
// held out, beside counts of bytes; two budgets, a tenth of the text (the first, or
// pieces from everywhere), and the block of 2017 (step 71).
// It reads these lessons, or a file: build/release/tutorials/75_real_text my_text.txt
// Writes out/plots/phase7_real_text.png; takes about 40 seconds.
#include <cstdio>
#include <string>
#include <vector>

#include "course/byte_counts.hpp"
#include "course/lesson_text.hpp"
#include "course/text_runs.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/plot/charts.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/text/text_stream.hpp"

using namespace tapestry;
using namespace tapestry::text_runs;

namespace {

struct Row {
  Run run;
  std::vector<double> at = {}, learned = {}, held_out = {};  // bits per byte, at some steps
};

std::vector<Row> rows_of(const Text& text) {
  const Indices& all = text.train;
  const TransformerOptions today = of_today(text.tokenizer.size());
  const Indices first = every_tenth(all, all.shape[0] / 10 + 1);  // (tokens)
  const Indices pieces = every_tenth(all, 10 * length);           // (tokens)
  return {{{today, all, 100, 1, "100 steps"}},
          {{today, all, 500, 1, "500 steps"}},
          {{today, first, 500, 1, "500 steps, the first tenth"}},
          {{today, pieces, 500, 1, "500 steps, every tenth piece"}},
          {{of_2017(text.tokenizer.size()), all, 500, 1, "500 steps, the block of 2017"}}};
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
Transformer train_row(Row& row, const Text& text, std::vector<std::string>& says) {
  return train_on_text(row.run, [&](const Transformer& model, Index step) {
    if (step % (row.run.steps / 10) != 0) return;
    row.at.push_back(double(step));
    row.learned.push_back(bits_per_byte(model, text.tokenizer, row.run.seen));
    row.held_out.push_back(bits_per_byte(model, text.tokenizer, text.test));
    if (row.run.what == "500 steps" && (step == 50 || step == 150 || step == 500)) {
      says.push_back(formatted("   step %3d: ", int(step)) +
                     in_one_line(written(model, text, 50, 5)));
    }
  });
}

// ---- What was written

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
  std::printf("%-38s %8s %10s %9s\n", "", "learned", "held out", "numbers");
  for (const int order : {0, 1, 2, 4}) {
    const ByteCounts counts(text.learned, order);
    bits.push_back(counts.bits_per_byte(text.held_out));
    std::printf("bytes, counted%-24s %8s %10.2f %9d\n",
                order == 0   ? ""
                : order == 1 ? " behind 1 byte"
                             : formatted(" behind %d bytes", order).c_str(),
                "", bits.back(), int(counts.size()));
  }
}

void print_written(const std::vector<std::string>& names, const std::vector<std::string>& texts,
                   const Text& text) {
  std::printf("\n4. Of 1000 tokens that were written: words that are known\n");
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::printf("%-38s %7.0f %%\n", names[i].c_str(), 100 * known_words(texts[i], text.learned));
  }
  std::printf("\n5. The longest copy from the text that all could learn from\n");
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::printf("%-38s %7d bytes\n", names[i].c_str(), int(longest_copy(texts[i], text.learned)));
  }
}

void draw(const std::vector<Row>& table, const std::vector<double>& counts) {
  plot::Canvas canvas(1500, 520);
  const std::vector<plot::Rect> panels = plot::panels(canvas.area().inset(16), 1, 2);
  for (const std::size_t which : {1, 2}) {
    const Row& row = table[which];
    plot::LineChart chart{.title = which == 1 ? "The whole text" : "The first tenth",
                          .x_axis = {.name = "step"},
                          .y_axis = {.name = "bits per byte", .low = 0, .high = 6}};
    chart.series = {{.name = "text that it learns from", .x = row.at, .y = row.learned},
                    {.name = "held out", .x = row.at, .y = row.held_out, .markers = true}};
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
  std::printf("Step 75: training on a real text (takes about 40 seconds)\n\n");
  std::vector<Row> table = rows_of(text);
  Random random(1);
  std::printf("1. %s: %d tokens to learn from, %d held out; models of %d numbers\n",
              real.name.c_str(), int(text.train.shape[0]), int(text.test.shape[0]),
              int(Transformer(table[0].run.options, random).num_parameters()));
  std::printf("Bytes per token in the measured windows: %.2f learned, %.2f held out\n\n",
              bytes_per_token(text.tokenizer, text.train),
              bytes_per_token(text.tokenizer, text.test));
  std::vector<double> counts;
  print_counts(text, counts);
  std::vector<std::string> names, texts, says;
  for (Row& row : table) {
    const Transformer model = train_row(row, text, says);
    names.push_back(row.run.what);
    std::printf("%-38s %8.2f %10.2f %9d\n", names.back().c_str(), row.learned.back(),
                row.held_out.back(), int(model.num_parameters()));
    texts.push_back(written(model, text, 1000, 9));
  }
  std::printf("\n3. How the second model goes on after \"The\"\n");
  for (const std::string& line : says) std::printf("%s\n", line.c_str());
  names.push_back("tokens drawn by their frequency");
  texts.push_back(written_by_frequency(text, 1000, 9));
  names.push_back("the held-out text itself");
  texts.push_back(text.held_out.substr(0, texts[1].size()));
  print_written(names, texts, text);
  draw(table, counts);
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
