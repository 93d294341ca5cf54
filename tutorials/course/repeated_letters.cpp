#include "course/repeated_letters.hpp"

#include "course/inside.hpp"
#include "course/one_text.hpp"
#include "tapestry/analysis/patterns.hpp"

namespace tapestry {

const TinyTask& repeated_letters_task() {
  static const TinyTask task(TaskKind::induction, {.shortest = 5, .longest = 5});
  return task;
}

std::vector<TaskSequence> repeated_letters(Index count) {
  std::vector<TaskSequence> texts;
  for (Index seed = 0; seed < count; ++seed) {
    texts.push_back(example_of(repeated_letters_task(), 5, 4, static_cast<std::uint64_t>(seed)));
  }
  return texts;
}

Indices ids_before_last(const std::vector<TaskSequence>& texts) {
  std::vector<Words> read;
  for (const TaskSequence& one : texts) read.emplace_back(one.words.begin(), one.words.end() - 1);
  return next_word_batch(repeated_letters_task().vocabulary(), read).inputs;
}

WeightsBehind weights_behind(const Transformer& model) {
  const std::vector<TaskSequence> texts = repeated_letters(300);
  std::vector<TaskSequence> mixed;
  Random random(6);
  for (const TaskSequence& one : texts) mixed.push_back(with_mixed_prompt(one, random));
  const Indices ids = ids_before_last(texts), mixed_ids = ids_before_last(mixed);  // (300, 10) each
  const Indices keys = induction_keys(ids), letter = induction_keys(mixed_ids);
  Indices place = keys;  // -1 where it is the letter's key, too
  for (std::size_t i = 0; i < place.values.size(); ++i) {
    if (place.values[i] == letter.values[i]) place.values[i] = -1;
  }
  return {mean_weights(model, ids, keys),
          mean_weights(untrained(model, init::lecun_normal), ids, keys),
          mean_weights(model, mixed_ids, place)};
}

CutLinks cut_links(const Transformer& model) {
  CutLinks links;
  for (const TaskSequence& one : repeated_letters(40)) {
    const Reader reader = reader_of(model, repeated_letters_task(), one.words);
    const Effect whole = reader.without_heads({});
    const Tensor weights = weights_of(model, reader.ids).at(1);  // (1, heads, 10, 10)
    for (const Index head : all_heads) {
      for (Index key = 0; key < 10; ++key) {
        links.weights.push_back(double{weights.at({0, head, 9, key})});
        links.falls.push_back((whole - reader.with_link(key, {head}, 0)).logit);
      }
    }
  }
  return links;
}

}  // namespace tapestry
