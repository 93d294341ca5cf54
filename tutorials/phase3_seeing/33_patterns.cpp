// Step 33. When may a head be called a "previous word head"?
//
// New here: detectors. Each gives a head a score between 0 and 1 for one pattern, as a mean over
// 300 sentences. A name takes a score well above what the same model scores untrained and what
// uniform attention would, in three sentences of four. What passes for induction is read again
// with the prompt's letters in another order, where place and letter disagree. And beside the name
// stands what the model says without the head.
// Reads the models of steps 23 and 26; writes out/plots/phase3_patterns.png; takes about 2 seconds.
#include <cstdio>
#include <string>
#include <vector>

#include "course/evidence_pictures.hpp"
#include "course/grammar.hpp"
#include "course/inside.hpp"
#include "course/tasks.hpp"
#include "tapestry/analysis/evidence.hpp"
#include "tapestry/error.hpp"
#include "tapestry/io/transformer_file.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/text/input_format.hpp"

using namespace tapestry;

namespace {

constexpr Index sentences = 300;
constexpr std::size_t drawn = 6;  // patterns: all but uniform and sparse, which say the least

// What each layer's heads do with a batch, in the rows that have a target. Padding needs no mask:
// these models do not look ahead, or their sentences are of one length.
std::vector<Attended> attended(const Transformer& model, const Batch& batch) {
  std::vector<Attended> layers;
  for (const Tensor& weights : weights_of(model, batch.inputs)) {  // (rows, heads, length, length)
    layers.push_back({weights, rows_with_targets(batch, model.options.is_causal), batch.inputs});
  }
  return layers;
}

// A model, sentences, and the same sentences with words in another order.
struct Subject {
  std::string name;
  Transformer model;
  Initializer start;  // how its weights began
  Batch text, shuffled;
};

Transformer read_model(const std::string& name) {
  return read_transformer("out/checkpoints/" + name + "_model.safetensors",
                          "steps 23 and 26 train and save them. Type: make phase2");
}

// Sentences of the grammar with one word hidden, as in step 23.
Subject grammar_subject() {
  const Grammar grammar;
  std::vector<Words> texts, mixed;
  Random random(5), hide(6), hide_again(6);
  while (std::ssize(texts) < sentences) {
    const Sentence sentence = grammar.sentence(random);
    texts.push_back(sentence.words);
    mixed.push_back(shuffled(sentence, random).words);
  }
  const Vocabulary vocabulary(grammar.words());
  return {"grammar", read_model("multi_head"), init::normal,
          masked_lm_batch(vocabulary, texts, hide), masked_lm_batch(vocabulary, mixed, hide_again)};
}

// Sequences of a task; shuffled, the letters of the prompt have changed places.
Subject task_subject(TaskKind kind, TaskSize size) {
  const TinyTask task(kind, size);
  std::vector<TaskSequence> sequences, mixed;
  Random random(5);
  while (std::ssize(sequences) < sentences) {
    sequences.push_back(task.sequence(Part::held_out, random));
    mixed.push_back(with_mixed_prompt(sequences.back(), random));
  }
  return {to_string(kind), read_model(to_string(kind)), init::lecun_normal, task.batch(sequences),
          task.batch(mixed)};
}

struct Table {  // of all models, for the picture
  std::vector<std::string> heads;
  std::vector<double> scores;  // head by head
};

using Evidences = std::vector<std::vector<std::vector<Evidence>>>;  // by layer and head

Evidences evidence_of(const Subject& subject) {
  const auto seen = attended(subject.model, subject.text),
             before = attended(untrained(subject.model, subject.start), subject.text),
             mixed = attended(subject.model, subject.shuffled);
  Evidences result;
  for (std::size_t layer = 0; layer < seen.size(); ++layer) {
    result.push_back(pattern_evidence(seen[layer], before[layer], mixed[layer]));
  }
  return result;
}

// By how much the log-probability falls without these heads.
double fall(const Subject& subject, const std::vector<HeadOf>& cut,
            Replacement by = Replacement::zero) {
  return said_without(subject.model, subject.text, {}).log_probability -
         said_without(subject.model, subject.text, cut, by).log_probability;
}

// Heads of a layer cut together: those with a name, and those without. In brackets: set to their
// mean.
void print_joint_cuts(const Subject& subject, const Evidences& evidence) {
  for (std::size_t layer = 0; layer < evidence.size(); ++layer) {
    std::vector<HeadOf> named, others;
    for (std::size_t head = 0; head < evidence[layer].size(); ++head) {
      const bool has_name = head_name(evidence[layer][head]) != "none";
      (has_name ? named : others).push_back({static_cast<Index>(layer), static_cast<Index>(head)});
    }
    const auto print = [&](const std::vector<HeadOf>& cut, const char* what) {
      if (cut.size() < 2) return;
      std::printf("  layer %zu, the %zu %-54s %7.3f (%.3f)\n", layer, cut.size(), what,
                  fall(subject, cut), fall(subject, cut, Replacement::mean));
    };
    print(named, "with a name together");
    print(others, "without one together");
  }
}

void examine(const Subject& subject, Table& table) {
  const Evidences evidence = evidence_of(subject);
  for (std::size_t layer = 0; layer < evidence.size(); ++layer) {
    for (std::size_t head = 0; head < evidence[layer].size(); ++head) {
      const std::string number =
          subject.name + " " + std::to_string(layer) + "." + std::to_string(head);
      const double lost = fall(subject, {{static_cast<Index>(layer), static_cast<Index>(head)}});
      std::printf("%s\n", evidence_line(number, evidence[layer][head], lost).c_str());
      table.heads.push_back(number);
      for (std::size_t pattern = 0; pattern < drawn; ++pattern) {
        table.scores.push_back(evidence[layer][head][pattern].score.mean);
      }
    }
  }
  print_joint_cuts(subject, evidence);
}

// A mean can hide two kinds of sentences: the score of one head by the place of the hidden word.
void print_by_hidden_word(const Subject& subject) {
  const Attended seen = attended(subject.model, subject.text)[0];
  const Tensor scores =  // (sentences, heads)
      pattern_score(Pattern::previous, seen.weights, seen.mask);
  std::printf(
      "\nGrammar 0.0, weight on the word before, by the hidden word (the first has none)\n");
  const Index length = subject.text.inputs.shape[1];
  for (Index place = 1; place < length; ++place) {
    double sum = 0, count = 0;
    for (Index row = 0; row < sentences; ++row) {
      if (subject.text.targets.values[static_cast<std::size_t>(row * length + place)] < 0) continue;
      sum += double{scores.at({row, 0})};
      count += 1;
    }
    std::printf("  word %td: %.2f", place, sum / count);
  }
  std::printf("\n");
  const Evidences all = evidence_of(subject);
  const auto print = [&](std::size_t head, Pattern pattern, const char* word) {
    const Evidence& one = all[0][head][static_cast<std::size_t>(pattern)];
    std::printf("Grammar 0.%zu, weight on the %s: %.2f; at least 0.5 in %.0f %% of sentences\n",
                head, word, one.score.mean, 100 * one.holds);
  };
  print(0, Pattern::previous, "word before");
  print(3, Pattern::next, "next word");
}

// A larger start makes narrow rows (step 31): a second baseline for the grammar's "sparse" head.
void print_larger_start(Subject subject) {
  subject.start = init::lecun_normal;
  const Spread sparse =
      evidence_of(subject)[0][0][static_cast<std::size_t>(Pattern::sparse)].untrained;
  std::printf("Grammar 0.0, sparse, untrained from the larger start of step 31: %.2f\n",
              sparse.mean);
}

}  // namespace

int main() try {
  std::printf("Step 33: patterns, and names for heads (takes about 2 seconds)\n\n");
  std::printf("%43s mixed   disagree:  without\n", "");
  std::printf("layer.head    name           score holds untr. even words  letter place the head\n");
  Table table;
  const std::vector<Subject> subjects = {
      grammar_subject(), task_subject(TaskKind::copy, {.shortest = 5, .longest = 5}),
      task_subject(TaskKind::induction, {.longest = 6})};
  for (const Subject& subject : subjects) examine(subject, table);
  print_by_hidden_word(subjects[0]);
  print_larger_start(subjects[0]);
  plot::write_png(plot::render(evidence_map(table.heads, drawn, table.scores)),
                  "out/plots/phase3_patterns.png");
  std::printf("\nwrote out/plots/phase3_patterns.png\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
