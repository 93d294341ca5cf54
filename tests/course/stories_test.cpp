#include "course/stories.hpp"

#include <cmath>
#include <map>
#include <set>
#include <sstream>

#include "catch.hpp"

using namespace tapestry;

namespace {

std::map<std::string, int> words_of(const std::string& text) {
  std::map<std::string, int> words;
  std::istringstream stream(text);
  for (std::string word; stream >> word;) {
    while (!word.empty() && std::ispunct(static_cast<unsigned char>(word.back()))) word.pop_back();
    while (!word.empty() && std::ispunct(static_cast<unsigned char>(word[0]))) word.erase(0, 1);
    ++words[word];
  }
  return words;
}

std::string between(const std::string& text, const std::string& before, const std::string& after) {
  const std::size_t start = text.find(before) + before.size();
  return text.substr(start, text.find(after, start) - start);
}

}  // namespace

TEST_CASE("a seed tells the same story, whatever the compiler", "[phase7][course]") {
  Random random(3);
  CHECK(
      story(random).text.starts_with("Dotepe had a brown spoon. Bells rang. Birds sang. The sun"));
}

TEST_CASE("a story says again what it said", "[phase7][course]") {
  Random random(5);
  int short_names = 0;
  for (int i = 0; i < 200; ++i) {
    const std::string text = story(random).text;
    CAPTURE(text);
    const std::string name = text.substr(0, text.find(' ')), own = between(text, " had a ", ".");
    const std::string lost = between(text, "I lost my ", ",");
    const std::string animal = between(text, "said the ", ".");
    const bool girl = std::string("aei").find(name.back()) != std::string::npos;
    std::map<std::string, int> words = words_of(text);
    CHECK(std::string("BDKLMNPRSTVZ").find(name[0]) != std::string::npos);
    CHECK((name.size() == 4 || name.size() == 6));
    short_names += name.size() == 4;
    CHECK(words[name] == 2);
    CHECK(words[girl ? "She" : "He"] == 1);
    CHECK(words[girl ? "He" : "She"] == 0);
    CHECK(words[animal] == 3);
    CHECK(text.find("The " + lost + " was ") != text.npos);
    CHECK(text.find("I like your " + own + ".\"\n") == text.size() - own.size() - 15);
  }
  CHECK((short_names > 70 && short_names < 130));
}

// One bit for two or three syllables of 60; 8 colours, 16 things, 8 places, 8 animals, 4 feelings,
// 16 things lost, 4 spots; three times none to three of 8 other sentences.
TEST_CASE("the bits of a story are those of its choices", "[phase7][course]") {
  const std::set<std::string> others = {"It was cold",      "The sun shone",     "Birds sang",
                                        "Nobody was there", "It got late",       "The wind blew",
                                        "Bells rang",       "It rained a little"};
  Random random(6);
  double all = 0;
  for (int i = 0; i < 100; ++i) {
    const Story one = story(random);
    std::istringstream stream(one.text);
    double asides = 0;
    for (std::string part; std::getline(stream, part, '.');) {
      asides += others.contains(part.substr(part.find_first_not_of(' ') % part.size()));
    }
    const double syllables = double(one.text.find(' ')) / 2;
    const double bits = 1 + syllables * std::log2(60) + 3 + 4 + 3 + 3 + 2 + 4 + 2 + 3 * 2;
    CAPTURE(one.text);
    CHECK(one.bits == Approx(bits + 3 * asides));
    all += asides;
  }
  CHECK(std::abs(all - 450) < 100);  // 1.5 of them on average, three times in each story
}

TEST_CASE("a story says which of its words were said before", "[phase7][course]") {
  Random random(8);
  for (int i = 0; i < 100; ++i) {
    const Story one = story(random);
    const std::string name = one.text.substr(0, one.text.find(' '));
    const std::string own = between(one.text, " had a ", ".");
    const std::string lost = between(one.text, "I lost my ", ",");
    const std::string animal = between(one.text, "said the ", ".");
    const std::vector<std::string> again = {" " + animal, " " + lost, " " + name, " " + animal,
                                            " " + own};
    REQUIRE(one.again.size() == again.size());
    for (std::size_t k = 0; k < again.size(); ++k) {
      const auto [begin, end] = one.again[k];
      CHECK(one.text.substr(begin, end - begin) == again[k]);
    }
    CHECK(one.again.front().first == one.text.find(" said the ") + 9);
    CHECK(one.again[3].first > one.again[2].first);
  }
}

TEST_CASE("every choice is made, each about equally often", "[phase7][course]") {
  Random random(7);
  std::map<std::string, int> places;
  for (int i = 0; i < 4000; ++i) ++places[between(story(random).text, "went to the ", " and")];
  CHECK(places.size() == 8);
  for (const auto& [place, count] : places) CHECK(std::abs(count - 500) < 100);
}
