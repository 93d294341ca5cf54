// Bad invocations of `tapestry`: one clear line, a non-zero status, and nothing left behind.
#include <sys/stat.h>

#include "catch.hpp"
#include "ops/expect.hpp"
#include "process.hpp"
#include "tapestry/io/npy.hpp"
#include "tapestry/io/transformer_file.hpp"

using namespace tapestry;

namespace {

// A fresh folder with files of every wrong kind.
class Desk {
 public:
  Desk() {
    std::ofstream(folder_ / "text.txt") << "hello";
    std::ofstream(folder_ / "empty.txt");
    std::ofstream(folder_ / "latin.txt") << "caf\xe9 caf\xe9";
    const std::string model = content(models() / "words");
    std::ofstream(folder_ / "cut") << model.substr(0, model.size() / 2);
    std::ofstream(folder_ / "head") << model.substr(0, 100);
    std::filesystem::copy_file(models() / "words", folder_ / "m");
    write_safetensors(folder_ / "tensors", {{"w", Tensor({2}, {1, 2})}}, {{"step", "14"}});
    Random random(1);
    const Transformer tiny(
        {.vocab_size = 9, .max_length = 4, .d_model = 4, .num_heads = 1, .num_layers = 1}, random);
    auto huge = to_metadata(tiny.options);
    huge["transformer.layers"] = "16000000";
    write_safetensors(folder_ / "huge", tiny.parameters(), huge);
    huge["transformer.layers"] = "-1";
    write_safetensors(folder_ / "minus", tiny.parameters(), huge);
    write_transformer(folder_ / "lying", tiny, {{"words", "a b"}, {"words.unit", "word"}});
    write_transformer(folder_ / "unit", tiny, {{"words", "a b"}, {"words.unit", "\x1b[31m"}});
    ::mkfifo((folder_ / "pipe").c_str(), 0600);
    std::filesystem::create_symlink("loop", folder_ / "loop");
    before_ = all_in(folder_ / "");
  }

  // "" if the command says one line with these words, fails, and leaves nothing behind.
  std::string refused(const std::string& arguments, std::initializer_list<const char*> words,
                      const std::string& before = "") {
    const Result result = tapestry_in(folder_ / "", arguments, before);
    std::string line = result.err;
    if (line.empty() || line.back() != '\n') return "no line on standard error: " + result.err;
    line.pop_back();
    if (result.status != 1 && result.status != 2) return "status " + std::to_string(result.status);
    if (!result.out.empty()) return "it printed " + result.out;
    if (!line.starts_with("tapestry: ")) return line;
    if (line.find('\x1b') != std::string::npos) return "it commands the terminal";
    if (line.size() > 400) return "too long: " + line;
    if (all_in(folder_ / "") != before_) return "it left something behind";
    return missing_word(line, words);
  }

 private:
  TemporaryFolder folder_;
  std::vector<std::string> before_;
};

}  // namespace

TEST_CASE("what cannot be converted is refused", "[phase7][tools]") {
  Desk place;
  CHECK(place.refused("convert", {"INPUT is required"}) == "");
  CHECK(place.refused("convert text.txt", {"FOLDER is required"}) == "");
  CHECK(place.refused("convert none.bin new", {"none.bin: there is no such file"}) == "");
  CHECK(place.refused("convert . new", {".: it is not a regular file"}) == "");
  CHECK(place.refused("convert text.txt new", {"text.txt: it is too short to be a model"}) == "");
  CHECK(place.refused("convert m new", {"m: it is no model of llama2.c"}) == "");
  CHECK(place.refused("convert m.safetensors new", {"safetensors need no conversion"}) == "");
}

TEST_CASE("bad commands and options are refused", "[phase5][tools]") {
  Desk place;
  CHECK(place.refused("", {"give a command", "analyze", "doctor", "--help"}) == "");
  CHECK(place.refused("trian", {"'trian' is not a command", "Did you mean train?"}) == "");
  CHECK(place.refused("''", {"is not a command"}) == "");
  CHECK(place.refused("--frobnicate", {"'--frobnicate' is not a command"}) == "");
  CHECK(place.refused("'\x1b[31m'", {"is not a command"}) == "");
  CHECK(place.refused("train copy --stepz 5", {"'--stepz'", "Did you mean --steps?"}) == "");
  CHECK(place.refused("doctor --stepz=5", {"'--stepz=5' is not an option of doctor"}) == "");
  CHECK(place.refused("doctor now", {"not expected", "now"}) == "");
  CHECK(place.refused("train copy sort", {"not expected", "sort"}) == "");
  CHECK(place.refused("generate --checkpoint", {"--checkpoint: a value must follow it ("}) == "");
  CHECK(place.refused("train copy --steps", {"--steps: a value must follow it ("}) == "");
  CHECK(place.refused("lab --lengths", {"--lengths: a value must follow it ("}) == "");
  CHECK(place.refused("generate", {"--checkpoint is required, or --model"}) == "");
  CHECK(place.refused("generate --checkpoint m --checkpoint m", {"--checkpoint"}) == "");
  CHECK(place.refused("analyze --checkpoint m", {"--text is required"}) == "");
}

