// `tapestry generate`: texts from a decoder, word after word.
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <iostream>
#include <iterator>

#include "commands.hpp"
#include "course/timing.hpp"
#include "screen.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/text/text_stream.hpp"
#include "tapestry/unicode.hpp"
#include "writer.hpp"

namespace tapestry::command {
namespace {

// A text on the screen as it grows. Control characters are replaced, since a terminal would obey
// them; line ends and tabs stay. Where words are folded, a line has 80 columns.
class Page {
 public:
  explicit Page(bool folds) : folds_(folds) {}

  void show(const std::string& text) {
    constexpr int columns = 80;
    if (text.empty()) return;
    std::string safe = harmless(text);
    const int width = display_width(safe);
    if (folds_ && safe[0] == ' ' && column_ + width > columns) {
      safe[0] = '\n';
      column_ = width - 1;
    } else {
      column_ += width;
    }
    print("%s", safe.c_str());
    flush();
  }

 private:
  static std::string harmless(const std::string& text) {
    std::string safe;
    for (const char32_t point : decode_utf8(text)) {
      const bool obeyed = is_control_code(point) && point != U'\n' && point != U'\t';
      safe += obeyed ? "?" : encode_utf8(point);
    }
    return safe;
  }

  bool folds_;
  int column_ = 0;
};

// The words chosen so far: shown as a text, or each with its probability.
class Display {
 public:
  Display(const Writer& writer, const GenerateOptions& options)
      : writer_(writer), page_(writer.folds), stream_(options.stop), lists_(options.probabilities) {
    if (lists_) print("probability  word\n");
    TextStream prompt;  // in which no stop word counts
    for (const std::int32_t id : writer.prompt.values) {
      const std::string shown = prompt.add(next_bytes(id));
      if (!lists_) page_.show(shown);
    }
    if (!lists_) page_.show(prompt.finish());
  }

  void add(const GenerationStep& step) {
    const std::string bytes = next_bytes(step.chosen);
    const bool is_end = writer_.ends(step.chosen);  // and no part of the text
    const std::string shown = is_end ? "" : stream_.add(bytes);
    ended_ = is_end || stream_.stopped();
    if (!lists_) return page_.show(shown);
    print("%11.4f  %s\n", probability(step), in_quotes(bytes).c_str());
    flush();
  }
  bool ended() const { return ended_; }

  void finish() {
    if (!lists_) page_.show(stream_.finish());
    if (!lists_) print("\n");
    flush();  // before what is said on standard error
  }

 private:
  std::string next_bytes(std::int32_t id) {
    const std::string bytes = writer_.bytes_of(id, is_first_);
    is_first_ = is_first_ && bytes.empty();
    return bytes;
  }

  // The model's own, whatever temperature and the like make of it.
  static double probability(const GenerationStep& step) {
    const Tensor all = sampling_probabilities(step.logits);
    return static_cast<double>(all.at({step.chosen}));
  }

  const Writer& writer_;
  Page page_;
  TextStream stream_;
  bool lists_, is_first_ = true, ended_ = false;
};

// When words came, to tell how many a second.
class Pace {
 public:
  Pace() : begin_(now()) {}

  void word() {
    last_ = now();
    if (words_++ == 0) first_ = last_;
  }
  void report(const Writer& writer) const {
    const Index length = writer.prompt.shape[0];
    const std::string front =
        writer.in_front.empty() ? "nothing put in front" : writer.in_front + " in front";
    std::string line = formatted("%lld tokens", static_cast<long long>(words_));
    if (words_ > 1)
      line += formatted(", %.1f a second", static_cast<double>(words_ - 1) / (last_ - first_));
    line += formatted("; prompt: %lld tokens (%s) in %.3g s", static_cast<long long>(length),
                      front.c_str(), words_ > 0 ? first_ - begin_ : 0.0);
    warn(line);
  }

 private:
  Index words_ = 0;
  double begin_, first_ = 0, last_ = 0;
};

bool is_piped() {
  struct stat status{};
  return ::fstat(STDIN_FILENO, &status) == 0 &&
         (S_ISFIFO(status.st_mode) || S_ISREG(status.st_mode));
}

std::string prompt_of(const GenerateOptions& options) {
  constexpr std::size_t most = 1 << 24;
  if (options.text && *options.text != "-") return *options.text;
  if (!options.text && !is_piped()) return "";
  std::string text;
  for (char c; text.size() <= most && std::cin.get(c);) text += c;
  if (text.size() > most) throw Error("the prompt from standard input has more than 16 MB.");
  if (text.ends_with('\n')) text.pop_back();  // of the last line
  return text;
}

Writer writer_for(const GenerateOptions& options) {
  if (options.checkpoint.empty() && options.model.empty()) {
    throw Error("--checkpoint is required, or --model.");
  }
  const std::string prompt = prompt_of(options);
  return options.model.empty() ? writer_of_checkpoint(options.checkpoint, prompt)
                               : writer_of_folder(options.model, options.adapters, prompt);
}

}  // namespace

void generate(const GenerateOptions& options) {
  GenerationOptions how;
  how.sampling = {options.temperature, options.top_k, options.top_p};
  how.repetition_penalty = options.repetition_penalty;
  const Tensor any = Tensor::zeros({1});
  (void)sampling_probabilities(without_repetition(any, Indices({0}, {}), how.repetition_penalty),
                               how.sampling);  // before anything is shown
  const TextStream checked(options.stop);
  const Writer writer = writer_for(options);
  how.max_new_tokens = options.length >= 0 ? options.length : writer.length;
  for (Index i = 0; i < options.count; ++i) {
    Pace pace;
    Display display(writer, options);
    Random random(std::uint64_t(options.seed), std::uint64_t(i));
    how.after_step = [&](const GenerationStep& step) {
      pace.word();
      display.add(step);
    };
    how.stop = [&] { return display.ended(); };
    (void)tapestry::generate(writer.begin(), writer.prompt, random, how);
    display.finish();
    if (!writer.folds && i + 1 < options.count) print("\n");
    if (writer.reports) pace.report(writer);
  }
}

}  // namespace tapestry::command
