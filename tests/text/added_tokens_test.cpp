#include "text/added_tokens.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "catch.hpp"
#include "course/timing.hpp"
#include "ops/expect.hpp"
#include "small_tokenizer.hpp"
#include "tapestry/random.hpp"

using namespace tapestry;

namespace {

using Strings = std::vector<std::string>;

std::string random_text(Random& random, Index least, Index most) {
  std::string text;
  const Index length = least + random.randint(most - least + 1);
  for (Index i = 0; i < length; ++i) text += "a\xE1 "[random.randint(3)];  // 0xE1 is 'a' + 0x80
  return text;
}

TokenFinder finder_of(const std::vector<AddedToken>& tokens) {
  TokenFinder finder;
  for (const AddedToken& token : tokens) finder.add(token, token.content);
  finder.finish();
  return finder;
}

// From the left, at each place the longest token that begins there; "." before text.
Strings by_definition(const std::vector<AddedToken>& tokens, const std::string& text) {
  Strings parts;
  bool in_text = false;
  for (std::size_t at = 0; at < text.size();) {
    std::string longest;
    for (const AddedToken& token : tokens) {
      const bool here = text.compare(at, token.content.size(), token.content) == 0;
      if (here && token.content.size() > longest.size()) longest = token.content;
    }
    if (longest.empty() && !std::exchange(in_text, true)) parts.emplace_back(".");
    if (longest.empty()) {
      parts.back() += text[at++];
    } else {
      parts.push_back(longest);
      in_text = false;
      at += longest.size();
    }
  }
  return parts;
}

Strings found(const TokenFinder& finder, std::string_view text) {
  Strings parts;
  for (const TextPart& part : finder.cut(text)) {
    parts.push_back((part.id < 0 ? "." : "") + std::string(part.text));
  }
  return parts;
}

Strings with_added(const SmallJson& added, const std::string& text,
                   const SmallJson& normalizer = nullptr) {
  SmallJson json = byte_level_json();
  json["added_tokens"] = SmallJson::array({added});
  json["normalizer"] = normalizer;
  return tokens_of(tokenizer_of(json), text);
}

using Change = std::function<void(SmallJson&)>;

std::string refused(const Change& change, std::initializer_list<const char*> words) {
  SmallJson json = byte_level_json();
  change(json);
  return complaint([&] { tokenizer_of(json); }, words);
}

}  // namespace

TEST_CASE("added tokens are found from the left, at each place the longest", "[text]") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    std::vector<AddedToken> tokens;
    const auto count = static_cast<std::int32_t>(1 + random.randint(6));
    while (static_cast<std::int32_t>(tokens.size()) < count) {
      const std::string content = random_text(random, 1, 6);
      const auto same = [&](const AddedToken& t) { return t.content == content; };
      if (std::any_of(tokens.begin(), tokens.end(), same)) continue;
      tokens.push_back({static_cast<std::int32_t>(tokens.size()), content});
    }
    const TokenFinder finder = finder_of(tokens);
    for (int i = 0; i < 10; ++i) {
      const std::string text = random_text(random, 0, 40);
      CAPTURE(seed, text);
      CHECK(found(finder, text) == by_definition(tokens, text));
      for (const TextPart& part : finder.cut(text)) {
        if (part.id < 0) continue;
        CHECK(part.text == tokens[static_cast<std::size_t>(part.id)].content);
      }
    }
  }
}

TEST_CASE("without added tokens a text stays whole", "[text]") {
  CHECK(finder_of({}).empty());
  CHECK(found(finder_of({}), "ab") == Strings{".ab"});
  CHECK(found(finder_of({{0, "a"}}), "").empty());
}

TEST_CASE("white space beside added tokens belongs to one of them", "[text]") {
  AddedToken left{0, "<l>"}, right{1, "<r>"};
  left.lstrip = right.rstrip = true;
  const TokenFinder finder = finder_of({left, right});
  CHECK(found(finder, "a <l> b <r>  <l>") == Strings{".a", " <l>", ". b ", "<r>  ", "<l>"});
  AddedToken blank{0, " "};
  blank.rstrip = true;
  CHECK(found(finder_of({blank}), "a  b") == Strings{".a", "  ", " ", ".b"});  // both matches count
}

TEST_CASE("a token of its own may stand at the end of a part of a text", "[text]") {
  AddedToken token{0, "ab"};
  token.single_word = true;
  const std::string_view text = "ab abc";
  CHECK(found(finder_of({token}), text.substr(0, 5)) == Strings{"ab", ". ", "ab"});
  CHECK(found(finder_of({token}), text) == Strings{"ab", ". abc"});
}