TEST_CASE("numbers that make no sense are refused", "[phase5][tools]") {
  Desk place;
  CHECK(place.refused("train copy --steps -5", {"--steps", "-5"}) == "");
  CHECK(place.refused("train copy --steps many", {"--steps", "many"}) == "");
  CHECK(place.refused("train copy --steps 99999999999999999999", {"--steps"}) == "");
  CHECK(place.refused("train copy --seed -1", {"--seed", "-1"}) == "");
  CHECK(place.refused("train copy --batch 0", {"--batch"}) == "");
  CHECK(place.refused("train copy --rate nan", {"rate is nan"}) == "");
  CHECK(place.refused("train copy --rate 7", {"--rate"}) == "");
  CHECK(place.refused("train copy --width 63", {"--heads 4 must divide --width 63"}) == "");
  CHECK(place.refused("train copy --width 1024 --layers 64", {"805 million numbers"}) == "");
  CHECK(place.refused("generate --checkpoint m --temperature nan", {"temperature is nan"}) == "");
  CHECK(place.refused("generate --checkpoint m --temperature -1", {"--temperature"}) == "");
  CHECK(place.refused("generate --checkpoint m --top-p 0", {"top_p is 0"}) == "");
  CHECK(place.refused("generate --checkpoint m --length -1", {"--length"}) == "");
  CHECK(place.refused("generate --checkpoint m --count 0", {"--count"}) == "");
}

TEST_CASE("names that are empty are refused, not taken for none", "[phase5][tools]") {
  Desk place;
  const auto empty = {"the name is empty"};
  CHECK(place.refused("train copy --checkpoint ''", {"--checkpoint", *empty.begin()}) == "");
  CHECK(place.refused("train '' --resume --checkpoint m", empty) == "");
  CHECK(place.refused("generate --checkpoint ''", empty) == "");
  CHECK(place.refused("analyze --checkpoint '' --text the", empty) == "");
  CHECK(place.refused("analyze --checkpoint m --text the --out ''", empty) == "");
  CHECK(place.refused("analyze --checkpoint m --text the --table ''", empty) == "");
  CHECK(place.refused("plot m --tensor ''", {"--tensor", *empty.begin()}) == "");
  CHECK(place.refused("plot ''", empty) == "");
  CHECK(place.refused("tape ''", empty) == "");
}

TEST_CASE("a format of pictures that does not exist is refused", "[phase5][tools]") {
  Desk place;
  for (const std::string command :
       {"tape", "plot m", "train copy", "analyze --checkpoint m --text the"}) {
    CHECK(place.refused(command + " --format jpg",
                        {"--format", "'jpg' is not a format; there are png and svg"}) == "");
  }
}

TEST_CASE("kernels that do not exist are refused before the work", "[phase5][tools]") {
  Desk place;
  for (const char* work : {"train copy", "tape", "lab", "plot m", "generate --checkpoint m"}) {
    CAPTURE(work);
    CHECK(place.refused(work, {"'bogus' is no kernel set", "TAPESTRY_KERNELS"},
                        "TAPESTRY_KERNELS=bogus") == "");
  }
}

TEST_CASE("sizes that the laboratory cannot have are refused", "[phase6][tools]") {
  Desk place;
  CHECK(place.refused("lab --lengths 0", {"--lengths", "0"}) == "");
  CHECK(place.refused("lab --lengths 64,x", {"--lengths", "x"}) == "");
  CHECK(place.refused("lab --lengths 64,-5", {"--lengths", "-5"}) == "");
  CHECK(place.refused("lab --lengths 99999999", {"--lengths", "99999999"}) == "");
  CHECK(place.refused("lab --lengths", {"--lengths"}) == "");
  CHECK(place.refused("lab --width 63", {"--heads 4 must divide --width 63"}) == "");
  CHECK(place.refused("lab --batch 0", {"--batch"}) == "");
  CHECK(place.refused("lab --threads 0", {"--threads"}) == "");
  CHECK(place.refused("lab --seconds nan", {"--seconds is nan"}) == "");
  CHECK(place.refused("lab --cuasal", {"Did you mean --causal?"}) == "");
  CHECK(place.refused("lab now", {"not expected", "now"}) == "");
  CHECK(place.refused("lab --lengths 8,65536 --batch 4096 --width 4096",
                      {"65536 positions", "too much for the memory"}) == "");
}

