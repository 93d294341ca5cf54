#include "text/added_tokens.hpp"

#include <algorithm>
#include <utility>

#include "catch.hpp"
#include "course/timing.hpp"
#include "tapestry/random.hpp"

using namespace tapestry;

namespace {

using Strings = std::vector<std::string>;

std::string random_text(Random& random, Index least, Index most) {
  std::string text;
  const Index length = least + random.randint(most - least + 1);
  for (Index i = 0; i < length; ++i) text += "ab "[random.randint(3)];
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
