// A question to a model about one text, as cut, patch, lens and attribute take it from the command
// line.
#pragma once

#include <functional>
#include <string>

#include "findings.hpp"
#include "subject.hpp"
#include "tapestry/analysis/question.hpp"
#include "tapestry/nn/transformer.hpp"

namespace tapestry::command {

struct Asked {
  Subject subject;
  Reading reading;
  Question question;  // with a position from 0 on
  double answer = 0;  // of the text as it is
  std::string words;  // "ln p(␣Lily) after ␣named@9", "logit(␣he) - logit(␣she) after ..."

  const Transformer& model() const { return subject.model.transformer(); }
  std::string at(Index place) const;  // "␣named@9"
  Words places() const;               // of all positions
};

// Throws Error for a single head, and for a model without logits.
void check_asked(const Subject& subject);

// Whether an answer needs a second token. Without --against it is then the likeliest other one.
enum class Against { if_given, needed };

// What the two tokens are called in errors.
struct TokenNames {
  const char *token = "--token", *against = "--against";
};

// Reads the model, but no text. Throws Error as check_asked, and for --json and --npy as
// check_files.
Asked open_asked(const AskOptions& options);

// Asks it about the text of these options. Without --token the likeliest one counts. Throws Error
// for a position that is not in the text, and for what is not one token.
void ask(Asked& asked, const AskOptions& options, Against against, const TokenNames& names = {});

// Both. Throws Error, too, without a text.
Asked ask(const AskOptions& options, Against against);

// "ln p(␣Lily) after ␣named@9", "logit(␣he) - logit(␣she) after ..."
std::string words_of(const Asked& asked);

// Tells, from the second second on, how much of such work is done: "reading the text", "times".
std::function<void(Index made, Index all)> slow_progress(const char* what, const char* unit);

// Prints model, text, question and answer.
void print_question(const Asked& asked);

// Begins findings with the same.
Findings findings_of(const std::string& command, const Asked& asked);

}  // namespace tapestry::command
