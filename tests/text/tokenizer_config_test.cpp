// What tokenizer_config.json and added_tokens.json say about a vocabulary beside them.
#include "catch.hpp"
#include "ops/expect.hpp"
#include "small_tokenizer.hpp"

using namespace tapestry;

namespace {

using Strings = std::vector<std::string>;
using Words = std::initializer_list<const char*>;

const std::string vocab_txt = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\nun\n";

// Bytes, "th", and these tokens.
Tokenizer of_bytes(std::vector<std::string> more, const std::string& config) {
  more.insert(more.begin(), "th");
  return tokenizer_of({{"vocab.json", vocabulary_of(byte_tokens(more)).dump()},
                       {"merges.txt", "t h\n"},
                       {"tokenizer_config.json", config}});
}

Tokenizer of_words(const std::string& config) {
  return tokenizer_of({{"vocab.txt", vocab_txt}, {"tokenizer_config.json", config}});
}

std::string refused_bytes(const std::string& config, Words words) {
  return complaint([&] { of_bytes({"<|endoftext|>"}, config); }, words);
}

std::string refused_words(const std::string& config, Words words) {
  return complaint([&] { of_words(config); }, words);
}

std::string refused_beside(const char* name, const std::string& text, Words words) {
  return complaint(
      [&] {
        tokenizer_of({{"vocab.json", R"({"a": 0, "b": 1, "ab": 2})"},
                      {"merges.txt", "a b\n"},
                      {name, text}});
      },
      words);
}

Strings pieces(const Tokenizer& tokenizer, const std::string& text) {
  return tokenizer.explain(text).steps.back().pieces;
}

}  // namespace

TEST_CASE("the tokenizer_class says how a vocab.json is used: GPT-2's", "[text]") {
  for (const char* config :
       {"{}", R"({"tokenizer_class": "GPT2Tokenizer"})", R"({"tokenizer_class": null})",
        R"({"tokenizer_class": "GPT2TokenizerFast", "pad_token": null, "add_bos_token": false})"}) {
    const Tokenizer tokenizer = of_bytes({"<|endoftext|>"}, config);
    CHECK(pieces(tokenizer, "a12'S e\u0301") == Strings{"a", "12", "'", "S", " e", "\u0301"});
    CHECK(tokens_of(tokenizer, "th<|endoftext|>", true) == Strings{"th", "<|endoftext|>"});
  }
}

TEST_CASE("the tokenizer_class says how a vocab.json is used: Qwen2's", "[text]") {
  const Tokenizer tokenizer = of_bytes({"<|endoftext|>"}, R"({"tokenizer_class": "Qwen2Tokenizer",
      "add_prefix_space": false, "bos_token": null, "eos_token": "<|endoftext|>",
      "split_special_tokens": false})");
  CHECK(pieces(tokenizer, "a12'S e\u0301") == Strings{"a", "1", "2", "'S", " é"});
  CHECK(tokens_of(tokenizer, "th<|endoftext|>", true) == Strings{"th", "<|endoftext|>"});
  CHECK(tokenizer.front().empty());
  CHECK(tokenizer.eos() == tokenizer.id("<|endoftext|>"));
}

TEST_CASE("the tokenizer_class says how a vocab.json is used: RoBERTa's", "[text]") {
  const std::vector<std::string> special = {"<s>", "</s>", "<unk>", "<mask>"};
  const Tokenizer tokenizer = of_bytes(special, R"({"tokenizer_class": "RobertaTokenizer"})");
  CHECK(tokens_of(tokenizer, "a <mask></s>", true) ==
        Strings{"<s>", "a", "<mask>", "</s>", "</s>"});
  CHECK(tokenizer.is_special(tokenizer.id("<mask>")));
  CHECK(tokenizer.bos() == tokenizer.id("<s>"));
  CHECK(tokenizer.eos() == tokenizer.id("</s>"));
  const Tokenizer other =
      of_bytes(special, R"({"tokenizer_class": "RobertaTokenizer", "cls_token": "<unk>",
                   "sep_token": {"content": "th", "lstrip": true}, "add_prefix_space": true})");
  CHECK(tokens_of(other, "a", true) == Strings{"<unk>", "Ġ", "a", "th"});
  CHECK(refused_bytes(R"({"tokenizer_class": "RobertaTokenizer"})",
                      {"vocab.json: the vocabulary has no <s>: it is not one of RoBERTa's"}) == "");
}

