// Activation patching in a decoder of step 43: for step 59 and its experiment.
#pragma once

#include <string>
#include <vector>

#include "course/grammar.hpp"
#include "tapestry/nn/transformer.hpp"

namespace tapestry::patching {

constexpr int pairs = 200;
constexpr Index heads = 4;   // of a layer
constexpr Index length = 6;  // <bos> and five words; the sixth is asked for

const Vocabulary& vocabulary();  // of the grammar

// Sentences without their last word; clean and corrupted differ in one word, and so in how they may
// end.
struct Pairs {
  std::string name;
  Index changed;  // the place of the word that differs; <bos> is 0
  std::vector<Words> clean, corrupted;
  std::vector<Words> third;      // a control: that word speaks for neither ending
  std::vector<Words> same_word;  // a control: that word is the corrupted one, the others differ
  Tensor direction;  // (pairs, vocabulary): what clean makes probable minus what corrupted does
};

// Sentences with this link, whose word at `changed` differs.
Pairs draw_pairs(const std::string& name, Role role, Index changed);

// What is measured of one list of pairs. Model and list must outlive it. Its functions throw Error
// as Capture does, if another one is active.
class Patching {
 public:
  Patching(const Transformer& model, const Pairs& list);

  double gap() const;  // of the logit difference, clean minus corrupted: the mean of all pairs

  // Where `cells` is 1, what stands under `name` comes from `source`: the share of the gap that is
  // restored, of each pair. cells broadcasts to what is filed.
  Tensor restored(const std::string& name, const Tensor& cells,
                  const std::vector<Words>& source) const;  // (pairs)

  // The mean share restored by all heads of a layer at the last word.
  double restored_by_layer(Index layer, const std::vector<Words>& source) const;

 private:
  const Transformer& model_;
  const Pairs& list_;
  Tensor corrupted_, gap_;  // (pairs) each
};

// What the model has made of a word so far, as a whole: before, within and after each layer.
inline const Words places = {"embedding", "blocks.0.middle", "blocks.0.output", "blocks.1.middle",
                             "blocks.1.output"};

struct Findings {
  Tensor by_place;   // (places, length): restored
  Tensor by_head;    // (all heads, length): restored
  Tensor deviation;  // (all heads): of the last column of by_head, over the pairs
  Tensor third;      // (all heads): that column, patched from sentences with a third word
  Tensor weights;    // (all heads, length): those of the last word
};

Findings findings(const Transformer& model, const Patching& patching, const Pairs& list);

std::string head_name(Index head);  // "1.2": layer and head

// Whether weights put heads in the order of what they carry: the rank correlation over all heads,
// of the weight on the word that differs and the share restored at the last word.
double agreement(const Findings& findings, const Pairs& list);

}  // namespace tapestry::patching
