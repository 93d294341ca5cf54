// Step 33. When may a head be called a "previous word head"?
//
// New here: detectors. Each gives a head a score between 0 and 1 for one pattern, as a mean over
// 300 sentences. A name is given only where the score is well above what the same model scores
// untrained and what uniform attention would; beside it, the score on shuffled text tells whether
// a head looks at places or at words.
// Reads the models of steps 23 and 26; writes out/plots/phase3_patterns.png; takes about a second.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "course/grammar.hpp"
#include "course/tasks.hpp"
#include "tapestry/analysis/evidence.hpp"
#include "tapestry/analysis/rollout.hpp"
#include "tapestry/error.hpp"
#include "tapestry/io/transformer_file.hpp"
#include "tapestry/plot/heatmap.hpp"
#include "tapestry/plot/png.hpp"

using namespace tapestry;

namespace {

constexpr Index sentences = 300;

Transformer read_model(const std::string& name) {
  return read_transformer("out/checkpoints/" + name + "_model.safetensors",
                          "steps 23 and 26 train and save them. Type: make phase2");
}

// The same model as it began: random weights, of another seed.
Transformer untrained(const Transformer& model, Initializer initializer) {
  TransformerOptions options = model.options;
  options.initializer = initializer;
  Random random(7);
  return Transformer(options, random);
}

// The mask of the rows that count: those with a target (`only_targets`), or all that are no
// padding. Each sees what it sees in the model.
Mask rows_to_count(const Batch& batch, bool causal, bool only_targets) {
  const Index rows = batch.inputs.shape[0], length = batch.inputs.shape[1];
  Tensor keep = Tensor::zeros({rows, length, length});  // (rows, length, length)
  for (Index b = 0; b < rows; ++b) {
    const Index real_words = batch.lengths[static_cast<std::size_t>(b)];
    for (Index i = 0; i < real_words; ++i) {
      const bool says = batch.targets.values[static_cast<std::size_t>(b * length + i)] >= 0;
      for (Index j = 0; j < real_words && (says || !only_targets); ++j) {
        keep.set({b, i, j}, !causal || j <= i);
      }
    }
  }
  return Mask::from(MaskEncoding::keep, keep);
}

// What each layer's heads do with a batch.
std::vector<Attended> attended(const Transformer& model, const Batch& batch, bool only_targets) {
  const Capture seen;
  model(batch.inputs, Mask::padding(batch.lengths),
        {.need_weights = true});  // (rows, length, vocabulary)
  std::vector<Attended> layers;
  for (const Tensor& weights : filed_weights(seen)) {  // (rows, heads, length, length)
    layers.push_back(
        {weights, rows_to_count(batch, model.options.is_causal, only_targets), batch.inputs});
  }
  return layers;
}

// Sentences of the grammar with one word hidden, as in step 23.
Batch grammar_batch(bool shuffle) {
  const Grammar grammar;
  Random random(5);
  std::vector<Words> texts;
  while (static_cast<Index>(texts.size()) < sentences) {
    const Sentence sentence = grammar.sentence(random);
    texts.push_back(shuffle ? shuffled(sentence, random).words : sentence.words);
  }
  return masked_lm_batch(Vocabulary(grammar.words()), texts, random);  // (sentences, 6)
}

// Sequences of a task, words in order or not.
Batch task_batch(const TinyTask& task, bool shuffle) {
  Random random(5);
  std::vector<Words> texts;
  while (static_cast<Index>(texts.size()) < sentences) {
    const Words words = task.sequence(Part::held_out, random).words;
    texts.push_back(words);
    if (!shuffle) continue;
    const std::vector<Index> order = random.permutation(static_cast<Index>(words.size()));
    for (std::size_t i = 0; i < words.size(); ++i) {
      texts.back()[i] = words[static_cast<std::size_t>(order[i])];
    }
  }
  return next_word_batch(task.vocabulary(), texts);  // (sentences, length)
}

struct Table {
  std::vector<std::string> rows;
  std::vector<double> scores;  // of all_patterns, row by row
};

void print_head(const std::string& name, const std::vector<Evidence>& head, Table& table) {
  const std::string called = head_name(head);
  std::printf("%-20s %-16s", name.c_str(), called.c_str());
  const auto named = std::find_if(head.begin(), head.end(), [&](const Evidence& one) {
    return called.starts_with(to_string(one.pattern));
  });
  if (named != head.end()) {
    std::printf(" %.2f +- %.2f  %9.2f %8.2f %8.2f", named->score.mean, named->score.deviation,
                named->untrained.mean, named->uniform, named->shuffled.mean);
  }
  std::printf("\n");
  table.rows.push_back(name);
  for (const Evidence& one : head) table.scores.push_back(one.score.mean);
}

void examine(const std::string& name, const Transformer& model, const Transformer& fresh,
             const Batch& text, const Batch& mixed, bool only_targets, Table& table) {
  const std::vector<Attended> seen = attended(model, text, only_targets),
                              before = attended(fresh, text, only_targets),
                              shuffle = attended(model, mixed, only_targets);
  for (std::size_t layer = 0; layer < seen.size(); ++layer) {
    const auto evidence = pattern_evidence(seen[layer], before[layer], shuffle[layer]);
    for (std::size_t head = 0; head < evidence.size(); ++head) {
      print_head(name + " " + std::to_string(layer) + "." + std::to_string(head), evidence[head],
                 table);
    }
  }
}

void draw(const Table& table) {
  plot::Heatmap map;
  map.rows = static_cast<std::int64_t>(table.rows.size());
  map.columns = static_cast<std::int64_t>(all_patterns.size());
  map.values = table.scores;
  for (double& score : map.values) {
    map.masked.push_back(std::isnan(score));
    if (std::isnan(score)) score = 0;
  }
  map.row_labels = table.rows;
  for (const Pattern pattern : all_patterns) map.column_labels.push_back(to_string(pattern));
  map.title = "Which patterns heads follow";
  map.subtitle = "mean score of 300 sentences; crossed: no row can show it";
  map.row_axis = "model, layer.head";
  map.column_axis = "pattern";
  map.low = 0;
  map.high = 1;
  plot::write_png(plot::render(map), "out/plots/phase3_patterns.png");
}

}  // namespace

int main() try {
  std::printf("Step 33: patterns, and names for heads (takes about a second)\n\n");
  std::printf("layer.head           name             score          untrained  uniform shuffled\n");
  Table table;
  const Transformer grammar = read_model("multi_head");
  examine("grammar", grammar, untrained(grammar, init::normal), grammar_batch(false),
          grammar_batch(true), true, table);
  for (const TaskKind kind : {TaskKind::copy, TaskKind::induction}) {
    const TinyTask task(kind, {.longest = 6});
    const Transformer model = read_model(to_string(kind));
    examine(to_string(kind), model, untrained(model, init::lecun_normal), task_batch(task, false),
            task_batch(task, true), false, table);
  }
  draw(table);
  std::printf("\nwrote out/plots/phase3_patterns.png\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
