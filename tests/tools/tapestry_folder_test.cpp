// `tapestry convert`, and `tapestry generate` with folders of models.
#include <fstream>

#include "catch.hpp"
#include "process.hpp"
#include "small_folder.hpp"

using namespace tapestry;

namespace {

Result generated(const std::string& arguments, const std::string& before = "") {
  return tapestry_in(small_desk(), "generate --model m " + arguments, before);
}

std::string problem(const std::string& arguments) {
  const Result result = tapestry_in(small_desk(), arguments);
  CHECK(result.status == 1);
  CHECK(result.out == "");
  return result.err;
}

}  // namespace

TEST_CASE("a converted model writes, and says how fast", "[phase7][tools]") {
  const Result written = generated("--text 'ab é' --length 5 --seed 2");
  CHECK(written.status == 0);
  CHECK(written.out.starts_with("ab é"));
  CHECK(has(written.err, " a second; prompt: 5 tokens (<s> in front) in "));
  CHECK(written.out == generated("--text 'ab é' --length 5 --seed 2").out);
  CHECK(written.out != generated("--text 'ab é' --length 5 --seed 3").out);
  check_utf8(written.out);
  CHECK(generated("--length 0").out == "\n");
}

TEST_CASE("standard input is the prompt in a pipe, or where it is asked for", "[phase7][tools]") {
  const auto piped = [](const std::string& more) {
    const TemporaryFolder words;
    const std::string line = "cd '" + small_desk().string() + "' && printf 'a b\\n' | '" +
                             command_path() + "' generate --model m --length 0" + more + " >'" +
                             (words / "out").string() + "' 2>/dev/null";
    CHECK(std::system(line.c_str()) == 0);
    return content(words / "out");
  };
  CHECK(piped("") == "a b\n");
  CHECK(piped(" --text -") == "a b\n");
  CHECK(piped(" --text é") == "é\n");
}

TEST_CASE("a text ends with the ids that the configs name", "[phase7][tools]") {
  const TemporaryFolder words;
  std::filesystem::copy(small_desk() / "m", words / "m");
  const auto written = [&] {
    return tapestry_in(words / "", "generate --model m --text a --temperature 0 --length 9");
  };
  const auto put_ids = [&](const char* file, const std::string& ids) {
    std::ofstream(words / "m" / file) << "{\"eos_token_id\": " + ids + "}";
  };
  std::string any = "[3";  // all but the three special ones
  for (int id = 4; id < 264; ++id) any += ", " + std::to_string(id);
  any += "]";
  const std::string whole = written().out;
  REQUIRE(whole.size() > 2);
  put_ids("generation_config.json", any);
  CHECK(written().out == "a\n");
  std::string config = content(words / "m/config.json");
  const std::string end = "\"eos_token_id\": 2";
  REQUIRE(has(config, end));
  std::ofstream(words / "m/config.json")
      << config.replace(config.find(end), end.size(), "\"eos_token_id\": " + any);
  put_ids("generation_config.json", "2");  // counts before config.json
  CHECK(written().out == whole);
  put_ids("generation_config.json", "null");
  CHECK(written().out == "a\n");
  put_ids("generation_config.json", "[2, 2147483647]");
  CHECK(written().out == whole);
  put_ids("generation_config.json", "2147483648");
  CHECK(has(written().err, "must be an id, a whole number from 0 on, or a list of ids."));
  put_ids("generation_config.json", "[2, \"</s>\"]");
  CHECK(
      has(written().err, "generation_config.json: 'eos_token_id' is '[2,\"</s>\"]', but must be"));
  CHECK(written().status == 1);
}

TEST_CASE("stop words, penalty and probabilities", "[phase7][tools]") {
  const std::string greedily = "--text a --temperature 0 --length 9 ";
  const std::string whole = generated(greedily).out;
  REQUIRE(whole.size() > 4);
  INFO(whole);
  const std::string stop = whole.substr(whole.size() - 3, 2), text = whole.substr(1);
  const std::string cut = generated(greedily + "--stop none --stop '" + stop + "'").out;
  CHECK(cut == "a" + text.substr(0, text.find(stop)) + "\n");
  CHECK(generated(greedily + "--repetition-penalty 0.01").out != whole);
  const Result listed = generated(greedily + "--probabilities");
  CHECK(listed.out.starts_with("probability  word\n"));
  CHECK(std::count(listed.out.begin(), listed.out.end(), '\n') <= 10);
}

TEST_CASE("folders and prompts from which nothing can be written are refused", "[phase7][tools]") {
  CHECK(problem("generate") == "tapestry: --checkpoint is required, or --model.\n");
  CHECK(has(problem("generate --model none"), "none"));
  CHECK(has(problem("generate --model . --text a"), "config.json"));
  std::string letters = "a";
  for (int i = 0; i < 20; ++i) letters += " b";
  CHECK(has(problem("generate --model m --text '" + letters + "'"),
            "tokens, but the model has 32 positions: shorten it."));
  CHECK(has(problem("generate --model m --text 'caf\xe9'"), "the text is not UTF-8 at byte 3"));
  CHECK(has(problem("generate --model m --stop ''"), "a stop word is empty"));
  CHECK(has(problem("generate --model m --repetition-penalty 0"), "the penalty is 0"));
  CHECK(has(problem("generate --model m --temperature 0 --top-k 3"), "temperature 0"));
  CHECK(has(problem("convert m.bin m"), "m has a model already"));
  const Result both = tapestry_in(small_desk(), "generate --model m --checkpoint m");
  CHECK(both.status == 2);
  CHECK(has(both.err, "--checkpoint excludes --model"));
}
