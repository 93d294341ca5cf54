// `tapestry patch`: which places of one text bring another text's answer.
#include "asking.hpp"
#include "screen.hpp"
#include "tapestry/analysis/patching.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/unicode.hpp"

namespace tapestry::command {
namespace {

// Both texts, and the question: the token that the one makes likeliest, against that of the other.
struct Pair {
  Asked clean;
  Reading corrupted;
};

Pair read_pair(const PatchOptions& options) {
  AskOptions asking = options;
  asking.text = options.from;
  Pair pair{ask(asking, Against::if_given), {}};
  const Subject& subject = pair.clean.subject;
  pair.corrupted = read_text_for(subject, options.text);
  const Index here = pair.corrupted.ids.shape[0], there = pair.clean.reading.ids.shape[0];
  if (here != there) {
    throw Error("--text has " + std::to_string(here) + " " + subject.unit + ", --from " +
                std::to_string(there) + ": both must be equally long, place by place (tapestry " +
                "tokens shows them).");
  }
  Question& question = pair.clean.question;
  if (!question.against) {
    const std::int32_t other =
        likeliest_token(pair.clean.model()(pair.corrupted.ids), question.position);
    if (other == question.token) {
      throw Error("both texts make " + in_quotes(subject.word(other)) +
                  " the likeliest: name what to ask for with --token and --against.");
    }
    question.against = other;
    pair.clean.words = words_of(pair.clean);
  }
  return pair;
}

void print_pair(const Pair& pair, const Patches& found) {
  const Asked& clean = pair.clean;
  print("%s\n",
        folded("model:  " + clean.subject.path.string() + ": " + clean.subject.description, 8)
            .c_str());
  print("%s\n", folded("from:   " + clean.reading.text, 8).c_str());
  print("%s\n", folded("text:   " + pair.corrupted.text, 8).c_str());
  print("%s\n\n",
        folded("answer: " + clean.words +
                   formatted(": %.4f in --from, %.4f in --text", found.clean, found.corrupted),
               8)
            .c_str());
}

// Labels of positions; where the texts differ, both words.
Words both_words(const Pair& pair) {
  Words labels;
  for (std::size_t i = 0; i < pair.corrupted.labels.size(); ++i) {
    const std::string &there = pair.clean.reading.labels[i], &here = pair.corrupted.labels[i];
    labels.push_back((here == there ? here : here + "←" + there) + "@" + std::to_string(i));
  }
  return labels;
}

Table link_table(const Pair& pair, const Tensor& links) {
  const Words places = both_words(pair);
  Table table{"links", "head: query", "key", {}, places, {}};
  const Index heads = links.size(0), queries = links.size(1);
  for (Index head = 0; head < heads; ++head) {
    for (Index query = 0; query < queries; ++query) {
      table.rows.push_back(std::to_string(head) + ": " + places[static_cast<std::size_t>(query)]);
    }
  }
  table.values = reshape(links, {heads * queries, links.size(2)});
  return table;
}

}  // namespace

void patch(const PatchOptions& options) {
  const Pair pair = read_pair(options);
  const Asked& clean = pair.clean;
  const Transformer& model = clean.model();
  const Indices &there = clean.reading.ids, &here = pair.corrupted.ids;
  const Index layers = model.options.num_layers;
  if (options.layer >= 0) check_layer(clean.subject, options.layer);
  const Patches found = tapestry::patch(model, there, here, clean.question);
  print_pair(pair, found);
  flush();
  Words streams = numbered(layers);
  streams.push_back("end");
  Findings findings = findings_of("patch", clean);
  findings.about[1] = {"text", pair.corrupted.text};
  findings.about.push_back({"from", clean.reading.text});
  findings.numbers = {{"answer_in_text", found.corrupted}, {"answer_in_from", found.clean}};
  findings.tables = {
      {"residual stream before each layer", "position", "layer", both_words(pair), streams,
       transpose(found.residual)},
      {"heads", "layer", "head", numbered(layers), numbered(model.options.num_heads), found.heads}};
  findings.tables.front().unit = "share of the way";
  if (options.layer >= 0) {
    const Tensor links = patch_links(model, there, here, clean.question, options.layer);
    findings.tables.push_back(link_table(pair, links));
  }
  print("%s\n\n", folded("How far the answer moves from that of --text towards that of --from when "
                         "one place is as in --from: 0 not at all, 1 all the way, above 1 beyond "
                         "it.",
                         0)
                      .c_str());
  for (const Table& table : findings.tables) print_table(table);
  if (options.layer >= 0) {
    print("A link is its weight alone; a head's output has the values of --from, too.\n\n");
  }
  write_heatmap(findings.tables.front(), "Patched: " + clean.words,
                clean.subject.path.filename().string(), options.path("patch"));
  write_files(findings, options);
}

}  // namespace tapestry::command
