#include "course/brackets.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "catch.hpp"
#include "ops/expect.hpp"

using namespace tapestry;

namespace {

std::string joined(const Words& words) {
  std::string text;
  for (const std::string& word : words) text += word;
  return text;
}

bool opens(char sign) { return sign == '(' || sign == '[' || sign == '{'; }
char closing(char open) { return open == '(' ? ')' : open == '[' ? ']' : '}'; }

// Properly nested: pairs without anything between them can be taken away until nothing is left.
bool is_nested(std::string text) {
  for (std::size_t at = 0; at != std::string::npos;) {
    at = std::min({text.find("()"), text.find("[]"), text.find("{}")});
    if (at != std::string::npos) text.erase(at, 2);
  }
  return text.empty();
}

// What closes after this beginning: from right to left, the first bracket without a partner.
// 'e' for <eos>.
char answer(const std::string& beginning) {
  int closed = 0;
  for (auto sign = beginning.rbegin(); sign != beginning.rend(); ++sign) {
    closed += opens(*sign) ? -1 : 1;
    if (closed < 0) return closing(*sign);
  }
  return 'e';
}

int depth(const std::string& beginning) {
  int open = 0;
  for (const char sign : beginning) open += opens(sign) ? 1 : -1;
  return open;
}

// Chances that a guess without nesting is right about the bracket that closes.
using Guess = std::function<double(const std::string& beginning, char right)>;

double by_nearest(const std::string& beginning, char right) {
  return closing(beginning[beginning.find_last_of("([{")]) == right ? 1 : 0;
}

// The kinds of which more brackets were opened than closed.
std::string open_kinds(const std::string& beginning) {
  std::string kinds;
  for (const char open : {'(', '[', '{'}) {
    const auto count = [&](char sign) {
      return std::count(beginning.begin(), beginning.end(), sign);
    };
    if (count(open) > count(closing(open))) kinds += open;
  }
  return kinds;
}

double by_counting(const std::string& beginning, char) {
  return 1.0 / static_cast<double>(open_kinds(beginning).size());
}

double by_both(const std::string& beginning, char right) {
  return closing(beginning[beginning.find_last_of(open_kinds(beginning))]) == right ? 1 : 0;
}

struct Shares {
  double brackets = 0, texts = 0;
};

// The shares of closing brackets, and of whole texts, that a guess gets right.
Shares right(const Guess& guess) {
  Random random(4);
  constexpr int texts = 5000;
  double brackets = 0;
  Shares shares;
  for (int i = 0; i < texts; ++i) {
    const std::string text = joined(BracketTask().text(Part::held_out, random));
    double wholly = 1;
    for (std::size_t at = 0; at < text.size(); ++at) {
      if (opens(text[at])) continue;
      const double chance = guess(text.substr(0, at), text[at]);
      shares.brackets += chance, wholly *= chance, ++brackets;
    }
    shares.texts += wholly;
  }
  return {shares.brackets / brackets, shares.texts / texts};
}

std::string differs(const Shares& shares, double brackets, double texts) {
  if (std::abs(shares.brackets - brackets) < 0.015 && std::abs(shares.texts - texts) < 0.03) {
    return "";
  }
  return std::to_string(shares.brackets) + ", " + std::to_string(shares.texts);
}

}  // namespace

TEST_CASE("texts of brackets are nested, as deep and as long as allowed", "[phase2][text]") {
  const BracketSize sizes[] = {{}, {2, 4, 4, 2}, {3, 5, 7, 3}, {2, 4, 9, 100}};
  for (const BracketSize& size : sizes) {
    CAPTURE(size.kinds, size.fewest, size.most, size.depth);
    const BracketTask task(size);
    Random random(1);
    std::map<std::size_t, int> pairs;
    int deepest = 0;
    for (int i = 0; i < 2000; ++i) {
      const std::string text = joined(task.text(i % 2 ? Part::train : Part::held_out, random));
      CHECK(is_nested(text));
      CHECK((size.kinds == 3 || text.find_first_of("{}") == text.npos));
      ++pairs[text.size() / 2];
      for (std::size_t at = 1; at < text.size(); ++at) {
        deepest = std::max(deepest, depth(text.substr(0, at)));
      }
    }
    CHECK(deepest == std::min(size.depth, size.most));
    CHECK(Index(pairs.begin()->first) == size.fewest);
    CHECK(Index(pairs.rbegin()->first) == size.most);
    const double each = 2000.0 / double(pairs.size());
    CHECK(std::ssize(pairs) == size.most - size.fewest + 1);
    for (const auto& [count, texts] : pairs) CHECK(std::abs(texts - each) < 5 * std::sqrt(each));
  }
}

TEST_CASE("each bracket is opened and closed by chance", "[phase2][text]") {
  const BracketTask task({.fewest = 20, .most = 20, .depth = 3});
  Random random(2);
  std::map<char, int> kinds;
  int free = 0, opened = 0;  // places where either was possible
  for (int i = 0; i < 300; ++i) {
    const std::string text = joined(task.text(Part::train, random));
    for (std::size_t at = 0, left = 20; at < text.size(); ++at) {
      const int open = depth(text.substr(0, at));
      if (left > 0 && open > 0 && open < 3) ++free, opened += opens(text[at]);
      if (opens(text[at])) --left, ++kinds[text[at]];
    }
  }
  CHECK(std::abs(opened - free / 2.0) < 5 * std::sqrt(free / 4.0));
  CHECK(kinds.size() == 3);
  for (const auto& [kind, count] : kinds) CHECK(std::abs(count - 2000) < 5 * 37);
}

