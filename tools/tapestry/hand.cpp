// `tapestry hand`: a model whose heads are made of phrases or matrices, scored like a learned one.
#include "commands.hpp"
#include "findings.hpp"
#include "hand_heads.hpp"
#include "hand_model.hpp"
#include "heads.hpp"
#include "material.hpp"
#include "screen.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/io/checkpoint.hpp"
#include "tapestry/io/transformer_file.hpp"
#include "tapestry/unicode.hpp"

namespace tapestry::command {
namespace {

Index positions_for(const Material& material, const HandOptions& o) {
  const Index length = o.length.value_or(material.length);
  if (length >= material.length) return length;
  throw Error("--length " + std::to_string(length) + " is too short: texts of " + material.name +
              " take up to " + std::to_string(material.length) + " positions.");
}

HandModel make(const HandOptions& o) {
  const Material what = material(o.task, o.length.value_or(64));
  return make_by_hand(o.out, what, positions_for(what, o), o.sharpness, heads_in(o));
}

// An older file of this command may be replaced, but nothing that took time to learn.
void check_out(const Path& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return;
  try {
    if (read_checkpoint(path).weights.metadata.contains(hand_metadata_key)) return;
  } catch (const Error&) {  // no checkpoint at all
  }
  throw Error(path.string() +
              " exists and was not written by `tapestry hand`: name another --out.");
}

// ---- How well it does

// A learned model that knows the same words.
Model learned(const Path& path, const Material& material) {
  ModelFile file = read_model(path);
  const std::string of_task = "the words of " + material.name;
  if (file.vocabulary.words() != material.vocabulary.words()) {
    throw Error("--beside " + path.string() + " does not have " + of_task +
                ": take a model that was trained on it, or another --task.");
  }
  if (file.format.guess != Guess::next_word || !file.model.options().is_causal) {
    throw Error("--beside " + path.string() + " does not predict the next word.");
  }
  check_length(file.model.options(), material.length, "positions", "");
  return file.model;
}

Table score_table(const HandModel& made, const HandOptions& o) {
  const Batch batch = hand_test(made.material);
  Table table{"scores", "model", "score", {}, {"wholly right", "words right", "loss"}, {}};
  std::vector<real> values;
  const auto add = [&](const std::string& name, const HandScores& scores) {
    table.rows.push_back(name);
    for (const double one : {scores.whole, scores.right, scores.loss}) {
      values.push_back(static_cast<real>(one));
    }
  };
  add("made by hand", scores_of(made.file->model, batch));
  if (!o.beside.empty()) {
    const std::string name = printable(o.beside.filename().string());
    add(name, scores_of(learned(o.beside, made.material), batch));
  }
  add("equal chances", scores_of_chance(made.material.vocabulary.size(), batch));
  table.values = Tensor({std::ssize(table.rows), 3}, values);  // (models, 3)
  return table;
}

// "wholly right" only where a text has one right answer.
void print_scores(const Table& table, const Material& material) {
  print("%s\n", folded(formatted("%lld texts of %s, %s", (long long)hand_texts,
                                 material.name.c_str(), material.test_is.c_str()),
                       0)
                    .c_str());
  const bool whole = material.has_answers;
  print("%s%s   words right     loss\n", left("", 28).c_str(), whole ? "  wholly right" : "");
  for (Index i = 0; i < table.values.size(0); ++i) {
    const auto value = [&](Index column) { return double{table.values.at({i, column})}; };
    print("%s", left(table.rows[static_cast<std::size_t>(i)], 28).c_str());
    if (whole) print("  %10.1f %%", 100 * value(0));
    print("   %9.1f %%  %7.3f\n", 100 * value(1), value(2));
  }
  print("\n");
}

// ---- What it did with one text

Reading read_for(const Subject& subject, const std::string& text) {
  const Index length = subject.encode(text).shape[0], most = subject.limits.max_length;
  if (length <= most) return read_text_for(subject, text);
  throw Error("the text has " + std::to_string(length) + " " + subject.unit +
              (subject.in_front.empty() ? "" : ", " + subject.in_front + " included") +
              ", but the model has " + std::to_string(most) + " positions: give it more with " +
              "--length.");
}

void print_introduction(const HandModel& made, const Subject& subject, const Reading& reading) {
  print("%s\n", folded("model: made by hand, " + subject.description, 7).c_str());
  print("heads: %s\n", folded(made.words, 7).c_str());
  print("text:  %s\n\n", folded(reading.text, 7).c_str());
}

bool is_named(const HandModel& made, const Head& head) {
  for (const HandMadeHead& one : made.heads) {
    if (one.layer == head.layer && one.head == head.number) return true;
  }
  return false;
}

Findings findings_of(const HandModel& made, const Reading& reading, const std::vector<Head>& heads,
                     const Table& scores, const HandOptions& o) {
  Findings findings{"hand",
                    {{"model", o.out.string()},
                     {"heads", made.words},
                     {"task", made.material.name},
                     {"text", reading.text}},
                    {{"sharpness", o.sharpness}},
                    {scores}};
  for (const Head& head : heads) {
    findings.tables.push_back(
        {head.name(), "query", "key", reading.labels, reading.labels, head.weights});
  }
  return findings;
}

void print_end(const Path& out, const std::string& text) {
  print("wrote %s\n", out.c_str());
  print("try: tapestry analyze %s \\\n       %s\n",
        shell_option("--checkpoint", out.string()).c_str(), shell_option("--text", text).c_str());
}

}  // namespace

void hand(const HandOptions& options) {
  check_files(options);
  check_out(options.out);
  const HandModel made = make(options);
  const Subject subject = subject_of(made.file);
  const std::string text = options.text.empty() ? made.material.prompt : options.text;
  const Reading reading = read_for(subject, text);
  const Detected detected = detect(subject, reading.ids);
  const Cuts cuts = cuts_of(subject, reading.ids);
  const Table scores = score_table(made, options);
  const Capture seen;
  const Tensor logits = subject.model(reading.ids, {.need_weights = true});  // (length, words)
  std::vector<Head> heads = heads_of(subject, seen, -1, -1);
  std::erase_if(heads, [&](const Head& head) { return !is_named(made, head); });
  write_transformer(options.out, made.file->model.transformer(), made.metadata);
  print_introduction(made, subject, reading);
  for (const Head& head : heads) print_map(head, reading.labels);
  print_detectors(detected, heads, cuts, "");
  print_legend(baselines_of(subject.model));
  print_guesses(subject, reading, logits);
  print_scores(scores, made.material);
  write_files(findings_of(made, reading, heads, scores, options), options);
  print_end(options.out, text);
}

}  // namespace tapestry::command
