// A question to a model about one text, as cut, patch, lens and attribute take it from the command
// line.
#pragma once

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

// Reads model and text. Without --token the likeliest one counts. Throws Error as
// check_asked, for a position that is not in the text, and for what is not one token.
Asked ask(const AskOptions& options, Against against);

// "ln p(␣Lily) after ␣named@9", "logit(␣he) - logit(␣she) after ..."
std::string words_of(const Asked& asked);

// Prints model, text, question and answer.
void print_question(const Asked& asked);

// Begins findings with the same.
Findings findings_of(const std::string& command, const Asked& asked);

}  // namespace tapestry::command
