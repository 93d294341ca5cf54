// Tokenizer files that are damaged, contradict themselves, or are not known: one line for each.
#include <functional>

#include "catch.hpp"
#include "ops/expect.hpp"
#include "small_tokenizer.hpp"

using namespace tapestry;

namespace {

using Change = std::function<void(SmallJson&)>;

std::string refused(const Change& change, std::initializer_list<const char*> words) {
  SmallJson json = byte_level_json();
  change(json);
  return complaint([&] { tokenizer_of(json); }, words);
}

std::string refused_text(const std::string& text, std::initializer_list<const char*> words) {
  return complaint([&] { tokenizer_of({{"tokenizer.json", text}}); }, words);
}

std::string refused_merges(const std::string& merges, std::initializer_list<const char*> words) {
  return complaint(
      [&] {
        tokenizer_of({{"vocab.json", R"({"a": 0, "b": 1, "ab": 2})"}, {"merges.txt", merges}});
      },
      words);
}

}  // namespace

TEST_CASE("a folder without a tokenizer, and files that are none, are named", "[text]") {
  const TemporaryFolder folder;
  CHECK(complaint([&] { read_tokenizer(folder / "none"); },
                  {"read_tokenizer: ", "none: there is no such file or folder"}) == "");
  CHECK(complaint([&] { read_tokenizer(folder / ""); },
                  {"it has none of tokenizer.json, vocab.json, vocab.txt and tokenizer.bin"}) ==
        "");
  CHECK(complaint([&] { read_tokenizer(folder / ""); }, {"tokenizer.model"}) != "");  // not there
  write(folder / "tokenizer.model", "x");
  CHECK(complaint([&] { read_tokenizer(folder / ""); }, {"tokenizer.model is not read"}) == "");
  CHECK(complaint([&] { read_tokenizer(folder / "tokenizer.model"); }, {"it is none of"}) == "");
  write(folder / "vocab.json", "{\"a\": 0}");
  CHECK(complaint([&] { read_tokenizer(folder / ""); }, {"merges.txt: there is no such file"}) ==
        "");
  CHECK(complaint([&] { read_tokenizer(folder / ""); }, {"vocab.json: read_tokenizer"}) != "");
  write(folder / "tokenizer.json", "");
  CHECK(complaint([&] { read_tokenizer(folder / ""); }, {"tokenizer.json: it is empty"}) == "");
  CHECK(complaint([&] { read_tokenizer(folder / std::string(300, 'a')); },
                  {"read_tokenizer: ", "aaa: File name too long."}) == "");
}

TEST_CASE("files of more than 100 MB are no tokenizers", "[text]") {
  const TemporaryFolder folder;
  write(folder / "large", "x");
  std::filesystem::resize_file(folder / "large", 100'000'001);  // sparse: takes no room
  CHECK(complaint([&] { read_tokenizer(folder / "large"); }, {"large: it has more than 100 MB"}) ==
        "");
  std::filesystem::resize_file(folder / "large", 100'000'000);
  CHECK(complaint([&] { read_tokenizer(folder / "large"); }, {"large: it is none of"}) == "");
}

