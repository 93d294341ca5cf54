// `tapestry tokens`: a text as tokens, how it comes about, and a tokenizer of one's own.
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <iterator>

#include "commands.hpp"
#include "course/timing.hpp"
#include "screen.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/text/byte_pairs.hpp"
#include "tapestry/text/corpus.hpp"
#include "tapestry/unicode.hpp"
#include "token_text.hpp"

namespace tapestry::command {
namespace {

std::string shown_pieces(const std::vector<std::string>& pieces) {
  std::string text;
  for (const std::string& piece : pieces) text += (text.empty() ? "" : " | ") + shown(piece);
  return text.empty() ? "(nothing)" : text;
}

std::string named(const Tokenizer& tokenizer, const std::vector<std::int32_t>& ids) {
  std::string text;
  for (const std::int32_t id : ids) {
    text +=
        (text.empty() ? "" : " ") + shown(tokenizer.token(id)) + " (" + std::to_string(id) + ")";
  }
  return text;
}

void print_folded(const std::string& text) { print("%s\n", folded(text, 0).c_str()); }

// What stands around the text.
std::string ends_of(const Tokenizer& tokenizer) {
  const std::string front = named(tokenizer, tokenizer.front());
  const std::string back = named(tokenizer, tokenizer.back());
  return (front.empty() ? "No beginning token is put in front" : front + " is put in front") +
         (back.empty() ? "." : ", " + back + " behind.");
}

void print_row(const TokenizerStep& step, int indent) {
  const int columns = 26;
  const std::string name = std::string(static_cast<std::size_t>(indent), ' ') + step.name;
  print("%s  %s\n", left(name, columns).c_str(),
        folded(shown_pieces(step.pieces), columns + 2).c_str());
}

void print_steps(const TokenizerTrace& trace) {
  for (const TokenizerStep& step : trace.steps) print_row(step, 0);
  for (const std::vector<TokenizerStep>& piece : trace.pieces) {
    print("\n");
    for (std::size_t i = 0; i < piece.size(); ++i) print_row(piece[i], i == 0 ? 0 : 2);
  }
  print("\n");
}

// As bytes; those of WordPiece as they are spelled, with ## before what continues a word.
std::string shown_token(const Tokenizer& tokenizer, std::int32_t id) {
  if (tokenizer.is_special(id)) return shown(tokenizer.token(id)) + " (special)";
  return shown(tokenizer.kind() == "WordPiece" ? tokenizer.token(id) : tokenizer.bytes_of(id));
}

void print_table(const Tokenizer& tokenizer, const Indices& ids) {
  if (ids.values.empty()) return;
  print("\n%9s %9s  token\n", "position", "id");
  for (std::size_t i = 0; i < ids.values.size(); ++i) {
    const std::int32_t id = ids.values[i];
    print("%9zu %9d  %s\n", i, static_cast<int>(id),
          cut_to_width(shown_token(tokenizer, id), 59).c_str());
  }
}

std::string text_of(const TokensOptions& options) {
  if (options.text) return *options.text;
  if (::isatty(STDIN_FILENO)) {
    throw Error("give a text: tapestry tokens \"Once upon a time\" " +
                shell_option("--model", options.model.string()));
  }
  return std::string(std::istreambuf_iterator<char>(std::cin), {});
}

void show(const TokensOptions& options) {
  const Tokenizer tokenizer = read_tokenizer(options.model);
  const std::string text = text_of(options);
  Indices ids;
  if (options.why) {
    const TokenizerTrace trace = tokenizer.explain(text);
    print_steps(trace);
    ids = trace.ids;
  } else {
    ids = tokenizer.encode(text);
  }
  const std::size_t count = ids.values.size();
  print_folded(std::to_string(count) + (count == 1 ? " token" : " tokens") + " of " +
               std::to_string(text.size()) + (text.size() == 1 ? " byte; " : " bytes; ") +
               tokenizer.kind() + ", ids below " + std::to_string(tokenizer.size()) + ". " +
               ends_of(tokenizer));
  print_table(tokenizer, ids);
}

// Special tokens around the text count, since a model reads them.
void count(const TokensOptions& options) {
  const std::string text = text_of(options);
  const std::size_t tokens = read_tokenizer(options.model).encode(text).values.size();
  const double each = static_cast<double>(text.size()) / static_cast<double>(tokens);
  print("%zu %s, %zu %s%s\n", tokens, tokens == 1 ? "token" : "tokens", text.size(),
        text.size() == 1 ? "byte" : "bytes",
        text.empty() ? "" : formatted(", %.2f bytes per token", each).c_str());
}

void check_is_new(const Path& folder) {
  if (!std::filesystem::exists(folder)) return;
  if (std::filesystem::is_directory(folder) && std::filesystem::is_empty(folder)) return;
  throw Error("--out " + in_quotes(folder.string()) +
              ": it is there already, and not an empty folder. Name a new one.");
}

void learn(const TokensOptions& options) {
  check_is_new(options.out);
  const std::string text = read_text(options.train);
  print_folded("learning up to " + std::to_string(options.merges) + " merges from " +
               std::to_string(text.size()) + " bytes");
  flush();
  std::vector<BytePair> merges;
  const double seconds = seconds_of([&] { merges = learn_byte_pairs(text, options.merges); });
  write_byte_pairs(options.out, merges);
  print("%zu merges in %.1f s%s\n", merges.size(), seconds,
        static_cast<Index>(merges.size()) < options.merges ? ": no other pair stands twice" : "");
  for (std::size_t i = 0; i < std::min<std::size_t>(merges.size(), 5); ++i) {
    print("  %zu: %s + %s\n", i + 1, shown(merges[i].first).c_str(),
          shown(merges[i].second).c_str());
  }
  const Index tokens = byte_pair_tokenizer(merges).encode(text).shape[0];
  print_folded("the text has " + std::to_string(tokens) + " tokens" +
               formatted(", of %.2f bytes each",
                         static_cast<double>(text.size()) / static_cast<double>(tokens)));
  print_folded("wrote vocab.json, merges.txt and tokenizer.json in " +
               in_quotes(options.out.string()));
  print("\n  tapestry tokens %s \"...\"\n", shell_option("--model", options.out.string()).c_str());
}

}  // namespace

void tokens(const TokensOptions& options) {
  const bool learns = !options.train.empty();
  if (learns != !options.out.empty()) {
    throw Error("--train FILE and --out FOLDER go together: the new tokenizer needs a place.");
  }
  if (learns && (options.text || options.why || options.count || !options.model.empty())) {
    throw Error("--train makes a tokenizer; look at texts with it afterwards, with --model.");
  }
  if (!learns && options.model.empty()) {
    throw Error(
        "name a tokenizer: --model FOLDER or FILE (or make one: --train FILE --out FOLDER).");
  }
  if (options.why && options.count) {
    throw Error("--why shows each step, --count one line alone: leave one of them out.");
  }
  if (learns) return learn(options);
  options.count ? count(options) : show(options);
}

}  // namespace tapestry::command