TEST_CASE("files that are no model are refused, and it is said what they are", "[phase5][tools]") {
  Desk place;
  const auto read = [&](const std::string& file, std::initializer_list<const char*> words) {
    return place.refused("analyze --text the --checkpoint " + file, words);
  };
  CHECK(read("nowhere", {"nowhere: there is no such file"}) == "");
  CHECK(read(".", {"not a regular file"}) == "");
  CHECK(read("/dev/zero", {"/dev/zero", "not a regular file"}) == "");
  CHECK(read("pipe", {"pipe: it is not a regular file"}) == "");
  CHECK(read("loop", {"loop", "Too many levels of symbolic links"}) == "");
  CHECK(read("text.txt", {"text.txt"}) == "");
  CHECK(read("empty.txt", {"empty.txt"}) == "");
  CHECK(read("cut", {"cut"}) == "");
  CHECK(read("head", {"head", "cut off"}) == "");
  CHECK(read("tensors", {"tensors: it holds no transformer, but 1 tensors", "step '14'", "plot"}) ==
        "");
  CHECK(read("huge", {"huge", "blocks.1"}) == "");
  CHECK(read("minus", {"minus", "transformer.layers"}) == "");
  CHECK(read("lying", {"names 7 words, but its model has 9"}) == "");
  CHECK(read("unit", {"'words.unit'", "word or character"}) == "");
}

TEST_CASE("words, layers, heads and places that are not there are refused", "[phase5][tools]") {
  Desk place;
  const std::string analyze = "analyze --checkpoint m ";
  CHECK(place.refused(analyze + "--text ''", {"the text is empty"}) == "");
  CHECK(place.refused(analyze + "--text '  '", {"the text is empty"}) == "");
  CHECK(place.refused(analyze + "--text 'the caat'", {"'caat'", "Did you mean 'cat'?"}) == "");
  CHECK(place.refused(analyze + "--text 'the \xff'", {"none of the 96 words"}) == "");
  CHECK(place.refused(analyze + "--text '([{'", {"Write a blank between words."}) == "");
  CHECK(place.refused(analyze + "--text 'the the the the the the the'", {"at most 7"}) == "");
  const std::string long_text = " --checkpoint m --text 'the the the the the the the'";
  const auto too_long = {
      "the text has 8 words, <bos> included, but at most 7 can be read: the model"};
  CHECK(place.refused("generate" + long_text, too_long) == "");
  CHECK(place.refused("why --query 1 --key 0" + long_text, too_long) == "");
  CHECK(place.refused(analyze + "--text the --layer 2", {"no layer 2", "0 to 1"}) == "");
  CHECK(place.refused(analyze + "--text the --layer -1", {"--layer", "-1"}) == "");
  CHECK(place.refused(analyze + "--text the --head 2", {"no head 2", "0 to 1"}) == "");
  CHECK(place.refused(analyze + "--text the --layer 0 --head 0 --pattern induction",
                      {"--pattern is for several heads", "Leave the option out."}) == "");
  CHECK(place.refused("generate --checkpoint m --text doge", {"'doge'"}) == "");
  const std::string why = "why --checkpoint m --text 'the cat sat on the mat' ";
  CHECK(place.refused(why + "--query sat", {"--key is required"}) == "");
  CHECK(place.refused(why + "--query the --key cat", {"several positions", "the@1, the@5"}) == "");
  CHECK(place.refused(why + "--query dog --key cat", {"--query 'dog'", "cat@2"}) == "");
  CHECK(place.refused(why + "--query sat --key cat@3", {"--key 'cat@3'"}) == "");
  CHECK(place.refused(why + "--query sat --key 7", {"--key '7'"}) == "");
  CHECK(place.refused(why + "--query sat --key cat --layer 9", {"no layer 9"}) == "");
}

TEST_CASE("results that cannot be written are refused before the work", "[phase5][tools]") {
  Desk place;
  CHECK(place.refused("train copy --checkpoint text.txt/x", {"text.txt/x", "Not a directory"}) ==
        "");
  CHECK(place.refused("train copy --checkpoint /proc/none/x", {"/proc/none"}) == "");
  CHECK(place.refused("train copy --checkpoint ./", {"names no file"}) == "");
  CHECK(place.refused("train copy --checkpoint loop", {"cannot write loop: Too many"}) == "");
  CHECK(place.refused("tape --out loop", {"loop", "Too many"}) == "");
  CHECK(place.refused("train copy --checkpoint m", {"exists already", "--overwrite"}) == "");
  CHECK(place.refused("train copy --checkpoint n --out text.txt", {"text.txt"}) == "");
  CHECK(place.refused("analyze --checkpoint m --text the --out text.txt", {"text.txt"}) == "");
  CHECK(place.refused("tape --out text.txt", {"text.txt"}) == "");
  CHECK(place.refused("tape neuron --out /proc/none", {"/proc/none"}) == "");
  CHECK(place.refused("generate --checkpoint m --count 100 >/dev/full", {"standard output"}) == "");
}

