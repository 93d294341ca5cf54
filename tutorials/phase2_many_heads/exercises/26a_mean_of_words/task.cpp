// 26a. The mean over the words, without padding
//
// A model reads several sentences at once, as one tensor. Sentences differ in length, so the short
// ones are filled up with rows that stand for no word, called padding. Whoever wants one row for a
// whole sentence, say to tell what it is about, takes the mean of its words: of the words alone.
//
//   result[b, c] = (sum over i < length_b of x[b, i, c]) / length_b
//
//   x         (sentences, places, d)
//   lengths   (sentences)     lengths.values[b] words, from 1 to `places`; the rest is padding
//   ->        (sentences, d)
//
// Padding may hold any numbers; the result must not depend on them.
// Lesson: tutorials/phase2_many_heads/README.md, "26 Tiny tasks"; step 6j meets padding again
#include "phase2.hpp"

namespace learn {

Tensor mean_of_words(const Tensor& x, const Indices& lengths) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
