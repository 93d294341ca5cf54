// `tapestry patch`: which places of one text bring another text's answer.
#include <algorithm>
#include <cmath>

#include "asking.hpp"
#include "screen.hpp"
#include "tapestry/analysis/patching.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/unicode.hpp"
#include "texts.hpp"

namespace tapestry::command {
namespace {

// Both texts, and the question: the token that the one makes likeliest, against that of the other.
struct Pair {
  Asked& clean;
  Reading corrupted;
};

// Where both texts answer alike, shares of the way from one to the other have no meaning.
void check_gap(const Pair& pair, const char* const (&names)[2]) {
  const Asked& clean = pair.clean;
  const auto answer_to = [&](const Reading& reading) {
    return double{answer(clean.model()(reading.ids), clean.question).item()};
  };
  const double there = answer_to(clean.reading), here = answer_to(pair.corrupted);
  if (have_gap(there, here)) return;
  throw Error(
      std::string(names[0]) + " and " + names[1] + " give the same answer, " + clean.words +
      formatted(" = %.4f", there) +
      ": nothing can be brought from one to the other. Name two tokens about which they " +
      "disagree with --token and --against (tapestry lens shows what a text makes likely), " +
      "or change a word before that position.");
}

// `names` are those of both texts in errors, the clean one first.
Pair pair_of(Asked& clean, const std::string& text, const char* const (&names)[2]) {
  const Subject& subject = clean.subject;
  Pair pair{clean, read_text_for(subject, text)};
  const Index here = pair.corrupted.ids.shape[0], there = clean.reading.ids.shape[0];
  if (here != there) {
    throw Error(std::string(names[1]) + " has " + std::to_string(here) + " " + subject.unit + ", " +
                names[0] + " " + std::to_string(there) + ": both must be equally long, place by " +
                "place (tapestry tokens shows them).");
  }
  Question& question = clean.question;
  if (!question.against) {
    const std::int32_t other =
        likeliest_token(clean.model()(pair.corrupted.ids), question.position);
    if (other == question.token) {
      throw Error("both texts make " + in_quotes(subject.word(other)) +
                  " the likeliest: nothing can be brought from one to the other. Name two tokens " +
                  "about which they disagree with --token and --against.");
    }
    question.against = other;
    clean.words = words_of(clean);
  }
  check_gap(pair, names);
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

struct Found {
  Patches patches;
  std::vector<Table> tables;
};

Found patched(const Pair& pair, Index links_of) {
  const Asked& clean = pair.clean;
  const Transformer& model = clean.model();
  const Indices &there = clean.reading.ids, &here = pair.corrupted.ids;
  const Index layers = model.options.num_layers;
  const Patches found = tapestry::patch(model, there, here, clean.question);
  Words streams = numbered(layers);
  streams.push_back("end");
  std::vector<Table> tables = {
      {"residual stream before each layer", "position", "layer", both_words(pair), streams,
       transpose(found.residual), "share of the way"},
      {"heads", "layer", "head", numbered(layers), numbered(model.options.num_heads), found.heads,
       "share of the way"}};
  if (links_of >= 0) {
    const Tensor links = patch_links(model, there, here, clean.question, links_of);
    tables.push_back(link_table(pair, links));
  }
  return {found, tables};
}

void print_meaning(const std::string& from, const std::string& text) {
  print("%s\n\n", folded("How far the answer moves from that of " + text + " towards that of " +
                             from + " when one place is as in " + from +
                             ": 0 not at all, 1 all the way, above 1 beyond it.",
                         0)
                      .c_str());
}

void draw(const Findings& findings, const std::string& words, const std::string& subtitle,
          const PatchOptions& options) {
  if (options.layer >= 0) {
    print("A link is its weight alone; a head's output has the values of FROM, too.\n\n");
  }
  write_heatmap(findings.tables.front(), "Patched: " + words, subtitle, options.path("patch"));
  write_files(findings, options);
}

void patch_one(const PatchOptions& options) {
  if (options.from.empty()) throw Error("--from is required, or --texts.");
  if (options.text.empty()) throw Error("--text is required, or --texts.");
  AskOptions asking = options;
  asking.text = options.from;
  Asked clean = ask(asking, Against::if_given);
  const Pair pair = pair_of(clean, options.text, {"--from", "--text"});
  if (options.layer >= 0) check_layer(clean.subject, options.layer);
  const Found found = patched(pair, options.layer);
  print_pair(pair, found.patches);
  flush();
  Findings findings = findings_of("patch", clean);
  findings.about[1] = {"text", pair.corrupted.text};
  findings.about.push_back({"from", clean.reading.text});
  findings.numbers = {{"answer_in_text", found.patches.corrupted},
                      {"answer_in_from", found.patches.clean}};
  findings.tables = found.tables;
  print_meaning("--from", "--text");
  for (const Table& table : findings.tables) print_table(table);
  draw(findings, clean.words, clean.subject.path.filename().string(), options);
}

// Of many pairs: how the answers differ, which the shares are shares of.
class Gaps {
 public:
  void add(const Patches& found) {
    clean_.push_back(found.clean);
    corrupted_.push_back(found.corrupted);
    least_ = std::min(least_, std::abs(found.clean - found.corrupted));
  }

  void print_them() const {
    print("%s\n\n",
          folded("Answers: " + mean_text(clean_) + " in FROM, " + mean_text(corrupted_) +
                     formatted(" in TEXT; the smallest gap is %.3g", least_) +
                     (least_ < 0.1 ? ". A share of so small a gap says little, and moves the means:"
                                     " leave out pairs whose answers are nearly the same."
                                   : "."),
                 0)
              .c_str());
  }

 private:
  std::vector<double> clean_ = {}, corrupted_ = {};
  double least_ = HUGE_VAL;
};

void patch_many(const PatchOptions& options) {
  Gaps gaps;
  const std::string places = options.position ? "--position" : options.layer >= 0 ? "--layer" : "";
  const auto look = [&](Asked& clean, const Words& columns) {
    if (options.layer >= 0) check_layer(clean.subject, options.layer);
    const Pair pair = pair_of(clean, columns[1], {"FROM", "TEXT"});
    const Found found = patched(pair, options.layer);
    clean.answer = found.patches.clean;
    gaps.add(found.patches);
    return found.tables;
  };
  const Many many = ask_many(options, {.texts = 2, .places = places}, look);
  const Findings findings = findings_of("patch", many);
  print_question(many);
  gaps.print_them();
  print_meaning("FROM", "TEXT");
  print_tables(many);
  draw(findings, many.words, subtitle_of(many), options);
}

}  // namespace

void patch(const PatchOptions& options) {
  options.texts.empty() ? patch_one(options) : patch_many(options);
}

}  // namespace tapestry::command
