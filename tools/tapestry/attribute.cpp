// `tapestry attribute`: what each part writes towards one token and away from another.
#include <algorithm>
#include <cmath>

#include "asking.hpp"
#include "screen.hpp"
#include "tapestry/analysis/attribution.hpp"
#include "tapestry/format.hpp"
#include "tapestry/ops.hpp"
#include "texts.hpp"

namespace tapestry::command {
namespace {

// Of each layer: feed-forward, and the bias of attention.
Tensor layers_of(const Attribution& found) {
  return stack({found.feed_forward, found.attention_bias}, 1);  // (layers, 2)
}

void print_rest(const Attribution& found) {
  std::string rest = "The word itself writes " + two_digits(found.words) + ", its position " +
                     two_digits(found.positions) + ", the norms' biases " +
                     two_digits(found.norm_bias) + ", the logits' biases " +
                     two_digits(found.logits_bias);
  if (found.token_types != 0) rest += ", the token type " + two_digits(found.token_types);
  print("%s.\n\n", folded(rest, 0).c_str());
  print("%s\n\n",
        folded(formatted("All of them add up to %.4f; the model's own difference is %.4f (%.1e "
                         "apart). The scale of the last norm is held at this text's. What later "
                         "layers make of a part counts as theirs: tapestry cut measures both.",
                         found.difference - found.error, found.difference, found.error),
               0)
            .c_str());
}

std::vector<Table> tables_of(const Attribution& found, const TransformerOptions& o) {
  return {{"heads", "layer", "head", numbered(o.num_layers), numbered(o.num_heads), found.heads,
           "logits"},
          {"layers", "layer", "part", numbered(o.num_layers), {"mlp", "bias"}, layers_of(found)}};
}

void draw(const Table& heads, const std::string& words, const std::string& subtitle,
          const Path& path) {
  write_heatmap(heads, "What each head writes: " + words, subtitle, path);
}

// What belongs to no layer, as a row.
Table rest_of(const Attribution& found) {
  Table table{"the rest", "", "", {"adds"}, {}, {}};
  table.columns = {"word", "place", "type", "norms", "logits"};
  std::vector<real> values;
  for (const double one :
       {found.words, found.positions, found.token_types, found.norm_bias, found.logits_bias}) {
    values.push_back(static_cast<real>(one));
  }
  table.values = Tensor({1, 5}, values);
  return table;
}

void attribute_many(const AskOptions& options) {
  double worst = 0;
  const Many many = ask_many(
      options, {.against = Against::needed, .places = options.position ? "--position" : ""},
      [&](Asked& asked, const Words&) {
        const Attribution found =
            tapestry::attribute(asked.model(), asked.reading.ids, asked.question);
        worst = std::max(worst, std::abs(found.error));
        std::vector<Table> tables = tables_of(found, asked.model().options);
        tables.push_back(rest_of(found));
        return tables;
      });
  Findings findings = findings_of("attribute", many);
  findings.numbers.push_back({"error", worst});
  print_question(many);
  print_tables(many);
  print("%s\n\n",
        folded(formatted("In each text the parts add up to the model's difference (at most "
                         "%.1e apart). The rest: the word itself, its position, its "
                         "token type, the biases of the norms and of the logits.",
                         worst),
               0)
            .c_str());
  draw(findings.tables.front(), many.words, subtitle_of(many), options.path("attribute"));
  write_files(findings, options);
}

}  // namespace

void attribute(const AskOptions& options) {
  if (!options.texts.empty()) return attribute_many(options);
  const Asked asked = ask(options, Against::needed);
  const Attribution found = tapestry::attribute(asked.model(), asked.reading.ids, asked.question);
  Findings findings = findings_of("attribute", asked);
  findings.tables = tables_of(found, asked.model().options);
  findings.numbers.insert(findings.numbers.end(), {{"word", found.words},
                                                   {"position", found.positions},
                                                   {"token_type", found.token_types},
                                                   {"norm_bias", found.norm_bias},
                                                   {"logits_bias", found.logits_bias},
                                                   {"error", found.error}});
  print_question(asked);
  for (const Table& table : findings.tables) print_table(table);
  print_rest(found);
  draw(findings.tables.front(), asked.words, asked.subject.path.filename().string(),
       options.path("attribute"));
  write_files(findings, options);
}

}  // namespace tapestry::command
