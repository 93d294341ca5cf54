// The models of tokenizer.json, which make tokens of pieces: byte-pair encoding and WordPiece.
#include "text/token_models.hpp"

#include "catch.hpp"
#include "small_tokenizer.hpp"

using namespace tapestry;

using Strings = std::vector<std::string>;

TEST_CASE("options of BPE: ignore_merges, unknown tokens", "[text]") {
  SmallJson json = byte_level_json();
  json["model"]["vocab"]["ĠxĠ"] = 300;
  json["pre_tokenizer"]["use_regex"] = false;
  CHECK(tokens_of(tokenizer_of(json), " x ") == Strings{"Ġ", "x", "Ġ"});
  json["model"]["ignore_merges"] = true;
  CHECK(tokens_of(tokenizer_of(json), " x ") == Strings{"ĠxĠ"});
  const auto steps = tokenizer_of(json).explain(" x ").pieces.at(0);
  CHECK(steps.back().name == "a token as a whole");
  CHECK(steps.back().pieces == Strings{" x "});
  SmallJson other = character_json();
  other["model"]["byte_fallback"] = false;
  CHECK(tokens_of(tokenizer_of(other), "ayyb") == Strings{"▁", "a", "<unk>", "b"});
  other["model"]["fuse_unk"] = false;
  CHECK(tokens_of(tokenizer_of(other), "ayyb") == Strings{"▁", "a", "<unk>", "<unk>", "b"});
  other["model"].erase("unk_token");
  CHECK(tokens_of(tokenizer_of(other), "ayyb") == Strings{"▁ab"});  // dropped
}

TEST_CASE("at byte level a byte without a token is unknown, or dropped", "[text]") {
  SmallJson json = byte_level_json();
  json["added_tokens"] = SmallJson::array();
  json["model"] = model_of({"<unk>", "a", "b"}, {});
  CHECK(tokens_of(tokenizer_of(json), "yaéb") == Strings{"a", "b"});
  json["model"]["unk_token"] = "<unk>";
  CHECK(tokens_of(tokenizer_of(json), "yaéb") == Strings{"<unk>", "a", "<unk>", "<unk>", "b"});
  json["model"]["fuse_unk"] = true;
  CHECK(tokens_of(tokenizer_of(json), "yaéby") == Strings{"<unk>", "a", "<unk>", "b", "<unk>"});
  json["model"]["vocab"] = {{"a", 0}, {"<unk>", 1}};
  CHECK(tokens_of(tokenizer_of(json), "ay") == Strings{"a", "<unk>"});
}

TEST_CASE("symbols may have id 0, and be the last of ASCII or the first beyond", "[text]") {
  SmallJson json = character_json();
  for (const char* part : {"normalizer", "post_processor", "added_tokens"}) json.erase(part);
  json["model"] = model_of({"<0x79>", "\x7f", "\u0080", "b"}, {});
  json["model"]["byte_fallback"] = true;
  CHECK(tokenizer_of(json)
            .encode("y\x7f\u0080"
                    "b")
            .values == Ids{0, 1, 2, 3});
  json["model"] = model_of({"a", "b"}, {});
  CHECK(tokenizer_of(json).encode("ba").values == Ids{1, 0});
}

TEST_CASE("a merge of a byte that stands for a character holds in a long text, too", "[text]") {
  SmallJson json = character_json();
  json["model"]["vocab"]["a<0x00>"] = 400;
  json["model"]["merges"].push_back("a <0x00>");
  std::string text;
  for (int i = 0; i < 40; ++i) text += std::string("a\0", 2);
  Ids expected(41, 400);
  expected.front() = 7;
  CHECK(tokenizer_of(json).encode(text, false).values == expected);
}

TEST_CASE("a merge of the unknown token holds in a long text, too", "[text]") {
  SmallJson json = character_json();
  json["model"]["byte_fallback"] = false;
  json["model"]["vocab"]["a<unk>"] = 400;
  json["model"]["merges"].push_back("a <unk>");
  std::string text;
  for (int i = 0; i < 40; ++i) text += "ay";
  Ids expected(41, 400);
  expected.front() = 7;
  CHECK(tokenizer_of(json).encode(text, false).values == expected);
}

TEST_CASE("a byte's token that is spelled out may be merged with others", "[text]") {
  SmallJson json = character_json();
  int id = 300;
  for (const char* token : {"<", "0", "x", "A", ">", "0A", "0A>", "<0", "<0x", "<0x0A>b"}) {
    json["model"]["vocab"][token] = id++;
  }
  for (const char* merge : {"0 A", "0A >", "< 0", "<0 x", "<0x 0A>", "<0x0A> b"}) {
    json["model"]["merges"].push_back(merge);
  }
  std::string text;
  for (int i = 0; i < 10; ++i) text += "<0x0A>b";
  Ids expected(11, 309);
  expected.front() = 7;
  CHECK(tokenizer_of(json).encode(text, false).values == expected);
}

TEST_CASE("a tokenizer.json may hold WordPiece, and old ones do not name the type", "[text]") {
  SmallJson json = {{"pre_tokenizer", {{"type", "Whitespace"}}},
                    {"decoder", {{"type", "WordPiece"}}},
                    {"model",
                     {{"vocab", {{"[UNK]", 0}, {"un", 1}, {"##able", 2}, {"##s", 3}, {".", 4}}},
                      {"max_input_chars_per_word", 6}}}};
  const Tokenizer tokenizer = tokenizer_of(json);
  CHECK(tokenizer.kind() == "WordPiece");
  CHECK(tokenizer.encode("unable. unables").values == Ids{1, 2, 4, 0});
  CHECK(tokenizer.decode(Ids{1, 2, 4}) == "unable.");
  json["decoder"]["cleanup"] = false;
  CHECK(tokenizer_of(json).decode(Ids{1, 2, 4}) == "unable .");
  json["model"].erase("max_input_chars_per_word");
  json["model"]["type"] = "WordPiece";
  CHECK(tokenizer_of(json).encode("unables").values == Ids{1, 2, 3});
  SmallJson pairs = byte_level_json();
  pairs["model"].erase("type");
  pairs["model"]["dropout"] = 0.0;
  CHECK(tokenizer_of(pairs).encode("the").values == Ids{257});
}

TEST_CASE("a long word is merged as a short one is", "[text]") {
  const Tokenizer tokenizer = tokenizer_of(byte_level_json());
  std::string text;
  Strings expected;
  for (int i = 0; i < 20; ++i) {
    text += "theth";
    expected.insert(expected.end(), {"the", "th"});
  }
  CHECK(tokens_of(tokenizer, text) == expected);
}
