#include "hand_model.hpp"

#include <cmath>

#include "tapestry/accuracy.hpp"
#include "tapestry/format.hpp"
#include "tapestry/ops.hpp"

namespace tapestry::command {
namespace {

Batch one_text(const Material& material) {
  Random random(0);
  return material.train(1, random);
}

std::string words_of(const std::vector<HandMadeHead>& heads) {
  std::string words;
  for (const HandMadeHead& head : heads) {
    words += (words.empty() ? "" : ", ") + std::to_string(head.layer) + "." +
             std::to_string(head.head) + " " + (head.phrase ? to_string(*head.phrase) : "matrices");
  }
  return words;
}

}  // namespace

HandMadeOptions hand_sizes(const Material& material, Index positions, double sharpness) {
  const InputFormat format = input_format_of(one_text(material));
  return {.vocab_size = material.vocabulary.size(),
          .max_length = positions,
          .sharpness = sharpness,
          .bos = format.bos ? Vocabulary::bos : -1};
}

HandModel make_by_hand(const std::filesystem::path& path, const Material& material, Index positions,
                       double sharpness, const std::vector<HandMadeHead>& heads) {
  const Batch batch = one_text(material);
  HandModel made{material, heads, words_of(heads), {}, {}};
  made.metadata = tapestry::to_metadata(material.vocabulary, batch);
  made.metadata[hand_metadata_key] = made.words;
  made.metadata["hand.sharpness"] = exact_text(sharpness);
  made.file = std::make_shared<const ModelFile>(
      ModelFile{path, Model(hand_made(hand_sizes(material, positions, sharpness), heads)),
                material.vocabulary, input_format_of(batch)});
  return made;
}

Batch hand_test(const Material& material) {
  Random random(1, ~std::uint64_t{0});
  return material.test(hand_texts, random);
}

HandScores scores_of(const Model& model, const Batch& batch) {
  const Tensor logits = model(batch.inputs);  // (texts, length, words)
  const auto whole = static_cast<double>(exact_matches(logits, batch.targets));
  return {whole / static_cast<double>(hand_texts), accuracy(logits, batch.targets),
          double{cross_entropy(logits, batch.targets).item()}};
}

HandScores scores_of_chance(Index words, const Batch& batch) {
  const double one = 1 / static_cast<double>(words);
  const Index length = batch.targets.shape[1];
  double whole = 0;
  for (Index row = 0; row < hand_texts; ++row) {
    double chance = 1;
    for (Index i = 0; i < length; ++i) {
      if (batch.targets.values[static_cast<std::size_t>(row * length + i)] >= 0) chance *= one;
    }
    whole += chance / static_cast<double>(hand_texts);
  }
  return {whole, one, -std::log(one)};
}

}  // namespace tapestry::command