TEST_CASE("the time to find added tokens does not grow with their length", "[text]") {
  std::vector<AddedToken> tokens(2);
  tokens[0].content.assign(999, 'a').push_back('b');
  tokens[1].content = " ";
  tokens[1].lstrip = tokens[1].rstrip = true;
  const TokenFinder finder = finder_of(tokens);
  const double start = now();
  CHECK(finder.cut(std::string(2'000'000, 'a')).size() == 1);
  CHECK(finder.cut(std::string(200'000, ' ')).size() == 200'000);
  CHECK(now() - start < 10);  // a second at most; far more if each place were looked at anew
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
  for (const bool normalized : {false, true}) {
    SmallJson json = byte_level_json();
    for (const char* content : {"<a", "<ab>", "<ab>>", "ab"}) {
      json["added_tokens"].push_back({{"id", json["added_tokens"].size() + 260},
                                      {"content", content},
                                      {"normalized", normalized}});
    }
    const Tokenizer tokenizer = tokenizer_of(json);
    CHECK(tokens_of(tokenizer, "<ab>x<ab<ab>>") == Strings{"<ab>", "x", "<a", "b", "<ab>>"});
    CHECK(tokens_of(tokenizer, "xab>y") == Strings{"x", "ab", ">", "y"});
  }
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
  for (const auto& [offset, content] : {std::pair{-1, "ĉ"}, {1, "ċ"}, {0, "Ċ"}}) {
    json["added_tokens"].push_back(
        {{"id", id + offset}, {"content", content}, {"normalized", false}});
  }
  const Tokenizer tokenizer = tokenizer_of(json);
  CHECK(tokenizer.decode(Ids{64, id}) == tokenizer.bytes_of(64) + "\n");
  CHECK(tokenizer.encode("Ċ\n").values == Ids{id, id});
  for (int offset = -2; offset <= 2; ++offset) {
    CHECK(tokenizer.bytes_of(id + offset) == std::string(1, static_cast<char>('\n' + offset)));
  }
}

TEST_CASE("an added token that normalising changes comes back as it was found", "[text]") {
  SmallJson json = byte_level_json();
  json["normalizer"] = {{"type", "Lowercase"}};
  json["added_tokens"].push_back({{"id", 261}, {"content", "ÜX"}});
  const Tokenizer tokenizer = tokenizer_of(json);
  CHECK(tokenizer.encode("ÜX").values == Ids{261});
  CHECK(tokenizer.token(261) == "ÜX");
  CHECK(tokenizer.decode(Ids{261}) == "üx");
}

TEST_CASE("an added token may have id 0", "[text]") {
  SmallJson json = byte_level_json();
  json["model"] = model_of({"Ċx", "Ċ", "x"}, {});
  for (const bool normalized : {true, false}) {
    json["added_tokens"] =
        SmallJson::array({{{"id", 0}, {"content", "Ċx"}, {"normalized", normalized}}});
    const Tokenizer tokenizer = tokenizer_of(json);
    CHECK(tokenizer.encode("xĊx").values == Ids{2, 0});
    CHECK(tokenizer.bytes_of(0) == "\nx");
  }
  json["model"] = model_of({"<s>", "x"}, {});
  json["added_tokens"] = SmallJson::array({{{"id", 0}, {"content", "<s>"}, {"special", true}}});
  json["post_processor"] = {{"type", "BertProcessing"}, {"cls", {"<s>", 0}}, {"sep", {"x", 1}}};
  CHECK(tokenizer_of(json).front() == Ids{0});
  json.erase("post_processor");
  CHECK(tokenizer_of(json).bos() == 0);
}

TEST_CASE("added tokens that disagree with the vocabulary", "[text]") {
  CHECK(refused([](SmallJson& j) { j["added_tokens"][0]["content"] = "the"; },
                {"added token 'the' has id 260, but the vocabulary gives it id 257"}) == "");
  CHECK(refused([](SmallJson& j) { j["added_tokens"][0]["id"] = 257; },
                {"tokens 'the' and '<|end|>' have the same id, 257"}) == "");
  CHECK(refused([](SmallJson& j) { j["added_tokens"][0]["content"] = "!"; },
                {"added token '!' has id 260, but the vocabulary gives it id 0"}) == "");
  CHECK(refused([](SmallJson& j) { j["added_tokens"][0]["id"] = 4'194'304; },
                {"id 4194304, which is too large"}) == "");
  CHECK(refused([](SmallJson& j) { j["added_tokens"][0]["content"] = ""; }, {"is empty"}) == "");
  const auto of_length = [](std::size_t length) {
    return [length](SmallJson& j) { j["added_tokens"][0]["content"] = std::string(length, 'a'); };
  };
  CHECK(refused(of_length(1001), {"is empty or longer than 1000 bytes: id 260"}) == "");
  CHECK(refused(of_length(1000), {}) == "nothing was thrown");
  CHECK(refused([](SmallJson& j) { j["added_tokens"][0]["mode"] = 1; },
                {"an added token has an option that is not known, 'mode'"}) == "");
  CHECK(refused([](SmallJson& j) { j["added_tokens"] = 3; }, {"added_tokens are not a list"}) ==
        "");
}

TEST_CASE("added tokens that normalising makes the same", "[text]") {
  CHECK(refused(
            [](SmallJson& j) {
              j["normalizer"] = {{"type", "Lowercase"}};
              j["added_tokens"].push_back({{"id", 261}, {"content", "New"}});
              j["added_tokens"].push_back({{"id", 262}, {"content", "new"}});
            },
            {"added tokens 'New' and 'new' are the same after normalising, 'new'"}) == "");
}
