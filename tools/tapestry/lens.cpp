// `tapestry lens`: what a model would say after each layer.
#include "tapestry/analysis/lens.hpp"

#include <algorithm>
#include <cmath>

#include "asking.hpp"
#include "screen.hpp"
#include "tapestry/error.hpp"
#include "tapestry/file.hpp"
#include "tapestry/format.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/unicode.hpp"

namespace tapestry::command {
namespace {

// The tokens of a file in pieces that the model can read, the beginning token in front of each.
std::vector<Indices> pieces_of(const Subject& subject, const Path& path) {
  constexpr std::size_t longest = 64, shortest = 8, most = 512;
  std::string text;
  read_file("--fit", path, [&](std::ifstream& file, std::uint64_t bytes) {
    text.resize(static_cast<std::size_t>(std::min<std::uint64_t>(bytes, 1'000'000)));
    read_bytes(file, text.data(), text.size());
  });
  while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0x80) != 0) {
    text.pop_back();  // a character may be cut off
  }
  check_utf8(text);
  if (text.empty()) throw Error("--fit " + in_quotes(path.string()) + ": the file is empty.");
  const std::vector<std::int32_t> ids = subject.encode(text).values;
  const bool has_bos = subject.bos >= 0;
  const auto room = std::min<std::size_t>(longest, std::size_t(subject.limits.max_length)) -
                    static_cast<std::size_t>(has_bos);
  std::vector<Indices> pieces;
  for (std::size_t at = has_bos ? 1 : 0; at + shortest <= ids.size() && pieces.size() < most;
       at += room) {
    const std::size_t count = std::min(room, ids.size() - at);
    std::vector<std::int32_t> piece;
    if (has_bos) piece.push_back(subject.bos);
    const auto begin = ids.begin() + static_cast<std::ptrdiff_t>(at);
    piece.insert(piece.end(), begin, begin + static_cast<std::ptrdiff_t>(count));
    pieces.push_back(Indices({std::ssize(piece)}, piece));
  }
  if (pieces.size() < 2) {
    throw Error("--fit " + in_quotes(path.string()) +
                ": the text is too short to fit on; give "
                "some thousand words.");
  }
  return pieces;
}

// logits (layers + 1, length, vocab_size) at the position of the question: its answer, and the rank
// of its token, after each layer, (layers + 1, 2).
Tensor of_token(const Tensor& logits, const Question& question) {
  const Index layers = logits.size(0);
  Tensor result = Tensor::empty({layers, 2});
  const Tensor answers = answer(logits, question);  // (layers + 1)
  for (Index layer = 0; layer < layers; ++layer) {
    const std::vector<real> said =
        slice(slice(logits, 0, layer, layer + 1), 1, question.position, question.position + 1)
            .values();
    const real own = said[static_cast<std::size_t>(question.token)];
    const auto above = std::count_if(said.begin(), said.end(), [&](real x) { return x > own; });
    result.set({layer, 0}, double{answers.at({layer})});
    result.set({layer, 1}, static_cast<double>(above + 1));
  }
  return result;
}

// "␣time 0.91, ␣day 0.02": the likeliest tokens of a layer at the position.
std::string likeliest(const Asked& asked, const Tensor& logits, Index layer) {
  const Index place = asked.question.position;
  const Tensor said = slice(slice(logits, 0, layer, layer + 1), 1, place, place + 1);
  const std::vector<real> shares = softmax(said).values();
  std::vector<std::size_t> order(shares.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const std::size_t shown = std::min<std::size_t>(3, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shown), order.end(),
                    [&](std::size_t a, std::size_t b) { return shares[a] > shares[b]; });
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) {
    text += (text.empty() ? "" : ", ") + asked.subject.word(static_cast<std::int32_t>(order[i])) +
            formatted(" %.2f", double{shares[order[i]]});
  }
  return text;
}

Words after_layers(Index layers) {
  Words names = {"embedding"};
  for (Index i = 0; i < layers; ++i) names.push_back("layer " + std::to_string(i));
  return names;
}

Table print_lens(const Asked& asked, const Tensor& logits, const std::string& name) {
  const Table table{name,
                    "after",
                    "",
                    after_layers(logits.size(0) - 1),
                    {asked.question.against ? "difference" : "ln p", "rank"},
                    of_token(logits, asked.question)};
  print("%s\nafter          %s %s rank   says\n", name.c_str(),
        left(asked.question.against ? "difference" : "ln p of", 10).c_str(),
        left(asked.question.against ? "" : asked.subject.word(asked.question.token), 7).c_str());
  for (Index i = 0; i < logits.size(0); ++i) {
    print("%s %17s %6.0f   %s\n", left(table.rows[static_cast<std::size_t>(i)], 14).c_str(),
          two_digits(double{table.values.at({i, 0})}).c_str(), double{table.values.at({i, 1})},
          cut_to_width(likeliest(asked, logits, i), 36).c_str());
  }
  print("\n");
  return table;
}

// The probability of what the model says in the end, at every position: (layers + 1, length).
Table all_positions(const Asked& asked, const Tensor& logits) {
  const Index layers = logits.size(0), length = logits.size(1);
  const Tensor said = softmax(logits);  // (layers + 1, length, vocab_size)
  Table table{"probability",  "after",
              "position",     after_layers(layers - 1),
              asked.places(), Tensor::empty({layers, length})};
  const Tensor last = squeeze(slice(logits, 0, layers - 1, layers), 0);  // (length, vocab_size)
  for (Index place = 0; place < length; ++place) {
    const std::int32_t token = likeliest_token(last, place);
    table.columns[static_cast<std::size_t>(place)] += " → " + asked.subject.word(token);
    for (Index layer = 0; layer < layers; ++layer) {
      table.values.set({layer, place}, double{said.at({layer, place, token})});
    }
  }
  return table;
}

void print_fit(const AffineLens& lens) {
  print("%s\n", folded(formatted("Fitted on %lld positions; share of the variance after the last "
                                 "layer that each map explains on %lld others, and without a map:",
                                 (long long)lens.fitted, (long long)lens.held_out),
                       0)
                    .c_str());
  if (lens.held_out < 200) print("(few positions: these shares are rough)\n");
  const Words names = after_layers(std::ssize(lens.explained) - 1);
  for (std::size_t i = 0; i < lens.explained.size(); ++i) {
    print("%s %6.2f %8.2f\n", left(names[i], 14).c_str(), lens.explained[i], lens.unchanged[i]);
  }
  print("\n");
}

}  // namespace

void lens(const LensOptions& options) {
  const Asked asked = ask(options, Against::if_given);
  const Transformer& model = asked.model();
  const Indices& ids = asked.reading.ids;
  AffineLens fitted;
  if (!options.fit.empty()) fitted = fit_lens(model, pieces_of(asked.subject, options.fit));
  const Tensor plain = logit_lens(model, ids);  // (layers + 1, length, vocab_size)
  Findings findings = findings_of("lens", asked);
  print_question(asked);
  findings.tables = {print_lens(asked, plain, "the model's own last norm and map to words")};
  Tensor drawn = plain;
  if (!options.fit.empty()) {
    drawn = affine_lens(model, fitted, ids);
    findings.tables.push_back(print_lens(asked, drawn, "the same through a fitted map"));
    print_fit(fitted);
  }
  findings.tables.push_back(all_positions(asked, drawn));
  write_heatmap(findings.tables.back(),
                "After each layer: the probability of what is said in the end",
                asked.subject.path.filename().string(), options.path("lens"));
  write_files(findings, options);
}

}  // namespace tapestry::command
