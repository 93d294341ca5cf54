// Step 6j. What happens if a classifier takes <pad> for a word?
//
// New here: the right classifiers of step 67 with <pad> left out of attention and of the mean, of
// one of them, or of none; trained as before, and then asked about the same sentences in longer
// rows. The layers, and how they learn, stand in course/form_classifiers.hpp.
// Writes out/plots/phase6_padding.png; takes about 8 seconds.
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "course/classifier_pictures.hpp"
#include "course/form_classifiers.hpp"
#include "course/sentence_forms.hpp"
#include "tapestry/error.hpp"
#include "tapestry/nn/positions.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/plot/png.hpp"

using namespace tapestry;
using namespace tapestry::form_classifiers;

namespace {

struct Parts {
  bool attention;  // or else a feed-forward layer for each word
  // Without them <pad> is a word like any other.
  bool masks_padding = true, mean_of_words = true;
  bool sets_padding_to_0 = false;  // before a mean over the whole row
};

struct Classifier : Layers {
  Parts parts;

  Classifier(const Parts& has, Index vocabulary, Random& random)
      : Layers(has.attention, !has.attention, vocabulary, random), parts(has) {}

  // ids (rows, length) -> (rows, forms)
  Tensor operator()(const Indices& ids, const std::vector<Index>& lengths) const {
    const Mask words_only = Mask::padding(lengths);
    Tensor x = words(ids) + sinusoidal_positions(ids.shape[1], width);  // (rows, length, width)
    if (parts.attention) {
      x = attention(x, parts.masks_padding ? words_only : Mask());
    } else {
      x = x + feed_forward(x);
    }
    const Tensor real = transpose(words_only.tensor({ids.shape[0], 1, ids.shape[1]}));  // 1 or 0
    if (parts.sets_padding_to_0) x = x * real;         // (rows, length, width)
    if (!parts.mean_of_words) return out(mean(x, 1));  // (rows, forms)
    // The mean over the words alone: their sum, divided by how many they are.
    return out(sum(x * real, 1) / sum(real, 1));  // (rows, forms)
  }
};

const std::vector<std::pair<std::string, Parts>> variants = {
    {"+ both", {.attention = true}},
    {"both, <pad> a word", {.attention = true, .masks_padding = false, .mean_of_words = false}},
    {"  in attention", {.attention = true, .masks_padding = false}},
    {"  in the mean", {.attention = true, .mean_of_words = false}},
    {"    as 0", {.attention = true, .mean_of_words = false, .sets_padding_to_0 = true}},
    {"+ f.-f., positions", {.attention = false}},
    {"f.-f., in the mean", {.attention = false, .mean_of_words = false}},
    {"    as 0", {.attention = false, .mean_of_words = false, .sets_padding_to_0 = true}}};

// The same sentences in longer rows, as if a longer one stood in the batch.
SharesByLength compare_lengths(const std::vector<Learned<Classifier>>& learned,
                               const FormBatch& test) {
  SharesByLength found;
  for (const Index length : {9, 12, 16, 24, 48, 96, 200}) {
    const NamedShares rows = told_right(learned, padded(test, length));
    found.lengths.push_back(double(length));
    found.pad_left_out.push_back(rows[0].second);
    found.pad_as_word.push_back(rows[1].second);
    if (length != 48 && length != 200) continue;
    std::printf(
        "\n2. Where <pad> is seen: 500 held-out sentences (7 to 9 words), in rows of %d\n%s",
        int(length), text_of_shares(rows).c_str());
  }
  return found;
}

}  // namespace

int main() try {
  std::printf("Step 6j: padding (takes about 8 seconds)\n\n");
  const SentenceForms task;
  Random random(77);
  const FormBatch test = task.batch(Part::held_out, 2000, random);  // ids (2000, 9)
  const auto draw = [&](Random& drawn) { return task.batch(Part::train, batch_rows, drawn); };
  const auto learned = learn_all<Classifier>(variants, task.vocabulary().size(), draw);
  std::printf("1. Rows as long as in training: share of 2000 held-out sentences told right\n%s",
              text_of_shares(told_right(learned, test)).c_str());
  const FormBatch fewer = task.batch(Part::held_out, 500, random);  // ids (500, 9)
  plot::write_png(padding_picture(compare_lengths(learned, fewer)), "out/plots/phase6_padding.png");
  std::printf("\nwrote out/plots/phase6_padding.png\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
