#include "tapestry/text/tokenizer.hpp"

#include <cstring>

#include "catch.hpp"
#include "models.hpp"
#include "ops/expect.hpp"
#include "small_tokenizer.hpp"
#include "tapestry/random.hpp"

using namespace tapestry;

namespace {

using Strings = std::vector<std::string>;

std::string vocab_json() {
  return vocabulary_of(byte_tokens({"th", "the", "<|endoftext|>"})).dump();
}
const std::string merges_txt = "#version: 0.2\nt h\nth e\n";
const std::string vocab_txt =
    "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\nun\n##able\n##s\ncafe\n!\n本\n";

std::string random_bytes(Random& random, Index length) {
  std::string bytes;
  for (Index i = 0; i < length; ++i) bytes += static_cast<char>(random.randint(256));
  return bytes;
}

}  // namespace

TEST_CASE("vocab.json and merges.txt are GPT-2's byte-level BPE", "[text]") {
  const Tokenizer tokenizer =
      tokenizer_of({{"vocab.json", vocab_json()}, {"merges.txt", merges_txt}});
  CHECK(tokenizer.kind() == "byte-level BPE");
  CHECK(tokenizer.size() == 259);
  CHECK(tokens_of(tokenizer, "the th") == Strings{"the", "Ġ", "th"});
  CHECK(tokens_of(tokenizer, "a<|endoftext|>é") == Strings{"a", "<|endoftext|>", "Ã", "©"});
  CHECK(tokenizer.eos() == 258);
  CHECK(!tokenizer.bos().has_value());
  CHECK(tokenizer.front().empty());
  CHECK(tokenizer.encode("").shape == Shape{0});
  CHECK(tokenizer.decode(tokenizer.encode("the<|endoftext|>m").values) == "them");
  CHECK(tokenizer.decode(tokenizer.encode("the<|endoftext|>m").values, false) ==
        "the<|endoftext|>m");
}

TEST_CASE("of a vocab.json without all bytes the others are dropped", "[text]") {
  const Tokenizer tokenizer =
      tokenizer_of({{"vocab.json", R"({"b": 0, "a": 1})"}, {"merges.txt", "#version: 0.2\n"}});
  CHECK(tokenizer.encode("axb").values == Ids{1, 0});
  CHECK(tokenizer_of({{"vocab.json", R"({"a": 0})"}, {"merges.txt", "\n"}}).size() == 1);
  CHECK(complaint([] { tokenizer_of({{"vocab.json", "{}"}, {"merges.txt", "\n"}}); },
                  {"vocab.json: the vocabulary is empty"}) == "");
}

TEST_CASE("each of the two files, and the folder, open the same", "[text]") {
  const TemporaryFolder folder;
  write(folder / "vocab.json", vocab_json());
  write(folder / "merges.txt", merges_txt);
  for (const char* name : {"", "vocab.json", "merges.txt"}) {
    CHECK(tokens_of(read_tokenizer(folder / name), "them") == Strings{"the", "m"});
  }
}

TEST_CASE("tokenizer_config.json says what a vocab.json leaves open", "[text]") {
  const Tokenizer tokenizer = tokenizer_of(
      {{"vocab.json", vocab_json()},
       {"merges.txt", merges_txt},
       {"tokenizer_config.json",
        R"({"add_prefix_space": true, "add_bos_token": true, "bos_token": {"content": "the"},
            "eos_token": "th", "model_max_length": 1024})"}});
  CHECK(tokenizer.bos() == tokenizer.id("the"));
  CHECK(tokenizer.eos() == tokenizer.id("th"));
  CHECK(tokens_of(tokenizer, "x", true) == Strings{"the", "Ġ", "x"});
}

TEST_CASE("tokens that are listed beside a vocabulary are added", "[text]") {
  const Tokenizer tokenizer = tokenizer_of(
      {{"vocab.json", vocab_json()},
       {"merges.txt", merges_txt},
       {"tokenizer_config.json",
        R"({"pad_token": "<p>", "added_tokens_decoder": {"259": {"content": "<x>", "rstrip": true,
            "lstrip": false, "normalized": false, "single_word": false, "special": true}}})"},
       {"added_tokens.json", R"({"<x>": 259, "<p>": 261, "<y>": 260})"}});
  CHECK(tokenizer.encode("<y>a<x>  the<p>").values == Ids{260, 64, 259, 257, 261});
  CHECK(tokenizer.is_special(259));
  CHECK(!tokenizer.is_special(260));
  CHECK(tokenizer.is_special(261));
}

TEST_CASE("byte-level BPE gives every sequence of bytes back", "[text]") {
  const Tokenizer byte_level = tokenizer_of(byte_level_json());
  const Tokenizer characters = tokenizer_of(character_json());
  Random random(3);
  for (Index length = 0; length < 200; ++length) {
    const std::string bytes = random_bytes(random, length);
    CHECK(byte_level.decode(byte_level.encode(bytes).values) == bytes);
    CHECK(characters.decode(characters.encode(bytes).values) == bytes);
  }
}

