#include "tapestry/text/grammar.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>

namespace tapestry {
namespace {

// ---------------------------------------------------------------- the rules

using List = std::span<const std::string_view>;
using namespace std::string_view_literals;

// Each list is a class: its words can stand in for each other.
constexpr auto determiners =
    std::array{"the"sv, "a"sv, "this"sv, "every"sv};  // "a" may become "an"

constexpr auto pets = std::array{"cat"sv, "dog"sv, "kitten"sv, "puppy"sv};
constexpr auto birds = std::array{"owl"sv, "eagle"sv, "robin"sv, "sparrow"sv};
constexpr auto swimmers = std::array{"otter"sv, "frog"sv, "duck"sv, "beaver"sv};
constexpr auto people = std::array{"girl"sv, "boy"sv, "artist"sv, "uncle"sv};
constexpr auto cattle = std::array{"cow"sv, "horse"sv, "sheep"sv, "ox"sv};

constexpr auto insects = std::array{"ant"sv, "worm"sv, "beetle"sv, "bee"sv};
constexpr auto toys = std::array{"ball"sv, "rope"sv, "doll"sv, "kite"sv};
constexpr auto goods = std::array{"book"sv, "letter"sv, "umbrella"sv, "picture"sv};
constexpr auto food = std::array{"apple"sv, "carrot"sv, "egg"sv, "bun"sv};

constexpr auto adjectives = std::array{"small"sv, "old"sv, "new"sv, "orange"sv, "heavy"sv};

constexpr auto furniture = std::array{"mat"sv, "rug"sv, "sofa"sv, "armchair"sv};
constexpr auto rooms = std::array{"barn"sv, "office"sv, "attic"sv, "kitchen"sv};
constexpr auto waters = std::array{"pond"sv, "lake"sv, "river"sv, "ocean"sv};
constexpr auto shelters = std::array{"tree"sv, "bridge"sv, "arch"sv, "table"sv};

struct Action {  // a verb that has an object, and what that may be
  std::string_view verb;
  List objects;
};

struct Kind {  // of subject: who, what they do somewhere, and what they do to something
  List nouns;
  std::array<std::string_view, 3> verbs;
  std::array<Action, 2> actions;
};

constexpr auto kinds = std::array<Kind, 5>{
    {{pets, {"sat", "slept", "lay"}, {{{"chased", insects}, {"chewed", toys}}}},
     {birds, {"perched", "sang", "nested"}, {{{"caught", insects}, {"stole", goods}}}},
     {swimmers, {"swam", "dived", "floated"}, {{{"pushed", toys}, {"tasted", food}}}},
     {people, {"walked", "waited", "worked"}, {{{"painted", goods}, {"bought", food}}}},
     {cattle, {"grazed", "stood", "rested"}, {{{"kicked", toys}, {"ate", food}}}}}};

struct Where {
  std::string_view preposition;
  List places;
};

constexpr auto wheres =
    std::array<Where, 4>{{{"on", furniture}, {"in", rooms}, {"near", waters}, {"under", shelters}}};

// ---------------------------------------------------------------- how they are used

template <class Item>
const Item& pick(std::span<const Item> list, Random& random) {
  return list[static_cast<std::size_t>(random.below(static_cast<Index>(list.size())))];
}

std::string pick_word(List list, Random& random) { return std::string(pick(list, random)); }

// Spelling stands for sound here: the lists have no word like "hour" or "unicorn".
bool begins_with_vowel(const std::string& word) {
  return "aeiou"sv.find(word.front()) != "aeiou"sv.npos;
}

Sentence assemble(Words words, bool place) {
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] == "a" && begins_with_vowel(words[i + 1])) words[i] = "an";
  }
  const int second_determiner = place ? 4 : 3;
  return {std::move(words),
          {{Role::determiner_noun, 0, 1},
           {Role::subject_verb, 1, 2},
           place ? Link{Role::preposition_place, 3, 5} : Link{Role::verb_object, 2, 5},
           {Role::determiner_noun, second_determiner, 5}}};
}

}  // namespace

std::string to_string(Role role) {
  switch (role) {
    case Role::determiner_noun:
      return "determiner-noun";
    case Role::subject_verb:
      return "subject-verb";
    case Role::verb_object:
      return "verb-object";
    case Role::preposition_place:
      return "preposition-place";
  }
  return "";
}

std::string Sentence::text() const {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

Words Grammar::words() const {
  Words all = {"the", "a", "an"};
  const auto add = [&](std::string_view word) {
    if (!word.empty() && std::find(all.begin(), all.end(), word) == all.end()) {
      all.emplace_back(word);
    }
  };
  const auto add_list = [&](List list) { std::for_each(list.begin(), list.end(), add); };
  add_list(determiners);
  for (const Kind& kind : kinds) {
    add_list(kind.nouns);
    std::for_each(kind.verbs.begin(), kind.verbs.end(), add);
    for (const Action& action : kind.actions) {
      add(action.verb);
      add_list(action.objects);
    }
  }
  add_list(adjectives);
  for (const Where& where : wheres) {
    add(where.preposition);
    add_list(where.places);
  }
  return all;
}

Sentence Grammar::sentence(Random& random) const {
  const Kind& kind = pick(std::span<const Kind>(kinds), random);
  const std::string determiner = pick_word(determiners, random);
  const std::string subject = pick_word(kind.nouns, random);
  const std::string second = pick_word(determiners, random);
  const bool place = random.below(2) == 0;
  if (place) {
    const std::string verb = pick_word(kind.verbs, random);
    const Where& where = pick(std::span<const Where>(wheres), random);
    return assemble({determiner, subject, verb, std::string(where.preposition), second,
                     pick_word(where.places, random)},
                    place);
  }
  const Action& action = pick(std::span<const Action>(kind.actions), random);
  const std::string adjective = pick_word(adjectives, random);
  return assemble({determiner, subject, std::string(action.verb), second, adjective,
                   pick_word(action.objects, random)},
                  place);
}

Sentence Grammar::example() const {
  return assemble({"the", "cat", "sat", "on", "the", "mat"}, true);
}

}  // namespace tapestry
