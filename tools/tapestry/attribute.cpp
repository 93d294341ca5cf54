// `tapestry attribute`: what each part writes towards one token and away from another.
#include "asking.hpp"
#include "screen.hpp"
#include "tapestry/analysis/attribution.hpp"
#include "tapestry/format.hpp"
#include "tapestry/ops.hpp"

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

}  // namespace

void attribute(const AskOptions& options) {
  const Asked asked = ask(options, Against::needed);
  const Attribution found = tapestry::attribute(asked.model(), asked.reading.ids, asked.question);
  const TransformerOptions& o = asked.model().options;
  Findings findings = findings_of("attribute", asked);
  findings.tables = {
      {"heads", "layer", "head", numbered(o.num_layers), numbered(o.num_heads), found.heads},
      {"layers", "layer", "part", numbered(o.num_layers), {"mlp", "bias"}, layers_of(found)}};
  findings.numbers.insert(findings.numbers.end(), {{"word", found.words},
                                                   {"position", found.positions},
                                                   {"token_type", found.token_types},
                                                   {"norm_bias", found.norm_bias},
                                                   {"logits_bias", found.logits_bias},
                                                   {"error", found.error}});
  findings.tables.front().unit = "logits";
  const Path picture = options.path("attribute");
  print_question(asked);
  for (const Table& table : findings.tables) print_table(table);
  print_rest(found);
  write_heatmap(findings.tables.front(), "What each head writes: " + asked.words,
                asked.subject.path.filename().string(), picture);
  write_files(findings, options);
}

}  // namespace tapestry::command