TEST_CASE("the bytes of single ids, one after the other, are the text", "[text]") {
  for (const SmallJson& json : {byte_level_json(), character_json()}) {
    const Tokenizer tokenizer = tokenizer_of(json);
    for (const std::string text : {"the cab é", " ab", "", "ab ab",
                                   "\xFF"
                                   "a",
                                   "<s>ab<|end|>"}) {
      std::string joined;
      bool first = true;
      const Indices ids = tokenizer.encode(text);
      for (const std::int32_t id : ids.values) {
        joined += tokenizer.bytes_of(id, first);
        first &= tokenizer.is_special(id);
      }
      CHECK(joined == tokenizer.decode(ids.values));
    }
  }
}

TEST_CASE("characters that are not in the vocabulary become bytes", "[text]") {
  const Tokenizer tokenizer = tokenizer_of(character_json());
  CHECK(tokenizer.kind() == "BPE of characters");
  CHECK(tokens_of(tokenizer, "ab é", true) == Strings{"<s>", "▁ab", "▁", "<0xC3>", "<0xA9>"});
  CHECK(tokens_of(tokenizer, "c\x80") == Strings{"▁", "c", "<0x80>"});
  CHECK(tokenizer.decode(tokenizer.encode("ab é").values) == "ab é");
  CHECK(tokenizer.bos() == 1);
  CHECK(tokenizer.front() == Ids{1});
}

TEST_CASE("vocab.txt is BERT's WordPiece, with its basic tokenization", "[text]") {
  const Tokenizer tokenizer = tokenizer_of({{"vocab.txt", vocab_txt}});
  CHECK(tokenizer.kind() == "WordPiece");
  CHECK(tokens_of(tokenizer, "The UNABLES!", true) ==
        Strings{"[CLS]", "the", "un", "##able", "##s", "!", "[SEP]"});
  CHECK(tokens_of(tokenizer, "Café\tthe\u0007 本the") == Strings{"cafe", "the", "本", "the"});
  CHECK(tokens_of(tokenizer, "unx [MASK]") == Strings{"[UNK]", "[MASK]"});
  CHECK(tokens_of(tokenizer, std::string(101, 's')) == Strings{"[UNK]"});
  // 100 characters, the most: longer ones are unknown, whatever they are made of
  CHECK(tokens_of(tokenizer, "un" + std::string(98, 's')).size() == 99);
  CHECK(tokens_of(tokenizer, "un" + std::string(99, 's')) == Strings{"[UNK]"});
  CHECK(tokens_of(tokenizer, "the\xFF!") == Strings{"the", "!"});
  CHECK(tokenizer.decode(tokenizer.encode("The unables!").values) == "the unables!");
  CHECK(tokenizer.eos() == tokenizer.id("[SEP]"));
  CHECK(tokenizer.is_special(0));  // [PAD]
}

TEST_CASE("a vocab.txt of capitals keeps them if its config says so", "[text]") {
  const Tokenizer tokenizer = tokenizer_of(
      {{"vocab.txt", vocab_txt}, {"tokenizer_config.json", R"({"do_lower_case": false})"}});
  CHECK(tokens_of(tokenizer, "The the café") == Strings{"[UNK]", "the", "[UNK]"});
}

