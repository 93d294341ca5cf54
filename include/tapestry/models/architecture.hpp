// What the config.json of a model says, as options of a Transformer, and back. Known are the
// architectures gpt2, gpt_neo, gpt_neox, llama, mistral, qwen2, bert and stablelm; src/models/ has
// a table for each, and .github/CONTRIBUTING.md a recipe for one more.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tapestry/nn/transformer.hpp"

namespace tapestry {

// The names of all, as "model_type" in config.json has them.
[[nodiscard]] std::vector<std::string> architecture_names();

struct ModelConfig {
  std::string architecture;  // "model_type"
  std::string model_class;   // the first of "architectures", "GPT2LMHeadModel"; empty without one
  TransformerOptions options;
};

// The options that the text of a config.json describes; what it leaves out is as Hugging Face's
// transformers (version 4) has it. Throws Error for text that is not such JSON, a "model_type" that
// is not known, a value that cannot be, and, naming it, for every option that is neither supported
// nor known to change nothing, unless it is null or false.
[[nodiscard]] ModelConfig model_config(const std::string& json);

// The same from the config.json of a folder. Throws Error, too, if there is none.
[[nodiscard]] ModelConfig read_config(const std::filesystem::path& folder);

// The ids after which a text of this model ends: "eos_token_id" of the folder's
// generation_config.json, one id or a list, or else of its config.json; none if neither has it.
// Throws Error if these files cannot be read or have no ids there.
[[nodiscard]] std::vector<std::int32_t> eos_ids(const std::filesystem::path& folder);

// The config.json of such a model. Throws Error, naming an option, if models of this architecture
// cannot have these options.
[[nodiscard]] std::string config_text(std::string_view architecture,
                                      const TransformerOptions& options);

}  // namespace tapestry