TEST_CASE("a tokenizer_class that is not known is refused", "[text]") {
  CHECK(refused_bytes(R"({"tokenizer_class": "CodeGenTokenizer"})",
                      {"/tokenizer_config.json: its tokenizer_class is 'CodeGenTokenizer'",
                       "GPT2Tokenizer, Qwen2Tokenizer, RobertaTokenizer",
                       "Convert it to tokenizer.json"}) == "");
  CHECK(refused_bytes(R"({"tokenizer_class": 2})", {"\"tokenizer_class\" that is not text"}) == "");
  CHECK(refused_words(R"({"tokenizer_class": "GPT2Tokenizer"})",
                      {"BertTokenizer, DistilBertTokenizer, ElectraTokenizer"}) == "");
  CHECK(of_words(R"({"tokenizer_class": "DistilBertTokenizer"})").contains("the"));
  SmallJson json = byte_level_json();  // says all itself
  const Tokenizer tokenizer =
      tokenizer_of({{"tokenizer.json", json.dump()},
                    {"tokenizer_config.json", R"({"tokenizer_class": "CodeGenTokenizer"})"}});
  CHECK(tokens_of(tokenizer, "the") == Strings{"the"});
}

TEST_CASE("the config of a vocab.txt may name other special tokens", "[text]") {
  const Tokenizer tokenizer =
      of_words(R"({"cls_token": "the", "sep_token": "[PAD]", "unk_token": {"content": "[MASK]"}})");
  CHECK(tokens_of(tokenizer, "un x", true) == Strings{"the", "un", "[MASK]", "[PAD]"});
  CHECK(tokenizer.is_special(tokenizer.id("the")));
}

TEST_CASE("a bos_token is put in front only if the config says so", "[text]") {
  const Tokenizer tokenizer =
      of_bytes({"<|endoftext|>"}, R"({"bos_token": {"__type": "AddedToken", "content": "th"}})");
  CHECK(tokenizer.bos() == tokenizer.id("th"));
  CHECK(tokens_of(tokenizer, "a", true) == Strings{"a"});
}

TEST_CASE("a token without letters is no special one", "[text]") {
  const Tokenizer tokenizer = of_bytes({"<|endoftext|>", ""}, "{}");
  CHECK(tokenizer.is_special(257));
  CHECK_FALSE(tokenizer.is_special(258));
}

TEST_CASE("of tokens in added_tokens.json only special ones are found before normalising",
          "[text]") {
  const Tokenizer tokenizer =
      tokenizer_of({{"vocab.json", vocabulary_of(byte_tokens({"<|endoftext|>"})).dump()},
                    {"merges.txt", "\n"},
                    {"tokenizer_config.json",
                     R"({"tokenizer_class": "Qwen2Tokenizer", "pad_token": "<e\u0301>"})"},
                    {"added_tokens.json", R"({"<e\u0301>": 257, "\u00e9!": 258})"}});
  CHECK(tokenizer.encode("e\u0301!").values == Ids{258});  // as NFC makes it
  CHECK(tokenizer.encode("<e\u0301>").values == Ids{257});
  CHECK(tokenizer.encode("<\u00e9>").values.size() == 4);  // < é > of four bytes
}

TEST_CASE("a config may list the token with id 0", "[text]") {
  const Tokenizer tokenizer = tokenizer_of(
      {{"vocab.json", R"({"ab": 0, "a": 1, "b": 2})"},
       {"merges.txt", "\n"},
       {"tokenizer_config.json", R"({"added_tokens_decoder": {"0": {"content": "ab"}}})"}});
  CHECK(tokenizer.encode("bab").values == Ids{2, 0});
}

TEST_CASE("more special tokens", "[text]") {
  const Tokenizer tokenizer =
      of_bytes({"<x>", "<y>"}, R"({"additional_special_tokens": ["<x>", {"content": "<y>"}]})");
  CHECK(tokens_of(tokenizer, "th<x><y>") == Strings{"th", "<x>", "<y>"});
  CHECK(tokenizer.decode(tokenizer.encode("th<x><y>").values) == "th");
  CHECK(refused_bytes(R"({"additional_special_tokens": "<x>"})",
                      {"its additional_special_tokens are not a list"}) == "");
}