TEST_CASE("ids without a token are refused", "[text]") {
  const Tokenizer tokenizer = tokenizer_of(byte_level_json());
  for (const std::int32_t id : {-1, 261, 2'000'000'000}) {
    CHECK(complaint([&] { tokenizer.decode(Ids{id}); },
                    {"tokenizer: id ", "has no token", "261 tokens, with ids from 0 to 260"}) ==
          "");
    CHECK(complaint([&] { tokenizer.decode(Ids{id}, false); }, {"has no token"}) == "");
    CHECK(complaint([&] { tokenizer.bytes_of(id); }, {"has no token"}) == "");
    CHECK(complaint([&] { tokenizer.token(id); }, {"has no token"}) == "");
    CHECK(complaint([&] { (void)tokenizer.is_special(id); }, {"has no token"}) == "");
    CHECK(!tokenizer.contains(id));
  }
  CHECK(complaint([&] { tokenizer.id("xyz"); }, {"'xyz' is not one of its tokens"}) == "");
  CHECK(tokenizer.contains("th"));
}

TEST_CASE("a vocabulary may leave ids out", "[text]") {
  SmallJson json = byte_level_json();
  json["added_tokens"] = SmallJson::array();
  json["model"] = {{"vocab", {{"a", 2}, {"b", 0}}}, {"merges", SmallJson::array()}};
  const Tokenizer tokenizer = tokenizer_of(json);
  CHECK(tokenizer.encode("ab").values == Ids{2, 0});
  CHECK(tokenizer.token(0) == "b");
  CHECK(tokenizer.contains("b"));
  CHECK(tokenizer.id("b") == 0);
  for (const std::int32_t id : {-1, 1, 3}) {
    CHECK(!tokenizer.contains(id));
    CHECK(complaint([&] { tokenizer.token(id); }, {"2 tokens, with ids from 0 to 2"}) == "");
  }
}

TEST_CASE("a megabyte of one character takes no time to speak of", "[text]") {
  for (const SmallJson& json : {byte_level_json(), character_json()}) {
    const Tokenizer tokenizer = tokenizer_of(json);
    for (const char letter : {'a', ' ', '\n'}) {
      const std::string text(1'000'000, letter);
      CHECK(tokenizer.decode(tokenizer.encode(text).values) == text);
    }
  }
  const Tokenizer words = tokenizer_of({{"vocab.txt", vocab_txt}});
  CHECK(tokens_of(words, std::string(1'000'000, 'a')) == Strings{"[UNK]"});
}

TEST_CASE("an explanation shows each step, and ends with the same ids", "[text]") {
  const Tokenizer tokenizer = tokenizer_of(byte_level_json());
  const TokenizerTrace trace = tokenizer.explain("the<|end|> the");
  CHECK(trace.ids.values == tokenizer.encode("the<|end|> the").values);
  REQUIRE(trace.steps.size() == 4);
  CHECK(trace.steps[1].name == "added tokens cut out");
  CHECK(trace.steps[1].pieces == Strings{"the", "<|end|>", " the"});
  CHECK(trace.steps[3].name == "pre-tokenizer ByteLevel");
  REQUIRE(trace.pieces.size() == 2);
  const auto& last = trace.pieces[1];
  CHECK(last[0].pieces == Strings{" the"});
  CHECK(last[1].pieces == Strings{" ", "t", "h", "e"});
  CHECK(last[2].name == "merge 1");
  CHECK(last[2].pieces == Strings{" ", "th", "e"});
  CHECK(last.back().pieces == Strings{" the"});
  CHECK(tokenizer.explain(std::string(1000, 'a')).ids.shape == Shape{1000});
  CHECK(complaint([&] { tokenizer.explain(std::string(1001, 'a')); },
                  {"1001 bytes", "1000 bytes are the limit"}) == "");
}

TEST_CASE("an explanation names the normalizer, and what WordPiece takes", "[text]") {
  SmallJson json = byte_level_json();
  json["normalizer"] = {{"type", "Lowercase"}};
  json["added_tokens"] = SmallJson::array({{{"id", 260}, {"content", "the x"}}});
  const TokenizerTrace trace = tokenizer_of(json).explain("THE XA");
  REQUIRE(trace.steps.size() == 4);
  CHECK(trace.steps[1].name == "normalizer Lowercase");
  CHECK(trace.steps[1].pieces == Strings{"the xa"});
  CHECK(trace.steps[2].name == "added tokens cut out");
  CHECK(trace.steps[2].pieces == Strings{"the x", "a"});
  CHECK(trace.steps[3].pieces == Strings{"a"});
  const auto words = tokenizer_of({{"vocab.txt", vocab_txt}}).explain("the unable").pieces;
  REQUIRE(words.size() == 2);
  REQUIRE(words[1].size() == 2);
  CHECK(words[1][1].name == "longest tokens");
  CHECK(words[1][1].pieces == Strings{"un", "##able"});
}

TEST_CASE("real tokenizers give the ids of their references", "[models]") {
  for (const char* name : {"stories260K", "gpt2-tokenizer"}) {
    const auto folder = model_folder(name);
    if (!folder) continue;
    const Tokenizer tokenizer = read_tokenizer(*folder);
    const SmallJson texts = SmallJson::parse(content(*folder / "tokens.json"));
    CHECK(texts.size() == 14);
    for (const SmallJson& each : texts) {
      CAPTURE(name, each["text"].get<std::string>());
      const Indices ids = tokenizer.encode(each["text"].get<std::string>());
      CHECK(ids.values == each["ids"].get<Ids>());
      // The reference also took the blank before "!" away, which is no part of the tokenizer.
      std::string text = tokenizer.decode(ids.values);
      const std::size_t blank = text.find(" !=");
      if (blank != text.npos) text.erase(blank, 1);
      CHECK(text == each["decoded"].get<std::string>());
    }
  }
}

TEST_CASE("llama2.c's file and the same tokenizer as JSON agree", "[models]") {
  const auto folder = model_folder("stories260K");
  if (!folder) return;
  const Tokenizer json = read_tokenizer(*folder);
  const Tokenizer binary = read_tokenizer(*folder / "llama2c-tokenizer.bin");
  for (const std::string text :
       {"Once upon a time, there was Lily.", "  two  spaces\n", "naïve 日本"}) {
    CHECK(binary.encode(text).values == json.encode(text).values);
    CHECK(binary.decode(binary.encode(text).values) == text);
  }
}