TEST_CASE("JSON that is none", "[text]") {
  CHECK(refused_text("{\"model\": ", {"tokenizer.json: it is not valid JSON near byte 11"}) == "");
  CHECK(refused_text("[1]", {"it must be a JSON object"}) == "");
  CHECK(refused_text("{}", {"it has no \"model\""}) == "");
  CHECK(refused_text(std::string("{}\0{}", 5), {"NUL byte, at byte 2"}) == "");
  CHECK(refused_text(std::string(100'000, '['), {"nested more than 64 deep"}) == "");
  CHECK(refused_text("{\"model\": 1e999}", {"out of range"}) == "");
  CHECK(refused_text("{\"a\": 1, \"a\": 2}", {"the name 'a' stands twice"}) == "");
  CHECK(refused_text("{\"\xFF\": 1}", {"not valid JSON"}) == "");
}

TEST_CASE("vocabularies that contradict themselves", "[text]") {
  CHECK(refused_text(R"({"model": {"vocab": {"a": 0, "b": 0}, "merges": []}})",
                     {"tokens 'a' and 'b' have the same id, 0"}) == "");
  CHECK(refused_text(R"({"model": {"vocab": {"a": 0, "a": 1}, "merges": []}})",
                     {"the name 'a' stands twice"}) == "");
  for (const char* id : {"-1", "1.5", "\"1\"", "1000000001"}) {
    CHECK(refused_text(std::string(R"({"model": {"merges": [], "vocab": {"a": )") + id + "}}}",
                       {"token 'a' has an id that is not a whole number from 0 on"}) == "");
  }
  CHECK(refused_text(R"({"model": {"merges": [], "vocab": {"a": 4194304}}})",
                     {"token 'a' has id 4194304: ids must be within 0 and 4194303"}) == "");
  CHECK(refused_text(R"({"model": {"merges": [], "vocab": {"a": 1000000000}}})",
                     {"token 'a' has id 1000000000: ids must be within"}) == "");
  CHECK(refused_text(R"({"model": {"merges": [], "vocab": [1]}})",
                     {"its vocabulary must be a JSON object"}) == "");
  CHECK(complaint([] { tokenizer_of({{"vocab.txt", "[UNK]\n[CLS]\n[SEP]\na\na\n"}}); },
                  {"token 'a' stands twice in the vocabulary, with ids 3 and 4"}) == "");
  CHECK(complaint([] { tokenizer_of({{"vocab.txt", "a\nb\n"}}); },
                  {"the vocabulary has no [UNK]"}) == "");
  CHECK(complaint([] { tokenizer_of({{"vocab.txt", "a\n\xFF\n"}}); }, {"not UTF-8"}) == "");
}

TEST_CASE("merges that name no token", "[text]") {
  CHECK(refused_merges("#version: 0.2\na b\nb a\n",
                       {"merge 2, 'b a': there is no token 'ba' in the vocabulary"}) == "");
  CHECK(refused_merges("a c\n", {"merge 1, 'a c': there is no token 'c'"}) == "");
  CHECK(refused_merges("a b\nab\n", {"line 2 of merges.txt, 'ab', is not two tokens"}) == "");
  CHECK(refused_merges("a b c\n", {"line 1 of merges.txt"}) == "");
  CHECK(refused_merges(" b\n", {"line 1 of merges.txt"}) == "");
  CHECK(refused_merges("a \n", {"line 1 of merges.txt, 'a '"}) == "");
  CHECK(refused_merges("a  b\n", {"line 1 of merges.txt, 'a  b'"}) == "");
  CHECK(refused([](SmallJson& j) { j["model"]["merges"].push_back("th x"); },
                {"merge 5, 'th x': there is no token 'thx'"}) == "");
  for (const SmallJson& merge : {SmallJson(7), SmallJson("th  e"), SmallJson::array({1, "e"}),
                                 SmallJson::array({"th", 1})}) {
    CHECK(refused([&](SmallJson& j) { j["model"]["merges"].push_back(merge); },
                  {"merge 5 is not two tokens"}) == "");
  }
  CHECK(refused([](SmallJson& j) { j["model"].erase("merges"); },
                {"its model has no \"merges\""}) == "");
}

TEST_CASE("components that are not known are named", "[text]") {
  const auto typed = [](const char* type) { return SmallJson{{"type", type}}; };
  CHECK(refused([&](SmallJson& j) { j["normalizer"] = typed("Nmt"); },
                {"its normalizer is 'Nmt', which is not known. There are NFC"}) == "");
  CHECK(refused([&](SmallJson& j) { j["pre_tokenizer"] = typed("UnicodeScripts"); },
                {"its pre_tokenizer is 'UnicodeScripts', which is not known"}) == "");
  CHECK(refused([&](SmallJson& j) { j["decoder"] = typed("CTC"); },
                {"its decoder is 'CTC', which is not known"}) == "");
  CHECK(refused([&](SmallJson& j) { j["post_processor"] = typed("Other"); },
                {"its post_processor is 'Other', which is not known"}) == "");
  CHECK(refused([&](SmallJson& j) { j["model"]["type"] = "Unigram"; },
                {"its model is 'Unigram': only BPE and WordPiece are read"}) == "");
  CHECK(refused([&](SmallJson& j) { j["normalizer"] = 5; },
                {"its normalizer must be a JSON object"}) == "");
  CHECK(refused([&](SmallJson& j) { j["new_part"] = 5; },
                {"it has an option that is not known, 'new_part'"}) == "");
  CHECK(refused([&](SmallJson& j) { j["version"] = "2.0"; }, {"it is not of version 1.0"}) == "");
}

TEST_CASE("options that change results and are not known are named", "[text]") {
  CHECK(refused([](SmallJson& j) { j["pre_tokenizer"]["mode"] = 1; },
                {"its pre_tokenizer ByteLevel has an option that is not known, 'mode'"}) == "");
  CHECK(refused([](SmallJson& j) { j["pre_tokenizer"]["add_prefix_space"] = 1; },
                {"has a \"add_prefix_space\" that is not true or false"}) == "");
  CHECK(refused([](SmallJson& j) { j["model"]["mode"] = 1; },
                {"its model has an option that is not known, 'mode'"}) == "");
  CHECK(refused([](SmallJson& j) { j["model"]["dropout"] = 0.1; }, {"dropout"}) == "");
  CHECK(refused([](SmallJson& j) { j["model"]["end_of_word_suffix"] = "</w>"; },
                {"end_of_word_suffix, which is not supported"}) == "");
  CHECK(refused([](SmallJson& j) { j["model"]["unk_token"] = "<unk>"; },
                {"unk_token '<unk>', which is not in its vocabulary"}) == "");
}

TEST_CASE("what its kind of model cannot do is refused", "[text]") {
  const SmallJson pieces = {
      {"type", "WordPiece"}, {"unk_token", ""}, {"vocab", {{"a", 0}, {"##b", 1}}}};
  CHECK(refused(
            [&](SmallJson& j) {
              j["model"] = pieces;
              j["pre_tokenizer"] = {{"type", "Whitespace"}};
            },
            {"its model has an empty unk_token: WordPiece needs one"}) == "");
  CHECK(refused(
            [&](SmallJson& j) {
              j["model"] = pieces;
              j["model"]["unk_token"] = "a";
            },
            {"its model is WordPiece behind a pre_tokenizer ByteLevel"}) == "");
  CHECK(refused(
            [](SmallJson& j) {
              j["model"]["byte_fallback"] = true;
              j["model"]["vocab"].erase("ĉ");
            },
            {"its model has byte_fallback", "'ĉ' is not in its vocabulary"}) == "");
  SmallJson complete = byte_level_json();
  complete["model"]["byte_fallback"] = true;
  CHECK(tokenizer_of(complete).encode("the").values == Ids{257});
}

TEST_CASE("regular expressions that are not known, and steps in a wrong order, are named",
          "[text]") {
  CHECK(refused(
            [](SmallJson& j) {
              j["pre_tokenizer"] = {{"type", "Split"},
                                    {"pattern", {{"Regex", "[a-z]+"}}},
                                    {"behavior", "Isolated"},
                                    {"invert", false}};
            },
            {"its pre_tokenizer Split has a pattern that is not known, '[a-z]+'", "GPT-2"}) == "");
  CHECK(refused(
            [](SmallJson& j) {
              j["normalizer"] = {
                  {"type", "Replace"}, {"pattern", {{"Regex", "a+"}}}, {"content", ""}};
            },
            {"its normalizer Replace has a regular expression, 'a+'"}) == "");
  CHECK(refused(
            [](SmallJson& j) {
              j["normalizer"] = {
                  {"type", "Replace"}, {"pattern", {{"String", ""}}}, {"content", ""}};
            },
            {"its normalizer Replace's pattern is empty"}) == "");
  CHECK(refused(
            [](SmallJson& j) {
              j["pre_tokenizer"] = {
                  {"type", "Sequence"},
                  {"pretokenizers", {{{"type", "ByteLevel"}}, {{"type", "Digits"}}}}};
            },
            {"Digits behind ByteLevel, which must come last"}) == "");
}

TEST_CASE("fields of patterns and templates that are not known are named", "[text]") {
  const auto refused_field = [](const std::string& place, const std::string& what) {
    SmallJson json = character_json();
    json[SmallJson::json_pointer(place + "/x")] = 1;
    const std::string words = "its " + what + " has an option that is not known, 'x'";
    return complaint([&] { tokenizer_of(json); }, {words.c_str()});
  };
  const std::string processor = "/post_processor";
  CHECK(refused_field("/normalizer/normalizers/1/pattern", "normalizer Replace's pattern") == "");
  CHECK(refused_field("/normalizer", "normalizer") == "");
  CHECK(refused_field(processor, "post_processor") == "");
  CHECK(refused_field(processor + "/single/0", "post_processor's template") == "");
  CHECK(refused_field(processor + "/single/0/SpecialToken", "post_processor's SpecialToken") == "");
  CHECK(refused_field(processor + "/single/1/Sequence", "post_processor's Sequence") == "");
  CHECK(refused_field(processor + "/special_tokens/<s>", "post_processor's token '<s>'") == "");
}

TEST_CASE("post-processors that disagree with the vocabulary", "[text]") {
  const SmallJson cls = {"the", 257};
  CHECK(refused(
            [&](SmallJson& j) {
              j["post_processor"] = {
                  {"type", "BertProcessing"}, {"cls", cls}, {"sep", {"<|end|>", 300}}};
            },
            {"its post_processor names '<|end|>' with id 300, which the vocabulary has not"}) ==
        "");
  CHECK(refused(
            [&](SmallJson& j) {
              j["post_processor"] = {{"type", "TemplateProcessing"},
                                     {"single", {{{"SpecialToken", {{"id", "x"}}}}}},
                                     {"special_tokens", {{"x", {{"ids", {999}}}}}}};
            },
            {"token 'x' has id 999, which is outside the vocabulary"}) == "");
  for (const SmallJson& wrong : {SmallJson::array({"the"}), SmallJson::array({257, "the"}),
                                 SmallJson::array({"the", "257"})}) {
    CHECK(refused(
              [&](SmallJson& j) {
                j["post_processor"] = {{"type", "BertProcessing"}, {"cls", wrong}, {"sep", cls}};
              },
              {"its post_processor has a \"cls\" that is not a token and its id"}) == "");
  }
  const SmallJson text = {{"Sequence", {{"id", "A"}}}};
  CHECK(refused(
            [&](SmallJson& j) {
              j["post_processor"] = {{"type", "TemplateProcessing"},
                                     {"single", SmallJson::array({text, text})}};
            },
            {"must have the text, A, once"}) == "");
  CHECK(refused(
            [&](SmallJson& j) {
              j["post_processor"] = {{"type", "TemplateProcessing"},
                                     {"single", SmallJson::array()}};
            },
            {"must have the text, A, once"}) == "");
}

TEST_CASE("llama2.c files that are cut off or lie about sizes", "[text]") {
  const auto bad = [](const std::string& bytes, std::initializer_list<const char*> words) {
    return complaint([&] { tokenizer_of({{"tokenizer.bin", bytes}}); }, words);
  };
  const std::string longest("\x05\0\0\0", 4), score("\0\0\0\0", 4);
  CHECK(bad("ab", {"tokenizer.bin: it ends before the longest token's length"}) == "");
  CHECK(bad(longest + "ab", {"it ends before a token's score"}) == "");
  CHECK(bad(longest + score + std::string("\x02\0\0\0ab", 6), {"it has 1 tokens", "256 bytes"}) ==
        "");
  CHECK(bad(longest + score +
                std::string("\xFF\xFF\xFF\x7F"
                            "ab",
                            6),
            {"token 0 has a length of 2147483647 bytes, but 2 follow"}) == "");
  CHECK(bad(longest + score + std::string("\xFF\xFF\xFF\xFF", 4), {"a length of -1"}) == "");
  CHECK(bad(longest + std::string("\0\0\xC0\x7F\0\0\0\0", 8), {"a score that is not a number"}) ==
        "");
}

TEST_CASE("numbers of characters that are none", "[text]") {
  for (const SmallJson& number : {SmallJson(-1), SmallJson(1.5), SmallJson("1"), SmallJson(true),
                                  SmallJson(1'000'000'000'001)}) {
    CHECK(refused(
              [&](SmallJson& json) {
                json["decoder"] = {
                    {"type", "Strip"}, {"content", "a"}, {"start", 0}, {"stop", number}};
              },
              {"has a \"stop\" that is not a whole number from 0 on"}) == "");
  }
}
