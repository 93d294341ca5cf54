// `tapestry convert`: files of other programs as folders that --model takes.
#include "commands.hpp"
#include "screen.hpp"
#include "tapestry/error.hpp"
#include "tapestry/models/llama2c.hpp"
#include "tapestry/unicode.hpp"

namespace tapestry::command {

void convert(const ConvertOptions& options) {
  if (options.input.extension() == ".safetensors") {
    throw Error(options.input.string() +
                ": safetensors need no conversion. Only llama2.c's .bin is converted.");
  }
  Path tokenizer = options.tokenizer;
  if (tokenizer.empty()) {
    const Path beside = options.input.parent_path() / "tokenizer.bin";
    if (std::filesystem::exists(beside)) tokenizer = beside;
  }
  convert_llama2c(options.input, tokenizer, options.folder);
  print("%s: config.json, model.safetensors%s\n", options.folder.c_str(),
        tokenizer.empty() ? ", no tokenizer (--tokenizer FILE names one)" : ", tokenizer.json");
  print("  tapestry generate --model %s\n", shell_quote(options.folder.string()).c_str());
}

}  // namespace tapestry::command