TEST_CASE("a run that goes on does not take options that contradict its file", "[phase5][tools]") {
  Desk place;
  const auto resumed = [&](const char* option, std::initializer_list<const char*> words) {
    return place.refused(std::string("train grammar --resume --steps 9 --checkpoint m ") + option,
                         words);
  };
  CHECK(resumed("--layers 3", {"m: its run has --layers 2, not 3", "--overwrite"}) == "");
  CHECK(resumed("--heads 4", {"--heads 2, not 4"}) == "");
  CHECK(resumed("--width 64", {"--width 8, not 64"}) == "");
  CHECK(resumed("--batch 32", {"--batch 2, not 32"}) == "");
  CHECK(resumed("--rate 0.01", {"--rate 0.003, not 0.01"}) == "");
  CHECK(resumed("--seed 2", {"--seed 1, not 2"}) == "");
  CHECK(resumed("--attention-only", {"feed-forward layers, not --attention-only"}) == "");
  CHECK(resumed("--overwrite", {"--resume continues", "--overwrite replaces it"}) == "");
}

TEST_CASE("what cannot be learned or drawn is refused", "[phase5][tools]") {
  Desk place;
  CHECK(place.refused("train", {"give the task"}) == "");
  CHECK(place.refused("train copyy", {"neither a task", "Did you mean copy?"}) == "");
  CHECK(place.refused("train .", {"not a regular file"}) == "");
  const auto no_pieces = {"--length is for text files", "positions", "Leave the option out."};
  CHECK(place.refused("train grammar --length 12", no_pieces) == "");
  CHECK(place.refused("train reverse --length 12", no_pieces) == "");
  CHECK(place.refused("train grammar --resume --steps 9 --checkpoint m --length 12", no_pieces) ==
        "");
  CHECK(place.refused("train text.txt", {"too short"}) == "");
  CHECK(place.refused("train empty.txt", {"empty"}) == "");
  CHECK(place.refused("train latin.txt", {"not UTF-8"}) == "");
  CHECK(place.refused("train --resume", {"give the task"}) == "");
  CHECK(place.refused("train --resume --checkpoint nowhere", {"no such file"}) == "");
  CHECK(place.refused("train --resume --checkpoint lying", {"not written by `tapestry train`"}) ==
        "");
  CHECK(place.refused("train --resume --checkpoint m", {"has made its 3 steps"}) == "");
  CHECK(place.refused("train copy --resume --checkpoint m", {"learned 'grammar'"}) == "");
  CHECK(place.refused("train sort --resume", {"sort.safetensors", "no such file"}) == "");
  CHECK(place.refused("plot", {"FILE is required"}) == "");
  CHECK(place.refused("plot text.txt", {"text.txt"}) == "");
  CHECK(place.refused("plot empty.txt", {"empty.txt"}) == "");
  CHECK(place.refused("plot nowhere", {"nowhere: there is no such file"}) == "");
  CHECK(place.refused("analyze --checkpoint nowhere --text a",
                      {"tapestry: nowhere: there is no"}) == "");
  CHECK(place.refused("plot pipe", {"pipe: it is not a regular file"}, "timeout 60") == "");
  const char* const unread = "pipe: nobody reads from this pipe";
  CHECK(place.refused("train copy --checkpoint pipe --overwrite", {unread}, "timeout -k 1 60") ==
        "");
  CHECK(place.refused("analyze --checkpoint m --text 'the cat' --table pipe", {unread},
                      "timeout -k 1 60") == "");
  CHECK(place.refused("plot m --tensor words.wait", {"Did you mean 'words.weight'?"}) == "");
  CHECK(place.refused("tape neuro", {"Did you mean neuron?"}) == "");
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // these need all addresses
TEST_CASE("too little memory is told in one line, and leaves nothing behind", "[phase5][tools]") {
  const TemporaryFolder folder;
  write_npy(folder / "large.npy", Tensor::zeros({2000, 2000}));
  for (const std::string work : {"plot large.npy", "train grammar --width 512"}) {
    for (const char* limit : {"ulimit -v 30000 &&", "ulimit -v 40000 &&", "ulimit -v 50000 &&"}) {
      CAPTURE(work, limit);
      const Result result = tapestry_in(folder / "", work, limit);
      CHECK(result.status == 1);
      REQUIRE(result.err.ends_with("\n"));
      const std::string line = result.err.substr(0, result.err.size() - 1);
      CHECK(missing_word(line, {"tapestry: ", "out of memory", " a smaller "}) == "");
      CHECK(folder.files() == 1);
    }
  }
}
#endif
