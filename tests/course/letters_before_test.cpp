// The task to say the letter so many places before, of steps 55, 57 and 61.
#include "course/letters_before.hpp"

#include "catch.hpp"
#include "course/order_runs.hpp"

using namespace tapestry;

TEST_CASE("letters are drawn one after the other", "[phase5][course]") {
  Random random(3), again(3);
  const Indices drawn = random_letters(7, 4, 5, random);  // (4, 5)
  CHECK(drawn.shape == Shape{4, 5});
  REQUIRE(drawn.values.size() == 20);
  for (const std::int32_t letter : drawn.values) CHECK(letter == again.randint(7));
  CHECK(random_letters(7, 0, 5, random).values.empty());
}

TEST_CASE("each place says what stands so many places before it in its row", "[phase5][course]") {
  const Indices read({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  const Indices one = letters_before(read, 1), three = letters_before(read, 3);
  CHECK(one.shape == Shape{2, 4});
  CHECK(one.values == std::vector<std::int32_t>{-1, 1, 2, 3, -1, 5, 6, 7});
  CHECK(three.values == std::vector<std::int32_t>{-1, -1, -1, 1, -1, -1, -1, 5});
  CHECK(letters_before(read, 4).values == std::vector<std::int32_t>(8, -1));
  CHECK(letters_before(read, 1, 1).values == std::vector<std::int32_t>{-1, -1, 2, 3, -1, -1, 6, 7});
}

TEST_CASE("step 57 asks for the letter before, never for what stands at place 0",
          "[phase5][course]") {
  for (const bool has_bos : {true, false}) {
    for (const Index back : {1, 2}) {
      Random random(6);
      const Batch batch = OrderTask{.back = back, .has_bos = has_bos}.batch(3, random);  // (3, 13)
      for (std::size_t at = 0; at < batch.inputs.values.size(); ++at) {
        const auto place = static_cast<Index>(at % 13);
        CHECK((batch.inputs.values[at] == OrderTask::bos) == (has_bos && place == 0));
        CHECK(batch.targets.values[at] ==
              (place > back ? batch.inputs.values[at - std::size_t(back)] : -1));
      }
    }
  }
}
