// The components of tokenizer.json. The expected tokens are those of Hugging Face's tokenizers.
#include "catch.hpp"
#include "ops/expect.hpp"
#include "small_tokenizer.hpp"

using namespace tapestry;

namespace {

using Strings = std::vector<std::string>;

SmallJson string_pattern(const char* text) { return {{"String", text}}; }

// A byte-level tokenizer without merges: its tokens are bytes, its pieces the pre-tokenizer's.
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

TEST_CASE("normalizers", "[text]") {
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
  CHECK(normal({bert}, "a\tb\nc\vd\fe\rf\u0085g\u00A0h") == "a b cde fg h");
  CHECK(normal({{{"type", "Lowercase"}}}, "A\xFF") == "a\xFF");
}

TEST_CASE("pre-tokenizers", "[text]") {
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

TEST_CASE("a text is split by a regular expression that is known", "[text]") {
  constexpr const char* llama3 =
      R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|)"
      R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
  SmallJson step = {{"type", "Split"}, {"pattern", {{"Regex", llama3}}}, {"behavior", "Isolated"}};
  const Strings expected = {"ab", " ", "123", "45", "'S", "\n\n"};
  CHECK(pieces({step}, "ab 12345'S\n\n") == expected);
  step["behavior"] = "Removed";
  CHECK(pieces({step}, "ab 12345'S\n\n").empty());
  step["invert"] = true;
  CHECK(pieces({step}, "ab 12345'S\n\n") == expected);
  step["behavior"] = "Other";
  CHECK(complaint([&] { pieces({step}, ""); }, {"has a behavior that is not known, 'Other'"}) ==
        "");
  step.erase("behavior");
  CHECK(complaint([&] { pieces({step}, ""); }, {"has a behavior that is not known, ''"}) == "");
}

TEST_CASE("ByteLevel puts a space before a text unless it is told not to", "[text]") {
  SmallJson json = byte_level_json();
  json["pre_tokenizer"].erase("add_prefix_space");
  CHECK(tokenizer_of(json).explain("the the").steps.back().pieces == Strings{" the", " the"});
  CHECK(tokens_of(tokenizer_of(json), " the") == Strings{"Ġthe"});
}

TEST_CASE("what becomes of the places where a text is split", "[text]") {
  const std::string text = "-a--b";
  CHECK(pieces({split("-", "Removed")}, text) == Strings{"a", "b"});
  CHECK(pieces({split("-", "Removed", true)}, text) == Strings{"-", "-", "-"});
  CHECK(pieces({split("-", "Isolated")}, text) == Strings{"-", "a", "-", "-", "b"});
  CHECK(pieces({split("-", "Contiguous")}, text) == Strings{"-", "a", "--", "b"});
  CHECK(pieces({split("-", "MergedWithPrevious")}, text) == Strings{"-", "a-", "-", "b"});
  CHECK(pieces({split("-", "MergedWithNext")}, text) == Strings{"-a", "-", "-b"});
  CHECK(pieces({split("1", "Isolated"), {{"type", "Digits"}}}, "a1") == Strings{"a", "1"});
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

TEST_CASE("fields of Metaspace that may be left out, and those that make no sense", "[text]") {
  SmallJson json = character_json();
  json["normalizer"] = nullptr;
  const auto words = [&](const SmallJson& fields) {
    json["pre_tokenizer"] = {{"type", "Metaspace"}, {"replacement", "▁"}};
    json["pre_tokenizer"].update(fields);
    return tokenizer_of(json).explain("a b").steps.back().pieces;
  };
  CHECK(words({{"str_rep", "▁"}}) == Strings{"▁a", "▁b"});
  CHECK(words({{"add_prefix_space", false}}) == Strings{"a", "▁b"});
  CHECK(words({{"split", false}}) == Strings{"▁a▁b"});
  CHECK(complaint([&] { words({{"prepend_scheme", "last"}}); },
                  {"its pre_tokenizer Metaspace has a prepend_scheme that is not known, 'last'"}) ==
        "");
  for (const char* text : {"", "▁▁"}) {
    CHECK(complaint([&] { words({{"replacement", text}}); },
                    {"has a \"replacement\" that is not one character"}) == "");
  }
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
  fused["decoders"].push_back({{"type", "Strip"}, {"content", "a"}, {"start", 1}, {"stop", 2}});
  CHECK(text(fused, {2, 8, 2, 8, 2, 2, 2}) == "abaaba");  // a ab a ab a a a
  SmallJson json = character_json();
  json["decoder"] = fused;
  CHECK(tokenizer_of(json).bytes_of(2) == "a");  // neither a beginning nor an end
  CHECK(tokenizer_of(json).bytes_of(2, true).empty());
  const SmallJson most = {
      {"type", "Strip"}, {"content", "a"}, {"start", 1'000'000'000'000}, {"stop", 0}};
  CHECK(text(most, {2, 3}) == "b");
  const SmallJson expression = {
      {"type", "Replace"}, {"pattern", {{"Regex", "a"}}}, {"content", "b"}};
  CHECK(complaint([&] { text(expression, {}); },
                  {"its decoder Replace has a regular expression: only a \"String\" is known"}) ==
        "");
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

TEST_CASE("a beginning that is asked for, but may be gone, is refused", "[text]") {
  const auto behind = [](const SmallJson& step, const char* scheme) {
    SmallJson json = character_json();
    json["normalizer"] = {{"type", "Sequence"}, {"normalizers", {{{"type", "NFC"}}, step}}};
    json["pre_tokenizer"] = {
        {"type", "Metaspace"}, {"replacement", "▁"}, {"prepend_scheme", scheme}};
    return complaint([&] { tokenizer_of(json); },
                     {"its pre_tokenizer Metaspace has prepend_scheme 'first', which is not",
                      step["type"].get_ref<const std::string&>().c_str()});
  };
  const auto replace = [](const char* pattern, const char* content) {
    return SmallJson{{"type", "Replace"}, {"pattern", {{"String", pattern}}}, {"content", content}};
  };
  const SmallJson bert = {{"type", "BertNormalizer"}, {"clean_text", false}, {"lowercase", false}};
  SmallJson cleaning = bert, accents = bert, right = {{"type", "Strip"}, {"strip_left", false}};
  cleaning["clean_text"] = true;
  accents["strip_accents"] = true;
  for (const SmallJson& step : {SmallJson{{"type", "Strip"}}, SmallJson{{"type", "StripAccents"}},
                                replace("a", ""), replace("ab", "c"), cleaning, accents}) {
    CAPTURE(step.dump());
    CHECK(behind(step, "first") == "");
    CHECK(behind(step, "always") == "nothing was thrown");
  }
  for (const SmallJson& step : {right, replace("é", "e"), bert, SmallJson{{"type", "Lowercase"}}}) {
    CAPTURE(step.dump());
    CHECK(behind(step, "first") == "nothing was thrown");
  }
}
