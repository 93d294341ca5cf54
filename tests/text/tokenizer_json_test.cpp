// The components of tokenizer.json. The expected tokens are those of Hugging Face's tokenizers.
#include "catch.hpp"
#include "ops/expect.hpp"
#include "small_tokenizer.hpp"

using namespace tapestry;

namespace {

using Strings = std::vector<std::string>;

SmallJson string_pattern(const char* text) { return {{"String", text}}; }

// A byte-level tokenizer without merges: its tokens are bytes, its pieces the pre-tokeniser's.
Strings pieces(const std::vector<SmallJson>& steps, const std::string& text) {
  SmallJson json = byte_level_json();
  json["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", steps}};
  SmallJson& last = json["pre_tokenizer"]["pretokenizers"];
  last.push_back({{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}});
  const TokenizerTrace trace = tokenizer_of(json).explain(text);
  return trace.steps.back().pieces;
}

std::string normal(const std::vector<SmallJson>& steps, const std::string& text) {
  SmallJson json = byte_level_json();
  json["normalizer"] = {{"type", "Sequence"}, {"normalizers", steps}};
  const Tokenizer tokenizer = tokenizer_of(json);
  return tokenizer.decode(tokenizer.encode(text).values);
}

Strings with_added(const SmallJson& added, const std::string& text,
                   const SmallJson& normalizer = nullptr) {
  SmallJson json = byte_level_json();
  json["added_tokens"] = SmallJson::array({added});
  json["normalizer"] = normalizer;
  return tokens_of(tokenizer_of(json), text);
}

SmallJson split(const char* text, const char* behavior, bool invert = false) {
  return {{"type", "Split"},
          {"pattern", string_pattern(text)},
          {"behavior", behavior},
          {"invert", invert}};
}

}  // namespace

TEST_CASE("merges are two tokens with a blank between, or a list of two", "[text]") {
  SmallJson json = byte_level_json();
  const Strings expected = {"the", "Ġthe", "Ġ", "x"};
  CHECK(tokens_of(tokenizer_of(json), "the the x") == expected);
  for (SmallJson& merge : json["model"]["merges"]) {
    const std::string text = merge.get<std::string>();
    const std::size_t blank = text.find(' ');
    merge = SmallJson::array({text.substr(0, blank), text.substr(blank + 1)});
  }
  CHECK(tokens_of(tokenizer_of(json), "the the x") == expected);
}

TEST_CASE("normalisers", "[text]") {
  CHECK(normal({{{"type", "NFC"}}}, "e\u0301") == "é");
  CHECK(normal({{{"type", "NFD"}}}, "é") == "e\u0301");
  CHECK(normal({{{"type", "NFKC"}}}, "ﬁ①") == "fi1");
  CHECK(normal({{{"type", "NFKD"}}}, "ﬁé") == "fie\u0301");
  CHECK(normal({{{"type", "Lowercase"}}}, "ÀB\u0130") == "àbi\u0307");
  CHECK(normal({{{"type", "NFD"}}, {{"type", "StripAccents"}}}, "éa\u0903") == "ea");
  CHECK(normal({{{"type", "Prepend"}, {"prepend", "> "}}}, "a") == "> a");
  CHECK(normal({{{"type", "Prepend"}, {"prepend", "> "}}}, "").empty());
  CHECK(normal({{{"type", "Strip"}}}, " \u3000 a \n") == "a");
  CHECK(normal({{{"type", "Strip"}, {"strip_left", false}}}, " a ") == " a");
  CHECK(normal({{{"type", "Replace"}, {"pattern", string_pattern("aa")}, {"content", "b"}}},
               "aaaaa") == "bba");
  const SmallJson bert = {{"type", "BertNormalizer"}, {"lowercase", false}};
  CHECK(normal({bert}, std::string("É\0a\u200B\tx本\xFF", 13)) == "Éa x 本 ");
  CHECK(normal({{{"type", "BertNormalizer"}, {"clean_text", false}}}, "É\t") == "e\t");
}

