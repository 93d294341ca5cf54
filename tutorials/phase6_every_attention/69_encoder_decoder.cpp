// Step 69. Can attention translate without any recurrence, and which attention does what?
//
// New here: the transformer in its first form (Vaswani et al. 2017), an encoder and a decoder, made
// of parts that you know (course/encoder_decoder.hpp): self-attention over the source, masked
// self-attention over what was said, cross-attention from one to the other. Each is taken out once.
// Then every set of heads of the trained cross-attention is ablated, and the first noun is swapped,
// for three seeds.
// Writes out/plots/phase6_encoder_decoder.png; takes about 20 seconds.
#include <bit>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "course/encoder_decoder.hpp"
#include "course/translation_pictures.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/progress.hpp"

using namespace tapestry;

namespace {

constexpr Index heads = EncoderDecoder::heads;
constexpr Index fewest = 2, most = 5, most_tested = 7;  // noun phrases of a sentence

struct Variant {
  const char* name;
  std::vector<const char*> ablated;  // whose output is zeros, in training and afterwards
  std::uint64_t seeds;
};

const std::vector<Variant> variants = {
    {"all three", {}, 3},
    {"no source self-attention", {"source.attention.output"}, 2},
    {"no masked self-attention", {"target.attention.output"}, 2},
    {"cross-attention alone", {"source.attention.output", "target.attention.output"}, 2},
    {"no cross-attention", {"cross.output"}, 2}};

TranslationBatch held_out(Index phrases) {  // 300 sentences
  Random random(77);
  return TranslationTask({phrases, phrases}).batch(Part::held_out, 300, random);
}

// The share of held-out sentences with so many noun phrases that are wholly right.
double share_right(const EncoderDecoder& model, const Variant& variant, Index phrases) {
  const TranslationBatch b = held_out(phrases);
  Capture capture;
  ablate(capture, variant.ablated);
  return double(exact_matches(model(b, stored), b.target.targets)) / 300;
}

// Trains all variants; returns the models of the first one, with nothing ablated.
std::vector<EncoderDecoder> compare(const TranslationTask& task) {
  std::string table;
  std::vector<EncoderDecoder> whole;
  Progress progress("training", 11, "models");
  for (const Variant& variant : variants) {
    for (std::uint64_t seed = 1; seed <= variant.seeds; ++seed, progress.step()) {
      const EncoderDecoder model = learn(variant.ablated, task, seed);
      table += formatted("\n%-24s %d ", variant.name, int(seed));
      for (Index phrases = fewest; phrases <= most_tested; ++phrases) {
        table += formatted(" %5.3f", share_right(model, variant, phrases));
      }
      if (variant.ablated.empty()) whole.push_back(model);
    }
  }
  std::printf("1. Translations wholly right, of 300 held-out sentences of each length\n");
  std::printf("noun phrases                   2     3     4     5     6     7%s\n\n",
              table.c_str());
  return whole;
}

// What the model writes when it reads its own words, one after the other. The source is encoded
// once.
Words write(const EncoderDecoder& model, const TranslationTask& task, const Words& source) {
  const TranslationBatch b = task.batch({translate(source)});
  const Mask mask = Mask::padding(b.source_lengths);
  const Tensor encoded = model.encode(b, stored);               // (1, source, width)
  std::vector<std::int32_t> ids = {b.target.inputs.values[0]};  // <bos>
  Words said;
  while (said.size() < 40) {
    const Indices so_far({1, static_cast<Index>(ids.size())}, ids);
    const Tensor logits = model.decode(so_far, encoded, mask, stored);  // (1, target, words)
    ids.push_back(predicted_classes(logits).values.back());
    if (task.target_words().word(ids.back()) == "<eos>") break;
    said.push_back(task.target_words().word(ids.back()));
  }
  return said;
}

void write_some(const EncoderDecoder& model, const TranslationTask& task) {
  std::printf("2. Written word by word, by the first model; held-out sentences\n");
  const Vocabulary &from = task.source_words(), &to = task.target_words();
  Random random(3);
  for (const Index phrases : {2, 4, 7}) {
    const Translation one = TranslationTask({phrases, phrases}).sentence(Part::held_out, random);
    const Words said = write(model, task, one.source);
    std::printf("   %s\n => %s\n", from.decode(from.encode(one.source)).c_str(),
                to.decode(to.encode(said)).c_str());
    if (said != one.target) std::printf(" not %s\n", to.decode(to.encode(one.target)).c_str());
  }
  std::printf("\n");
}

// The mean weight that each head puts on the source words that are marked.
void print_row(const Tensor& weights, const Tensor& marked, const char* name, std::size_t seed) {
  const double words = double{sum(marked).item()};
  std::printf("%-28s %zu", name, seed);
  for (const Tensor& head : split(weights, heads, 1)) {  // (300, 1, target, source)
    std::printf("   %.2f ", double{sum(squeeze(head, 1) * marked).item()} / words);
  }
  std::printf("\n");
}

void look(const std::vector<EncoderDecoder>& models) {
  const TranslationBatch b = held_out(most);
  const Tensor rows = unsqueeze(says_verb(b), -1);  // (300, target, 1)
  std::printf("3. Cross-attention where the verb of %d noun phrases is said: mean weight of each\n",
              int(most));
  std::printf("   head; uniform weights would be %.2f\n", 300 / double{sum(b.from).item()});
  std::printf("                          seed  head 0  head 1  head 2  head 3\n");
  std::vector<Tensor> weights;  // (300, heads, target, source) each
  for (const EncoderDecoder& model : models) {
    const Capture seen;
    model(b, stored);
    weights.push_back(seen["cross.weights"]);
  }
  for (std::size_t i = 0; i < models.size(); ++i) {
    print_row(weights[i], b.from * rows, "on the verb", i + 1);
  }
  for (std::size_t i = 0; i < models.size(); ++i) {
    print_row(weights[i], b.ends_as * rows, "on the first noun", i + 1);
  }
}

// The verb, which is said last, without every set of heads; columns for each seed.
void ablate_sets(const std::vector<EncoderDecoder>& models, const TranslationTask& task,
                 Instead by) {
  const TranslationBatch b = held_out(most);
  std::printf("ablated          seed 1              seed 2              seed 3\n");
  std::printf("           verb stem ending    verb stem ending    verb stem ending\n");
  for (const int size : {0, 1, 2, 3, 4}) {
    for (unsigned set = 0; set < 16; ++set) {
      if (std::popcount(set) != size) continue;
      std::printf("%-10s", head_numbers(set).c_str());
      for (const EncoderDecoder& model : models) {
        const Verb right = verb_without(model, task, b, set, {}, by);
        std::printf(" %.2f %.2f  %.2f   ", right.any, right.stem, right.ending);
      }
      std::printf("\n");
    }
  }
}

// The ending comes from the first noun. From that of the source, or from that of the given words?
void swap_first_noun(const std::vector<EncoderDecoder>& models, const TranslationTask& task) {
  const TranslationBatch b = held_out(most);
  std::printf("\n6. The first noun becomes one of the other class: how many endings change\n");
  std::printf("         in the given words  in the source\n");
  for (std::size_t i = 0; i < models.size(); ++i) {
    std::printf("seed %zu  ", i + 1);
    for (const Side side : {Side::given, Side::source}) {
      const Verb verb = verb_without(models[i], task, swapped(task, b, side), 0);
      std::printf("        %.2f       ", verb.any - verb.ending);
    }
    std::printf("\n");
  }
  std::printf("\n");
}

void draw(const EncoderDecoder& model, const TranslationTask& task) {
  Random random(5);  // the sentence of step 68
  const Translation one = TranslationTask({4, 4}).sentence(Part::held_out, random);
  const Capture seen;
  model(task.batch({one}), stored);
  plot::write_png(plot::render(maps_of_translation(seen["cross.weights"], one), 340, 1.5),
                  "out/plots/phase6_encoder_decoder.png");
}

}  // namespace

int main() try {
  std::printf("Step 69: an encoder and a decoder (takes about 20 seconds)\n\n");
  const TranslationTask task({fewest, most});
  const std::vector<EncoderDecoder> models = compare(task);
  write_some(models.front(), task);
  look(models);
  std::printf("\n4. The verb of these sentences with some heads of the cross-attention ablated,\n");
  std::printf("   to their mean over all verbs: share that are verbs, with the right stem, with\n");
  std::printf("   the right ending\n");
  ablate_sets(models, task, Instead::mean_of_verbs);
  std::printf("\n5. The same, ablated to zero\n");
  ablate_sets(models, task, Instead::zeros);
  swap_first_noun(models, task);
  draw(models.front(), task);
  std::printf("wrote out/plots/phase6_encoder_decoder.png\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
