// What a hand-made model refuses, in words that name the way out.
#include <limits>

#include "catch.hpp"
#include "models/hand_made_checks.hpp"
#include "ops/expect.hpp"
#include "tapestry/models/hand_made.hpp"

using namespace tapestry;

namespace {

const HandMadeHead before{0, 0, Phrase::previous_word}, behind{1, 0, Phrase::what_followed};

HandMadeOptions sizes() { return {5, 6}; }

std::string refused(const HandMadeOptions& options, const std::vector<HandMadeHead>& heads,
                    std::initializer_list<const char*> words) {
  return complaint([&] { (void)hand_made(options, heads); }, words);
}

HandMadeHead with(const HandMadeMatrices& matrices) { return {0, 0, {}, matrices}; }

}  // namespace

TEST_CASE("heads that are no model are refused", "[phase5][hand]") {
  CHECK(refused(sizes(), {}, {"there are no heads", "0.0 'previous word'"}) == "");
  CHECK(refused(sizes(), {before, {0, 1, Phrase::same_word}, before},
                {"head 0.0 is named twice"}) == "");
  CHECK(refused(sizes(), {before, {2, 0, Phrase::same_word}},
                {"head 2.0", "layer 1 has no head", "without gaps"}) == "");
  CHECK(refused(sizes(), {{-1, 0, Phrase::same_word}}, {"head -1.0", "from 0, up to 63"}) == "");
  CHECK(refused(sizes(), {{0, 64, Phrase::same_word}}, {"head 0.64", "up to 63"}) == "");
  CHECK(refused(sizes(), {behind, {0, 0, Phrase::first_word}},
                {"head 1.0", "of an earlier layer", "Add 0.0 'previous word'"}) == "");
  CHECK(refused(sizes(), {{0, 0, Phrase::previous_word}, {0, 1, Phrase::what_followed}},
                {"head 0.1", "Make it 1.0"}) == "");
  CHECK(hand_made(sizes(), {behind, before}).options.num_layers == 2);  // in any order
  CHECK(hand_made(sizes(), {before, {0, 63, Phrase::same_word}}).options.num_heads == 64);
}

TEST_CASE("options that cannot be are refused", "[phase5][hand]") {
  const auto changed = [](auto change) {
    HandMadeOptions options = sizes();
    change(options);
    return options;
  };
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(refused({0, 6}, {before}, {"0 words and 6 positions"}) == "");
  CHECK(refused({5, 0}, {before}, {"5 words and 0 positions"}) == "");
  CHECK(refused({0, 6}, {}, {"0 words and 6 positions"}) == "");  // before heads are looked at
  for (const double bad : {-1.0, 1000.5, nan}) {
    CAPTURE(bad);
    CHECK(refused(changed([&](auto& o) { o.sharpness = bad; }), {before},
                  {"sharpness is", "0 to 1000"}) == "");
    CHECK(refused(changed([&](auto& o) { o.certainty = bad; }), {before}, {"certainty is"}) == "");
  }
  for (const std::int32_t bad : {-2, 5}) {
    CHECK(refused(changed([&](auto& o) { o.bos = bad; }), {before},
                  {"begin with word", "0 to 4"}) == "");
  }
  const Index many = std::numeric_limits<std::int32_t>::max();
  CHECK(refused({many, 6}, {before}, {"million numbers; at most 20 million"}) == "");
  CHECK(refused({6, many}, {before}, {"at most 20 million"}) == "");
  // 20 heads of width 230 at d_model 1031 have 19.4 million numbers, 21 heads 20.4.
  CHECK(refused({200, 30}, {before, {0, 20, Phrase::same_word}}, {"20.4 million numbers;"}) == "");
  CHECK(hand_made({200, 30}, {before, {0, 19, Phrase::same_word}}).options.num_heads == 20);
  CHECK(complaint([] { (void)matrices_of(Phrase::same_word, {0, 3}); }, {"0 words"}) == "");
}

TEST_CASE("a model may have 20 million numbers, and none of one head more", "[phase5][hand]") {
  const auto said = [](auto check) { return complaint(check, {"at most 20 million are built"}); };
  const std::string nothing = "nothing was thrown";
  // 4000 columns, and as many times 4 maps of width 326, embedding, logits and positions.
  CHECK(said([] { check_hand_made_size({101, 3494}, 1, 1, 326); }) == nothing);
  CHECK(said([] { check_hand_made_size({101, 3494}, 1, 1, 327); }) == "");
  // Of 4084 columns 19,999,348 numbers.
  CHECK(said([] { check_hand_made(HandMadeOptions{814, 13}); }) == nothing);
  CHECK(said([] { check_hand_made(HandMadeOptions{900, 10}); }) == "");
}

TEST_CASE("matrices that do not fit, or are not numbers, are refused", "[phase5][hand]") {
  const Index d = columns_of(sizes()).d_model();
  const Tensor q = Tensor::ones({d, 3}), v = Tensor::ones({d, 2}), o = Tensor::ones({2, d});
  CHECK(hand_made(sizes(), {with({q, q, v, o})}).options.d_k == 3);
  CHECK(refused(sizes(), {with({{}, q, v, o})}, {"head 0.0: its query is missing"}) == "");
  CHECK(refused(sizes(), {with({q, {}, v, o})}, {"its key is missing"}) == "");
  CHECK(refused(sizes(), {with({Tensor::ones({3, d}), q, v, o})},
                {"its query is (3, 32), but must be (32, k)"}) == "");
  CHECK(refused(sizes(), {with({Tensor::ones({d}), q, v, o})}, {"its query is (32)"}) == "");
  CHECK(refused(sizes(), {with({Tensor::ones({d, 0}), Tensor::ones({d, 0}), v, o})},
                {"its query is (32, 0)"}) == "");
  CHECK(refused(sizes(), {with({q, v, v, o})}, {"its key is (32, 2)", "(32, 3)"}) == "");
  CHECK(refused(sizes(), {with({q, q, o, o})}, {"its value is (2, 32)"}) == "");
  CHECK(refused(sizes(), {with({q, q, v, v})}, {"its output is (32, 2)", "(2, 32)"}) == "");
  // A value wider than there are words has no words to go to.
  CHECK(refused(sizes(), {with({q, q, Tensor::ones({d, 6}), {}})}, {"its output is missing"}) ==
        "");
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), infinity, -infinity}) {
    Tensor broken = q.clone(), broken_output = o.clone();
    broken.set({d - 1, 2}, bad);
    broken_output.set({1, d - 1}, bad);
    CHECK(refused(sizes(), {with({broken, q, v, o})}, {"its query", "must be finite"}) == "");
    CHECK(refused(sizes(), {with({q, broken, v, o})}, {"its key", "must be finite"}) == "");
    CHECK(refused(sizes(), {with({q, q, v, broken_output})}, {"its output", "finite"}) == "");
  }
}