TEST_CASE("pre-tokenisers", "[text]") {
  CHECK(pieces({{{"type", "Whitespace"}}}, "a_1 b!?\tü\u0301-") ==
        Strings{"a_1", "b", "!?", "ü\u0301", "-"});
  CHECK(pieces({{{"type", "WhitespaceSplit"}}}, " a! \u2003b\n") == Strings{"a!", "b"});
  CHECK(pieces({{{"type", "Punctuation"}}}, "a..b$") == Strings{"a", ".", ".", "b", "$"});
  CHECK(pieces({{{"type", "Punctuation"}, {"behavior", "Contiguous"}}}, "a..b") ==
        Strings{"a", "..", "b"});
  CHECK(pieces({{{"type", "Digits"}, {"individual_digits", true}}}, "a12½") ==
        Strings{"a", "1", "2", "½"});
  CHECK(pieces({{{"type", "Digits"}}}, "a12b") == Strings{"a", "12", "b"});
  CHECK(pieces({{{"type", "BertPreTokenizer"}}}, "a, b") == Strings{"a", ",", "b"});
  CHECK(pieces({{{"type", "Whitespace"}}, {{"type", "Digits"}}}, "a1 b") == Strings{"a", "1", "b"});
}

TEST_CASE("what becomes of the places where a text is split", "[text]") {
  const std::string text = "-a--b";
  CHECK(pieces({split("-", "Removed")}, text) == Strings{"a", "b"});
  CHECK(pieces({split("-", "Removed", true)}, text) == Strings{"-", "-", "-"});
  CHECK(pieces({split("-", "Isolated")}, text) == Strings{"-", "a", "-", "-", "b"});
  CHECK(pieces({split("-", "Contiguous")}, text) == Strings{"-", "a", "--", "b"});
  CHECK(pieces({split("-", "MergedWithPrevious")}, text) == Strings{"-", "a-", "-", "b"});
  CHECK(pieces({split("-", "MergedWithNext")}, text) == Strings{"-a", "-", "-b"});
}

TEST_CASE("Metaspace makes blanks visible, before words", "[text]") {
  SmallJson json = character_json();
  json["normalizer"] = nullptr;
  const auto words = [&](const char* scheme, const std::string& text) {
    json["pre_tokenizer"] = {
        {"type", "Metaspace"}, {"replacement", "▁"}, {"prepend_scheme", scheme}};
    return tokenizer_of(json).explain(text).steps.back().pieces;
  };
  CHECK(words("always", "a  b<s>c") == Strings{"▁c"});
  CHECK(words("first", "a b") == Strings{"▁a", "▁b"});
  CHECK(words("first", "a<s>b") == Strings{"b"});
  CHECK(words("never", "a  b") == Strings{"a", "▁", "▁b"});
  json["pre_tokenizer"]["add_prefix_space"] = false;
  CHECK(tokenizer_of(json).explain("a b").steps.back().pieces == Strings{"a", "▁b"});
  json["pre_tokenizer"]["prepend_scheme"] = "first";
  CHECK(complaint([&] { tokenizer_of(json); },
                  {"add_prefix_space false, but prepend_scheme 'first'"}) == "");
}

TEST_CASE("added tokens are cut out before anything else", "[text]") {
  const SmallJson plain = {
      {"id", 260}, {"content", "the x"}, {"special", false}, {"normalized", false}};
  CHECK(with_added(plain, "athe xthe") == Strings{"a", "the x", "the"});
  SmallJson token = plain;
  token["single_word"] = true;
  CHECK(with_added(token, "athe x the x") == Strings{"a", "the", "Ġ", "x", "Ġ", "the x"});
  token = plain;
  token["lstrip"] = token["rstrip"] = true;
  CHECK(with_added(token, "a \n the x  b") == Strings{"a", "the x", "b"});
  token = plain;
  token["normalized"] = true;
  CHECK(with_added(token, "THE X", {{"type", "Lowercase"}}) == Strings{"the x"});
  CHECK(with_added(plain, "THE X", {{"type", "Lowercase"}}) == Strings{"the", "Ġ", "x"});
}

TEST_CASE("of added tokens that begin at one place the longest is taken", "[text]") {
  SmallJson json = byte_level_json();
  for (const char* content : {"<a", "<ab>", "<ab>>"}) {
    json["added_tokens"].push_back(
        {{"id", json["added_tokens"].size() + 260}, {"content", content}, {"special", true}});
  }
  CHECK(tokens_of(tokenizer_of(json), "<ab>x<ab<ab>>") == Strings{"<ab>", "x", "<a", "b", "<ab>>"});
}

TEST_CASE("an added token comes back as it was written, not as letters of bytes", "[text]") {
  SmallJson json = byte_level_json();
  json["added_tokens"].push_back({{"id", 261}, {"content", "Führer"}, {"normalized", false}});
  const Tokenizer tokenizer = tokenizer_of(json);
  CHECK(tokenizer.decode(tokenizer.encode("der Führer").values) == "der Führer");
}

