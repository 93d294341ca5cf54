#include "course/grammar.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <span>
#include <string_view>
#include <utility>

#include "tapestry/error.hpp"

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

// Makes one choice among `count`: by chance, or each in turn when all sentences are wanted.
using Choose = std::function<Index(Index count)>;

template <class Item>
const Item& pick(std::span<const Item> list, const Choose& choose) {
  return list[static_cast<std::size_t>(choose(static_cast<Index>(list.size())))];
}

std::string pick_word(List list, const Choose& choose) { return std::string(pick(list, choose)); }

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

Sentence derive(const Choose& choose) {
  const Kind& kind = pick(std::span<const Kind>(kinds), choose);
  const std::string determiner = pick_word(determiners, choose);
  const std::string subject = pick_word(kind.nouns, choose);
  const std::string second = pick_word(determiners, choose);
  const bool place = choose(2) == 0;
  if (place) {
    const std::string verb = pick_word(kind.verbs, choose);
    const Where& where = pick(std::span<const Where>(wheres), choose);
    return assemble({determiner, subject, verb, std::string(where.preposition), second,
                     pick_word(where.places, choose)},
                    place);
  }
  const Action& action = pick(std::span<const Action>(kind.actions), choose);
  const std::string adjective = pick_word(adjectives, choose);
  return assemble({determiner, subject, std::string(action.verb), second, adjective,
                   pick_word(action.objects, choose)},
                  place);
}

// ---------------------------------------------------------------- all sentences

struct Possible {
  Words words;
  double probability;
};

// Each derivation once: like a counter, whose last wheel that can still turn takes a step, and the
// wheels behind it start anew.
std::vector<Possible> derive_all() {
  std::vector<Possible> all;
  std::vector<Index> chosen, counts;
  do {
    counts.clear();
    double probability = 1;
    Sentence sentence = derive([&](Index count) {
      if (counts.size() == chosen.size()) chosen.push_back(0);
      counts.push_back(count);
      probability /= static_cast<double>(count);
      return chosen[counts.size() - 1];
    });
    all.push_back({std::move(sentence.words), probability});
    while (!chosen.empty() && chosen.back() + 1 == counts[chosen.size() - 1]) chosen.pop_back();
    if (!chosen.empty()) ++chosen.back();
  } while (!chosen.empty());
  std::sort(all.begin(), all.end(),
            [](const Possible& a, const Possible& b) { return a.words < b.words; });
  return all;
}

bool begins_with(const Possible& sentence, const Words& beginning) {
  return sentence.words.size() >= beginning.size() &&
         std::equal(beginning.begin(), beginning.end(), sentence.words.begin());
}

std::span<const Possible> all_that_begin_with(const Words& beginning) {
  static const std::vector<Possible> all = derive_all();  // made once, by who asks first
  const auto first = std::partition_point(
      all.begin(), all.end(), [&](const Possible& one) { return one.words < beginning; });
  const auto last = std::partition_point(
      first, all.end(), [&](const Possible& one) { return begins_with(one, beginning); });
  return std::span(all).subspan(static_cast<std::size_t>(first - all.begin()),
                                static_cast<std::size_t>(last - first));
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

Sentence shuffled(const Sentence& sentence, Random& random) {
  const std::vector<Index> order = random.permutation(static_cast<Index>(sentence.words.size()));
  Sentence result = sentence;
  std::vector<int> now_at(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto from = static_cast<std::size_t>(order[i]);
    result.words[i] = sentence.words[from];
    now_at[from] = static_cast<int>(i);
  }
  for (Link& link : result.links) {
    link.from = now_at[static_cast<std::size_t>(link.from)];
    link.to = now_at[static_cast<std::size_t>(link.to)];
  }
  return result;
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
  return derive([&](Index count) { return random.randint(count); });
}

Batch Grammar::batch(const Vocabulary& vocabulary, Index count, Random& random) const {
  std::vector<Words> texts;
  for (Index i = 0; i < count; ++i) texts.push_back(sentence(random).words);
  return next_word_batch(vocabulary, texts);
}

Sentence Grammar::example() const {
  return assemble({"the", "cat", "sat", "on", "the", "mat"}, true);
}

double Grammar::entropy(int words) const {
  if (words < 0 || words > 6) {
    throw Error("grammar: entropy(" + std::to_string(words) +
                ") is of the first words of six: it needs 0 to 6.");
  }
  double entropy = 0, probability = 0;
  const std::span<const Possible> all = all_that_begin_with({});
  for (std::size_t i = 0; i < all.size(); ++i) {  // sorted: equal beginnings stand together
    probability += all[i].probability;
    const auto end = all[i].words.begin() + words;
    if (i + 1 < all.size() && begins_with(all[i + 1], {all[i].words.begin(), end})) continue;
    entropy -= probability * std::log(probability);
    probability = 0;
  }
  return entropy;
}

double Grammar::log_probability(const Words& words) const {
  double probability = 0;
  for (const Possible& one : all_that_begin_with(words)) {
    if (one.words.size() == words.size()) probability += one.probability;
  }
  return std::log(probability);
}

std::map<std::string, double> Grammar::next_word(const Words& beginning) const {
  std::map<std::string, double> next;
  double total = 0;
  for (const Possible& one : all_that_begin_with(beginning)) {
    const bool whole = one.words.size() == beginning.size();
    next[whole ? "<eos>" : one.words[beginning.size()]] += one.probability;
    total += one.probability;
  }
  for (auto& [word, probability] : next) probability /= total;
  return next;
}

}  // namespace tapestry
