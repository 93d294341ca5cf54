// What a real model writes.
#include <nlohmann/json.hpp>

#include "catch.hpp"
#include "models.hpp"
#include "tapestry/generation.hpp"
#include "tapestry/models/model_folder.hpp"
#include "temporary_folder.hpp"

using namespace tapestry;

TEST_CASE("stories260K writes the tokens that llama2.c writes", "[phase7][models]") {
  const auto folder = model_folder("stories260K");
  if (!folder) return;
  const auto expected = nlohmann::json::parse(content(*folder / "greedy.json"))["ids"]
                            .get<std::vector<std::int32_t>>();
  REQUIRE(expected.size() > 200);
  const Transformer model = read_model(*folder);
  Random random(1);
  const Indices ids =
      generate(next_logits_of(model, model.options.max_length), Indices({1}, {1}), random,
               {.sampling = greedy, .max_new_tokens = static_cast<Index>(expected.size()) - 1});
  CHECK(ids.values == expected);
}