TEST_CASE("a batch asks for what closes the latest open bracket, and nothing else",
          "[phase2][text]") {
  const BracketTask task;
  Random random(7), again(7);
  const Batch batch = task.batch(Part::train, 200, random);
  const auto columns = static_cast<std::size_t>(batch.inputs.shape[1]);
  CHECK(batch.inputs.shape[1] == task.length());
  for (std::size_t row = 0; row < 200; ++row) {
    const std::string text = joined(task.text(Part::train, again));
    CHECK(batch.lengths[row] == std::ssize(text) + 1);
    for (std::size_t at = 0; at < columns; ++at) {
      const auto id = [&](char sign) { return task.vocabulary().id(std::string(1, sign)); };
      std::int32_t input = Vocabulary::pad, target = -1;
      if (at <= text.size()) {
        const char said = answer(text.substr(0, at));
        input = at == 0 ? Vocabulary::bos : id(text[at - 1]);
        if (at == text.size()) target = Vocabulary::eos;
        if (at < text.size() && !opens(text[at])) target = id(said);
      }
      CHECK(batch.inputs.values[row * columns + at] == input);
      CHECK(batch.targets.values[row * columns + at] == target);
    }
  }
}

TEST_CASE("the words of brackets, and one batch, written out", "[phase2][text]") {
  const BracketTask task({.kinds = 2, .fewest = 4, .most = 4, .depth = 2});
  CHECK(task.vocabulary().size() == 9);
  CHECK(task.vocabulary().decode(Indices({4}, {5, 6, 7, 8})) == "( [ ) ]");
  CHECK(BracketTask().vocabulary().decode(Indices({6}, {5, 6, 7, 8, 9, 10})) == "( [ { ) ] }");
  Random random(1);
  const Batch batch = task.batch(Part::held_out, 1, random);
  CHECK(task.vocabulary().decode(batch.inputs) == "<bos> [ ] [ ] ( ( ) )");
  CHECK(batch.targets.values ==
        std::vector<std::int32_t>{-1, 8, -1, 8, -1, -1, 7, 7, Vocabulary::eos});
}

TEST_CASE("held-out brackets are never trained on, and there are some of the shortest",
          "[phase2][text]") {
  const BracketTask task({.kinds = 2, .fewest = 4, .most = 4, .depth = 2});
  std::set<Words> parts[2];
  for (const Part part : {Part::train, Part::held_out}) {
    Random random(part == Part::train ? 1 : 2);
    for (int i = 0; i < 4000; ++i) parts[part == Part::train].insert(task.text(part, random));
  }
  for (const Words& words : parts[0]) CHECK(parts[1].count(words) == 0);
  CHECK(parts[0].size() + parts[1].size() == 128);  // 8 ways to nest, 2^4 kinds
  CHECK(std::abs(static_cast<double>(parts[0].size()) - 12.8) < 5 * 3.4);
}

// The numbers at the top of brackets.hpp.
TEST_CASE("guesses without nesting are often right about brackets, seldom about texts",
          "[phase2][text]") {
  CHECK(differs(right([](const std::string&, char) { return 1.0 / 3; }), 0.333, 0.004) == "");
  CHECK(differs(right(by_nearest), 0.75, 0.19) == "");
  CHECK(differs(right(by_counting), 0.78, 0.31) == "");
  CHECK(differs(right(by_both), 0.94, 0.72) == "");
  const auto deep = [](const std::string& beginning, char) { return double(depth(beginning) > 1); };
  CHECK(differs(right(deep), 0.54, 0) == "");
  const auto nested = [](const std::string& text, char sign) {
    return double(answer(text) == sign);
  };
  CHECK(differs(right(nested), 1, 1) == "");
}

TEST_CASE("a seed gives the same batch of brackets again", "[phase2][text]") {
  const BracketTask task;
  const auto values = [&](std::uint64_t seed) {
    Random random(seed);
    return task.batch(Part::train, 8, random).inputs.values;
  };
  CHECK(values(1) == values(1));
  CHECK(values(1) != values(2));
}

TEST_CASE("without sizes, there are three kinds, 4 to 8 pairs and a depth of 4", "[phase2][text]") {
  const auto values = [](const BracketTask& task) {
    Random random(3);
    return task.batch(Part::train, 200, random).inputs.values;
  };
  CHECK(values(BracketTask()) == values(BracketTask({3, 4, 8, 4})));
  CHECK(BracketTask().length() == 17);
}

TEST_CASE("sizes that make no brackets task are refused", "[phase2][text]") {
  const auto refused = [](BracketSize size, const char* words) {
    return complaint([&] { BracketTask{size}; }, {words});
  };
  CHECK(refused({1, 4, 8, 4}, "brackets task: 1 kinds, 4 to 8 pairs, depth 4: ") == "");
  CHECK(refused({1, 4, 8, 4}, "kinds must be 2 or 3") == "");
  CHECK(refused({4, 4, 8, 4}, "kinds must be 2 or 3") == "");
  CHECK(refused({3, 3, 8, 4}, "pairs must be 4 to 500") == "");
  CHECK(refused({3, 4, 501, 4}, "pairs must be 4 to 500") == "");
  CHECK(refused({3, 5, 4, 4}, "the fewest not above the most") == "");
  CHECK(refused({3, 4, 8, 1}, "the depth must be 2 or more") == "");
  Random random(1);
  const BracketTask longest({2, 500, 500, 1000});
  CHECK(longest.length() == 1001);
  CHECK(longest.batch(Part::held_out, 1, random).inputs.shape[1] == 1001);
  CHECK(complaint([&] { longest.batch(Part::train, 0, random); },
                  {"a batch needs 1 row or more, not 0"}) == "");
}
