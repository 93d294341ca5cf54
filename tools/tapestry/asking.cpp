#include "asking.hpp"

#include <algorithm>
#include <cmath>

#include "screen.hpp"
#include "slow_progress.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/unicode.hpp"

namespace tapestry::command {
namespace {

std::int32_t token_named(const Subject& subject, const char* option, const std::string& word) {
  const std::int32_t id = subject.id(word);
  if (id >= 0) return id;
  if (subject.unit != "tokens" || word.empty()) {
    throw Error(std::string(option) + " " + in_quotes(word) + " is none of the model's " +
                subject.unit + ".");
  }
  std::string pieces;
  for (const std::int32_t piece : subject.encode(word).values) {
    const bool is_prefix = pieces.empty() && subject.word(piece) == "␣";  // of the tokenizer
    if (piece == subject.bos || is_prefix) continue;
    pieces += (pieces.empty() ? "" : ", ") + subject.word(piece);
  }
  throw Error(std::string(option) + " " + in_quotes(word) +
              " is not one token of the model, but: " + pieces +
              ". Name one; many begin with a blank, as in \" the\".");
}

// Where the model says something: a decoder at the end, an encoder for the first hidden word.
Index usual_place(const Subject& subject, const Indices& ids) {
  if (subject.guess != Guess::hidden_word) return ids.shape[0] - 1;
  const auto mask = std::find(ids.values.begin(), ids.values.end(), subject.mask);
  if (mask != ids.values.end()) return mask - ids.values.begin();
  const std::string hidden = subject.mask < 0 ? "" : subject.word(subject.mask);
  throw Error("the model predicts hidden words, not the next one: " +
              (hidden.empty() ? "" : "put " + hidden + " into the text, or ") +
              "name a --position.");
}

std::int32_t likeliest_other(const Tensor& logits, const Question& question) {
  Tensor others = logits.clone();  // (length, vocab_size)
  others.set({question.position, question.token}, -HUGE_VAL);
  return likeliest_token(others, question.position);
}

}  // namespace

std::string Asked::at(Index place) const {
  return reading.labels[static_cast<std::size_t>(place)] + "@" + std::to_string(place);
}

Words Asked::places() const {
  Words names;
  for (Index i = 0; i < reading.ids.shape[0]; ++i) names.push_back(at(i));
  return names;
}

void check_asked(const Subject& subject) {
  if (subject.model.is_one_head()) {
    throw Error(subject.path.string() +
                ": a single head has no layers to look into; analyze and why show it.");
  }
  if (!subject.model.options().has_logits) {
    throw Error(subject.path.string() +
                ": the model has no map to words, so none can be asked for.");
  }
}

std::function<void(Index made, Index all)> slow_progress(const char* what, const char* unit) {
  return SlowProgress(what, unit);
}

Asked open_asked(const AskOptions& options) {
  check_files(options, options);
  Asked asked{read_subject(options), {}, {}, 0, {}};
  check_asked(asked.subject);
  return asked;
}

void ask(Asked& asked, const AskOptions& options, Against against, const TokenNames& names) {
  const Subject& subject = asked.subject;
  asked.reading = read_text_for(subject, options.text);
  asked.question = {};
  const Index length = asked.reading.ids.shape[0];
  Question& question = asked.question;
  question.position =
      options.position ? *options.position : usual_place(subject, asked.reading.ids);
  if (question.position >= length) {
    throw Error("there is no position " + std::to_string(question.position) +
                ": the text's are 0 to " + std::to_string(length - 1) + ".");
  }
  const Tensor logits = asked.model()(asked.reading.ids);  // (length, vocab_size)
  question.token = options.token.empty() ? likeliest_token(logits, question.position)
                                         : token_named(subject, names.token, options.token);
  if (!options.against.empty()) {
    question.against = token_named(subject, names.against, options.against);
    if (question.against == question.token) {
      throw Error(std::string(names.token) + " and " + names.against + " are the same, " +
                  in_quotes(subject.word(question.token)) + ": name two.");
    }
  } else if (against == Against::needed) {
    question.against = likeliest_other(logits, question);
  }
  asked.answer = double{answer(logits, question).item()};
  asked.words = words_of(asked);
}

Asked ask(const AskOptions& options, Against against) {
  if (options.text.empty()) throw Error("give a text with --text, or many with --texts FILE.");
  Asked asked = open_asked(options);
  ask(asked, options, against);
  asked.question.progress = slow_progress("reading the text", "times");
  return asked;
}

std::string words_of(const Asked& asked) {
  const Subject& subject = asked.subject;
  const std::string token = subject.word(asked.question.token);
  const auto against = asked.question.against;
  return (against ? "logit(" + token + ") - logit(" + subject.word(*against) + ")"
                  : "ln p(" + token + ")") +
         (subject.guess == Guess::next_word ? " after " : " at ") +
         asked.at(asked.question.position);
}

void print_question(const Asked& asked) {
  print("%s\n",
        folded("model:  " + asked.subject.path.string() + ": " + asked.subject.description, 8)
            .c_str());
  print("%s\n", folded("text:   " + asked.reading.text, 8).c_str());
  const std::string probability =
      asked.question.against ? "" : formatted(" (p = %.4f)", std::exp(asked.answer));
  print("%s\n\n",
        folded("answer: " + asked.words + formatted(" = %.4f", asked.answer) + probability, 8)
            .c_str());
}

Findings findings_of(const std::string& command, const Asked& asked) {
  Findings findings{command,
                    {{"model", asked.subject.path.string()},
                     {"text", asked.reading.text},
                     {"question", asked.words}}};
  findings.numbers = {{"answer", asked.answer}};
  return findings;
}

}  // namespace tapestry::command
