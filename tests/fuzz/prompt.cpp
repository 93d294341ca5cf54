// Prompts: the first two lines of an input are --query and --key, or --token and a part to cut, the
// rest is the text.
#include <algorithm>

#include "fuzz.hpp"
#include "tapestry/commands.hpp"
#include "tapestry/io/transformer_file.hpp"
#include "tapestry/text/input_format.hpp"
#include "temporary_folder.hpp"

using namespace tapestry;

namespace {

// Two models, by words and by characters; the command's output is discarded.
class Desk {
 public:
  Desk() {
    fuzz::require(std::freopen("/dev/null", "w", stdout) != nullptr, "there is /dev/null");
    write("words", Vocabulary({"the", "cat", "sat", "7", "@", "the@1", "é"}));
    write("characters", Vocabulary::of_characters("abc @17\n\té𝄞"));
  }

  std::string operator/(const std::string& name) const { return folder_ / name; }

 private:
  void write(const std::string& name, const Vocabulary& vocabulary) {
    Random random(1);
    const TransformerOptions options{.vocab_size = vocabulary.size(),
                                     .max_length = 12,
                                     .d_model = 4,
                                     .num_heads = 2,
                                     .num_layers = 1};
    write_transformer(folder_ / name, Transformer(options, random),
                      to_metadata(vocabulary, next_word_batch(vocabulary, {{}})));
  }

  TemporaryFolder folder_;
};

std::string take_line(std::string& rest) {
  const std::size_t end = std::min(rest.find('\n'), rest.size());
  std::string line = rest.substr(0, end);
  rest.erase(0, end + 1);
  return line;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Desk desk;
  std::string rest = fuzz::text_of(data, size);
  const std::string query = take_line(rest), key = take_line(rest);
  for (const char* name : {"words", "characters"}) {
    const std::string model = desk / name;
    command::WhyOptions why;
    why.checkpoint = model;
    why.text = rest;
    why.query = query;
    why.key = key;
    fuzz::done([&] { command::why(why); });
    command::CutOptions cut;
    cut.checkpoint = model;
    cut.text = rest;
    cut.token = query;
    cut.parts = {key};
    cut.draws = 2;
    cut.out = desk / "out";
    fuzz::done([&] { command::cut(cut); });
    fuzz::done(
        [&] { command::generate({.checkpoint = model, .text = rest, .length = 3, .top_k = 2}); });
  }
  return 0;
}
