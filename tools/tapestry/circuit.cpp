// `tapestry circuit`: what a head does by its weights alone.
#include "tapestry/analysis/circuit.hpp"

#include <algorithm>

#include "asking.hpp"
#include "screen.hpp"
#include "tapestry/analysis/cuts.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/unicode.hpp"

namespace tapestry::command {
namespace {

// The tokens of a text, each once, without the one in front; of a small vocabulary all words.
Indices tokens_of(const Subject& subject, const std::string& text) {
  constexpr Index few = 40, most = 200;
  const Index words = subject.model.options().vocab_size;
  std::vector<std::int32_t> ids;
  if (text.empty() && words > few) return Indices({0}, {});
  if (text.empty()) {
    for (std::int32_t id = 0; id < words; ++id) ids.push_back(id);
  } else {
    for (const std::int32_t id : subject.encode(text).values) {
      if (id != subject.bos && std::find(ids.begin(), ids.end(), id) == ids.end())
        ids.push_back(id);
    }
  }
  if (std::ssize(ids) > most) {
    throw Error("--text has " + std::to_string(ids.size()) + " different " + subject.unit +
                ": at most " + std::to_string(most) + " fit into a table.");
  }
  return Indices({std::ssize(ids)}, ids);
}

Words labels_of(const Subject& subject, const Indices& tokens) {
  Words labels;
  for (const std::int32_t id : tokens.values) labels.push_back(subject.word(id));
  return labels;
}

// ---- Singular values

Table singular_values(const Circuit& head) {
  const Tensor qk = query_key_singular_values(head).values;
  const Tensor ov = output_value_singular_values(head).values;
  const Index rank = std::min(qk.size(0), ov.size(0));
  return {
      "singular values", "of",           "",
      {"QK", "OV"},      numbered(rank), stack({slice(qk, 0, 0, rank), slice(ov, 0, 0, rank)}, 0)};
}

void print_singular_values(const Table& table) {
  constexpr Index most = 8;
  const Index rank = table.values.size(1);
  for (Index i = 0; i < 2; ++i) {
    std::string text = table.rows[static_cast<std::size_t>(i)] + ":";
    for (Index j = 0; j < std::min(most, rank); ++j) {
      text += formatted(" %.3g", double{table.values.at({i, j})});
    }
    if (rank > most) text += formatted(" ... %.3g", double{table.values.at({i, rank - 1})});
    print("%s\n", folded("singular values of " + text, 2).c_str());
  }
  print("\n");
}

// ---- Composition

Table composition_table(const Compositions& found) {
  Table table{"composition with earlier heads", "head", "by", {}, {"Q", "K", "V"}, {}};
  table.values = Tensor::empty({std::ssize(found.heads), 3});
  Index row = 0;
  for (const Composition& one : found.heads) {
    table.rows.push_back(std::to_string(one.layer) + "." + std::to_string(one.head));
    const double values[] = {one.query, one.key, one.value};
    for (Index i = 0; i < 3; ++i) table.values.set({row, i}, values[i]);
    ++row;
  }
  return table;
}

void print_compositions(const Compositions& found, const Table& table) {
  if (found.heads.empty()) return print("a head of the first layer builds on no other head\n\n");
  if (table.values.size(0) <= 24) {
    print_table(table);
  } else {
    constexpr Index most = 8;
    print("%s, the largest\n", table.name.c_str());
    for (Index column = 0; column < 3; ++column) {
      std::vector<std::size_t> order(found.heads.size());
      for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
      const auto value = [&](std::size_t i) {
        return double{table.values.at({static_cast<Index>(i), column})};
      };
      std::sort(order.begin(), order.end(),
                [&](std::size_t a, std::size_t b) { return value(a) > value(b); });
      std::string text = table.columns[static_cast<std::size_t>(column)] + ":";
      for (Index i = 0; i < most; ++i) {
        const std::size_t at = order[static_cast<std::size_t>(i)];
        text += " " + table.rows[at] + formatted(" %.2f,", value(at));
      }
      text.pop_back();
      print("%s\n", folded(text, 3).c_str());
    }
  }
  const auto random = [](const Spread& s) { return formatted("%.2f ±%.2f", s.mean, s.deviation); };
  print("%s\n\n", folded("random matrices of these shapes: Q " + random(found.query) + ", K " +
                             random(found.key) + ", V " + random(found.value),
                         0)
                      .c_str());
}

// ---- Tables of tokens

void print_boosted(const Subject& subject, const Circuit& head, const Indices& tokens) {
  constexpr std::size_t most = 12;
  constexpr Index shown = 5;
  print("what attending to a %s raises most\n", subject.unit == "tokens"  ? "token"
                                                : subject.unit == "words" ? "word"
                                                                          : "character");
  for (std::size_t i = 0; i < std::min(most, tokens.values.size()); ++i) {
    std::string text = left(subject.word(tokens.values[i]), 14) + " ";
    const auto found = most_boosted(subject.model.transformer(), head, tokens.values[i], shown);
    for (const BoostedToken& one : found) {
      text += subject.word(one.token) + formatted(" %.2f, ", one.logit);
    }
    print("%s\n", cut_to_width(text.substr(0, text.size() - 2), 80).c_str());
  }
  if (tokens.values.size() > most) print("(of the first %zu)\n", most);
  print("\n");
}

std::optional<Circuit> keys_from(const Subject& subject, const std::string& name) {
  if (name.empty()) return std::nullopt;
  ModelPart part{PartKind::link};
  try {
    part = parse_part(name);
  } catch (const Error&) {  // its words offer more than heads
  }
  if (part.kind != PartKind::head) throw Error("--from must name a head, as in --from 0.3.");
  check_layer(subject, part.layer);
  check_head(subject, part.head);
  return tapestry::circuit(subject.model.transformer(), part.layer, part.head);
}

void add_token_tables(Findings& findings, const Subject& subject, const Circuit& head,
                      const CircuitOptions& options, const Indices& tokens) {
  const Transformer& model = subject.model.transformer();
  const Words labels = labels_of(subject, tokens);
  const auto from = keys_from(subject, options.from);
  const std::string what = from ? "QK with keys as head " + options.from + " writes them" : "QK";
  findings.tables.insert(
      findings.tables.begin(),
      {{what + ": scores", "query", "key", labels, labels, token_scores(model, head, tokens, from)},
       {"OV: logits", "attended to", "raises", labels, labels,
        token_logit_table(model, head, tokens)}});
}

}  // namespace

void circuit(const CircuitOptions& options) {
  check_files(options, options);
  const Subject subject = read_subject(options);
  check_asked(subject);
  check_layer(subject, options.layer);
  check_head(subject, options.head);
  const Transformer& model = subject.model.transformer();
  const Circuit head = tapestry::circuit(model, options.layer, options.head);
  const Compositions built = compositions(model, options.layer, options.head);
  const std::string name =
      formatted("head %lld of layer %lld", (long long)options.head, (long long)options.layer);
  Findings findings{"circuit",
                    {{"model", subject.path.string()},
                     {"head", to_string({.layer = options.layer, .head = options.head})}}};
  findings.tables = {singular_values(head), composition_table(built)};
  const Indices tokens = tokens_of(subject, options.text);
  if (!tokens.values.empty()) add_token_tables(findings, subject, head, options, tokens);
  print("%s\n", folded("model:  " + subject.path.string() + ": " + subject.description, 8).c_str());
  print("%s, by its weights alone: words without positions\n\n", name.c_str());
  print_singular_values(singular_values(head));
  print_compositions(built, composition_table(built));
  if (tokens.values.empty()) {
    print("%s\n", folded("tables of tokens: name the tokens with --text.", 0).c_str());
    return write_files(findings, options);
  }
  findings.tables[0].unit = "score";
  findings.tables[1].unit = "logits";
  for (std::size_t i = 0; i < 2; ++i) print_table(findings.tables[i]);
  print_boosted(subject, head, tokens);
  const std::string model_name = subject.path.filename().string();
  write_heatmap(findings.tables[0], "QK of " + name, model_name, options.path("circuit_qk"));
  write_heatmap(findings.tables[1], "OV of " + name, model_name, options.path("circuit_ov"));
  write_files(findings, options);
}

}  // namespace tapestry::command