TEST_CASE("an added token that the vocabulary has, too, is spelled in letters of bytes", "[text]") {
  SmallJson json = byte_level_json();
  const int id = json["model"]["vocab"]["Ċ"];
  json["added_tokens"].push_back({{"id", id}, {"content", "Ċ"}, {"normalized", false}});
  const Tokenizer tokenizer = tokenizer_of(json);
  CHECK(tokenizer.decode(Ids{64, id}) == tokenizer.bytes_of(64) + "\n");
  CHECK(tokenizer.bytes_of(id) == "\n");
  CHECK(tokenizer.encode("Ċ\n").values == Ids{id, id});
}

TEST_CASE("options of BPE: ignore_merges, unknown tokens", "[text]") {
  SmallJson json = byte_level_json();
  json["model"]["vocab"]["ĠxĠ"] = 300;
  json["pre_tokenizer"]["use_regex"] = false;
  CHECK(tokens_of(tokenizer_of(json), " x ") == Strings{"Ġ", "x", "Ġ"});
  json["model"]["ignore_merges"] = true;
  CHECK(tokens_of(tokenizer_of(json), " x ") == Strings{"ĠxĠ"});
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

TEST_CASE("post-processors put special tokens around a text", "[text]") {
  SmallJson json = byte_level_json();
  json["post_processor"] = {{"type", "RobertaProcessing"},
                            {"sep", {"<|end|>", 260}},
                            {"cls", {"the", 257}},
                            {"trim_offsets", true},
                            {"add_prefix_space", false}};
  const Tokenizer tokenizer = tokenizer_of(json);
  CHECK(tokens_of(tokenizer, "th", true) == Strings{"the", "th", "<|end|>"});
  CHECK(tokens_of(tokenizer, "th") == Strings{"th"});
  CHECK(tokenizer.bos() == 257);
  CHECK(tokenizer.eos() == 260);
  const SmallJson around = json["post_processor"], none = {{"type", "ByteLevel"}};
  json["post_processor"] = {{"type", "ByteLevel"}, {"trim_offsets", false}};
  CHECK(tokenizer_of(json).front().empty());
  const SmallJson farther = {
      {"type", "BertProcessing"}, {"sep", {"Ġt", 258}}, {"cls", {"th", 256}}};
  json["post_processor"] = {{"type", "Sequence"}, {"processors", {none, around, farther}}};
  CHECK(tokens_of(tokenizer_of(json), "x", true) == Strings{"th", "the", "x", "<|end|>", "Ġt"});
}

TEST_CASE("decoders", "[text]") {
  const auto text = [](const SmallJson& decoder, const Ids& ids) {
    SmallJson json = character_json();
    json["decoder"] = decoder;
    return tokenizer_of(json).decode(ids);
  };
  const SmallJson metaspace = {
      {"type", "Metaspace"}, {"replacement", "▁"}, {"prepend_scheme", "always"}};
  CHECK(text(metaspace, {9, 7, 2, 9}) == "ab a ab");
  CHECK(text({{"type", "Fuse"}}, {9, 2}) == "▁aba");
  CHECK(text({{"type", "ByteFallback"}}, {10 + 0xC3, 10 + 0xA9, 2}) == "éa");
  CHECK(text({{"type", "Strip"}, {"content", "a"}, {"start", 1}, {"stop", 0}}, {2, 8, 3}) == "bb");
  SmallJson fused = {{"type", "Sequence"}, {"decoders", {{{"type", "Fuse"}}}}};
  fused["decoders"].push_back({{"type", "Strip"}, {"content", "a"}, {"start", 1}, {"stop", 1}});
  CHECK(text(fused, {2, 8, 2, 8, 2}) == "abaab");  // a ab a ab a
  const SmallJson all_blanks = {
      {"type", "Sequence"},
      {"decoders",
       {{{"type", "Fuse"}},
        {{"type", "Strip"}, {"content", "a"}, {"start", 1'000'000'000}, {"stop", 0}}}}};
  Ids long_run(400'000, 2);
  long_run.push_back(3);
  CHECK(text(all_blanks, long_run) == "b");  // in no time to speak of
  CHECK(text({{"type", "WordPiece"}, {"prefix", "▁"}, {"cleanup", false}}, {2, 9, 3}) == "aab b");
  CHECK(text(nullptr, {2, 3}) == "a b");
}