TEST_CASE("options of a config that change results and are not supported are named", "[text]") {
  CHECK(refused_words(R"({"do_lower_case": 1})",
                      {"/tokenizer_config.json: it has a \"do_lower_case\" that is not true"}) ==
        "");
  CHECK(refused_words(R"({"do_basic_tokenize": false})",
                      {"/tokenizer_config.json: its do_basic_tokenize is false, which is not "
                       "supported: only true is"}) == "");
  CHECK(refused_words(R"({"never_split": ["the"]})", {"its never_split is [\"the\"]"}) == "");
  CHECK(refused_words(R"({"wordpieces_prefix": "@"})", {"its wordpieces_prefix is \"@\""}) == "");
  CHECK(refused_words(R"({"split_special_tokens": true})", {"its split_special_tokens"}) == "");
  CHECK(refused_bytes(R"({"split_special_tokens": true})", {"its split_special_tokens"}) == "");
  CHECK(refused_bytes(R"({"tokenizer_class": "Qwen2Tokenizer", "add_prefix_space": true})",
                      {"its add_prefix_space is true"}) == "");
  CHECK(of_words(R"({"do_basic_tokenize": true, "never_split": null})").size() == 7);
  CHECK(of_words(R"({"never_split": []})").size() == 7);
}

TEST_CASE("special tokens that no vocabulary has are named", "[text]") {
  CHECK(refused_bytes(R"({"bos_token": "<s>"})",
                      {"/tokenizer_config.json: its bos_token is '<s>', which is not in the "
                       "vocabulary"}) == "");
  CHECK(refused_bytes(R"({"pad_token": {"content": "<pad>"}})", {"its pad_token is '<pad>'"}) ==
        "");
  CHECK(refused_bytes(R"({"eos_token": 5})", {"its eos_token must be a JSON object"}) == "");
  CHECK(refused_words(R"({"mask_token": "<mask>"})", {"its mask_token is '<mask>'"}) == "");
  const std::string json = byte_level_json().dump();
  CHECK(complaint(
            [&] {
              tokenizer_of({{"tokenizer.json", json},
                            {"tokenizer_config.json", R"({"eos_token": "</s>"})"}});
            },
            {"/tokenizer_config.json: its eos_token is '</s>', which is not in the vocabulary"}) ==
        "");
}

TEST_CASE("blank lines at the end of a vocab.txt are no tokens", "[text]") {
  for (const char* end : {"", "\n", "\n\n\n", "\r\n\r\n"}) {
    CHECK(tokenizer_of({{"vocab.txt", vocab_txt + end}}).size() == 7);
  }
  CHECK(tokenizer_of({{"vocab.txt", vocab_txt + "\nx"}}).id("x") == 8);
  CHECK(complaint([] { tokenizer_of({{"vocab.txt", vocab_txt + "\n\nx"}}); },
                  {"token '' stands twice in the vocabulary, with ids 7 and 8"}) == "");
}

TEST_CASE("files beside a vocabulary that are damaged or contradict it", "[text]") {
  CHECK(refused_beside("tokenizer_config.json", "{", {"tokenizer_config.json: it is not valid"}) ==
        "");
  CHECK(refused_beside("added_tokens.json", "[]", {"added_tokens.json: it is not a JSON object"}) ==
        "");
  CHECK(refused_beside("added_tokens.json", R"({"x": -1})", {"gives 'x' the id -1"}) == "");
  CHECK(refused_beside("added_tokens.json", R"({"x": 4194304})",
                       {"'x' the id 4194304, which is"}) == "");
  CHECK(refused_beside("added_tokens.json", R"({"x": 1})",
                       {"tokens 'b' and 'x' have the same id, 1"}) == "");
  CHECK(refused_beside("tokenizer_config.json", R"({"added_tokens_decoder": {"9": {}}})",
                       {"/tokenizer_config.json: an added token has no \"content\""}) == "");
  CHECK(refused_beside("tokenizer_config.json", R"({"added_tokens_decoder": []})",
                       {"its added_tokens_decoder is not a JSON object"}) == "");
  CHECK(refused_beside("tokenizer_config.json",
                       R"({"added_tokens_decoder": {"x": {"content": "y"}}})",
                       {"an added token's id, 'x', is not a whole number"}) == "");
}
