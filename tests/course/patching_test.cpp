// Patching: pairs of sentences and their controls, what a patch restores, what is found of heads.
#include "course/patching.hpp"

#include "catch.hpp"
#include "ops/expect.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;
using namespace tapestry::patching;

namespace {

int words_in_common(const Words& ends, const Words& others) {
  int common = 0;
  for (const auto& [word, p] : Grammar().next_word(ends)) {
    common += static_cast<int>(Grammar().next_word(others).count(word));
  }
  return common;
}

// With large weights, so that all that a patch changes is seen.
Transformer small_decoder() {
  Random random(3);
  return Transformer({.vocab_size = vocabulary().size(),
                      .max_length = 8,
                      .d_model = 16,
                      .num_heads = 4,
                      .initializer = init::lecun_normal},
                     random);
}

}  // namespace

TEST_CASE("a pair differs in one word and in how it may end; controls speak for neither",
          "[phase5][course]") {
  for (const auto& [role, changed] :
       {std::pair{Role::verb_object, 3}, {Role::preposition_place, 4}}) {
    const Pairs list = draw_pairs("", role, changed);
    CHECK(list.clean.size() == pairs);
    CHECK(list.direction.shape() == Shape{pairs, vocabulary().size()});
    for (std::size_t i = 0; i < 20; ++i) {
      const Words &clean = list.clean[i], &corrupted = list.corrupted[i];
      const auto place = static_cast<std::size_t>(changed - 1);
      for (std::size_t j = 0; j < 5; ++j) CHECK((clean[j] == corrupted[j]) == (j != place));
      CHECK(words_in_common(clean, corrupted) == 0);
      CHECK(words_in_common(list.third[i], clean) + words_in_common(list.third[i], corrupted) == 0);
      CHECK(list.same_word[i][place] == corrupted[place]);
      double for_clean = 0, for_corrupted = 0;
      for (const auto& [word, p] : Grammar().next_word(clean)) {
        for_clean += double{list.direction.at({Index(i), vocabulary().id(word)})};
      }
      for (const auto& [word, p] : Grammar().next_word(corrupted)) {
        for_corrupted += double{list.direction.at({Index(i), vocabulary().id(word)})};
      }
      CHECK(same_number(for_clean, 1, 1e-5));
      CHECK(same_number(for_corrupted, -1, 1e-5));
    }
  }
}

TEST_CASE("a patch of all that differs restores all, of what is equal nothing",
          "[phase5][course]") {
  const Transformer model = small_decoder();
  const Pairs list = draw_pairs("verb", Role::verb_object, 3);
  const Patching patching(model, list);
  const Findings f = findings(model, patching, list);
  CHECK(f.by_head.shape() == Shape{8, length});
  for (Index at = 0; at < length; ++at) {  // in the embedding and in the end one place is all
    CHECK(same_number(double{f.by_place.at({0, at})}, at == 3 ? 1 : 0, 1e-3));
    CHECK(same_number(double{f.by_place.at({4, at})}, at == length - 1 ? 1 : 0, 1e-3));
  }
  for (Index i = 0; i < 8; ++i) {
    for (Index at = 0; at < 3; ++at) CHECK(double{f.by_head.at({i, at})} == 0);  // before the verb
    double sum = 0;
    for (Index at = 0; at < length; ++at) sum += double{f.weights.at({i, at})};
    CHECK(same_number(sum, 1, 1e-4));
  }
  CHECK(largest_difference(slice(f.weights, 0, 0, 4), slice(f.weights, 0, 4, 8)) > 1e-2);
  CHECK(patching.restored_by_layer(0, list.corrupted) == 0);
  CHECK(head_name(6) == "1.2");
}

TEST_CASE("heads agree that carry as much as they look", "[phase5][course]") {
  Findings f{Tensor(), Tensor::zeros({8, length}), Tensor(), Tensor(), Tensor::zeros({8, length})};
  for (Index i = 0; i < 8; ++i) {
    f.by_head.set({i, length - 1}, double(i));
    f.weights.set({i, 3}, double(i * i));
  }
  Pairs list;
  list.changed = 3;
  CHECK(same_number(agreement(f, list), 1, 1e-6));
  list.changed = 4;
  for (Index i = 0; i < 8; ++i) f.weights.set({i, 4}, -double(i));
  CHECK(same_number(agreement(f, list), -1, 1e-6));
}
