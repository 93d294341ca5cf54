// The table and the pictures of steps 67 and 6j.
#include "course/classifier_pictures.hpp"

#include "catch.hpp"
#include "plot/snapshot.hpp"
#include "plot/words.hpp"
#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

ClassifierResults results() {
  const FormSentence sentence{split_words("will the cat see it"), SentenceForm::question};
  const Tensor weights = Tensor::eye(5) * 0.9;  // (heads, words)
  return {.models = {{"words alone", {0.2, 0.21, 0.19, 0.2, 0.2}}, {"+ both", Shares(5, 1)}},
          .first_word = 0.8,
          .looks = {{sentence, weights}, {sentence, weights}}};
}

}  // namespace

TEST_CASE("shares by seed stand in a line behind the name", "[phase6][course]") {
  CHECK(text_of_shares(results().models) ==
        "                   seed 1 seed 2 seed 3 seed 4 seed 5\n"
        "words alone         0.200  0.210  0.190  0.200  0.200\n"
        "+ both              1.000  1.000  1.000  1.000  1.000\n");
  CHECK(text_of_shares({{"two seeds", {0.5, 1}}}) ==
        "                   seed 1 seed 2\n"
        "two seeds           0.500  1.000\n");
}

TEST_CASE("the classifiers' picture has a dot for each seed", "[phase6][course]") {
  const plot::Canvas canvas = classifier_picture(results());
  CHECK(plot::words(canvas, plot::Role::title) ==
        plot::Names{"Sentences told right", "question", "question"});
  CHECK(plot::words(canvas, plot::Role::subtitle).front() == "a dot for each of five seeds");
  CHECK(plot::words(canvas, plot::Role::legend) ==
        plot::Names{"mean, 95 % interval", "guessing", "the first word alone"});
  CHECK(plot::words(canvas, plot::Role::x_tick).front() == "words alone");
  CHECK(plot::words(canvas, plot::Role::row_label).back() == "head 4");
  CHECK(plot::words(canvas, plot::Role::column_label).back() == "it");
  CHECK(plot::trouble(canvas) == "");
  CHECK_THROWS_AS(classifier_picture({}), Error);
  plot::check_snapshot("classifier_picture", 0x47FEEBC8969FA9C1u, canvas);
}

TEST_CASE("shares by the length of rows have a line for each seed", "[phase6][course]") {
  const plot::Canvas canvas = padding_picture({.lengths = {9, 200},
                                               .pad_as_word = {{1, 1, 1, 1}, {0.2, 0.8, 0.9, 0.7}},
                                               .pad_left_out = {Shares(4, 1), {1, 1, 1, 0.9}}});
  CHECK(plot::words(canvas, plot::Role::title) == plot::Names{"The same sentences in longer rows"});
  CHECK(plot::words(canvas, plot::Role::subtitle) == plot::Names{"a line for each of four seeds"});
  CHECK(plot::words(canvas, plot::Role::legend) ==
        plot::Names{"<pad> as a word", "<pad> left out: all four"});
  CHECK(plot::trouble(canvas) == "");
  CHECK_THROWS_AS(padding_picture({}), Error);
  plot::check_snapshot("padding_picture", 0x8E16E40B7FBD25F2u, canvas);
}
