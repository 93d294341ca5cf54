#include "tapestry/text/grammar.hpp"

#include <map>
#include <set>

#include "catch.hpp"

using namespace tapestry;

namespace {

using Set = std::set<std::string>;

const Set determiners = {"the", "a", "an", "this", "every"};
const Set adjectives = {"small", "old", "new", "orange", "heavy"};

const Set pets = {"cat", "dog", "kitten", "puppy"};
const Set birds = {"owl", "eagle", "robin", "sparrow"};
const Set swimmers = {"otter", "frog", "duck", "beaver"};
const Set people = {"girl", "boy", "artist", "uncle"};
const Set cattle = {"cow", "horse", "sheep", "ox"};
const Set insects = {"ant", "worm", "beetle", "bee"};
const Set toys = {"ball", "rope", "doll", "kite"};
const Set goods = {"book", "letter", "umbrella", "picture"};
const Set food = {"apple", "carrot", "egg", "bun"};

// The rules a second time, word by word: who may do it, and what may follow.
const std::map<std::string, Set> subjects = {
    {"sat", pets},         {"slept", pets},     {"lay", pets},      {"perched", birds},
    {"sang", birds},       {"nested", birds},   {"swam", swimmers}, {"dived", swimmers},
    {"floated", swimmers}, {"walked", people},  {"waited", people}, {"worked", people},
    {"grazed", cattle},    {"stood", cattle},   {"rested", cattle}, {"chased", pets},
    {"chewed", pets},      {"caught", birds},   {"stole", birds},   {"pushed", swimmers},
    {"tasted", swimmers},  {"painted", people}, {"bought", people}, {"kicked", cattle},
    {"ate", cattle}};
const std::map<std::string, Set> objects = {
    {"chased", insects}, {"chewed", toys}, {"caught", insects}, {"stole", goods},
    {"pushed", toys},    {"tasted", food}, {"painted", goods},  {"bought", food},
    {"kicked", toys},    {"ate", food}};
const std::map<std::string, Set> places = {{"on", {"mat", "rug", "sofa", "armchair"}},
                                           {"in", {"barn", "office", "attic", "kitchen"}},
                                           {"near", {"pond", "lake", "river", "ocean"}},
                                           {"under", {"tree", "bridge", "arch", "table"}}};

bool has(const std::map<std::string, Set>& rules, const std::string& word,
         const std::string& partner) {
  const auto rule = rules.find(word);
  return rule != rules.end() && rule->second.count(partner) == 1;
}

std::vector<Sentence> many_sentences(std::uint64_t seed = 1) {
  const Grammar grammar;
  Random random(seed);
  std::vector<Sentence> sentences;
  for (int i = 0; i < 4000; ++i) sentences.push_back(grammar.sentence(random));
  return sentences;
}

bool is_vowel(char letter) { return Set{"a", "e", "i", "o", "u"}.count({letter}) == 1; }

// What is wrong with a sentence, "" if nothing is.
std::string fault(const Sentence& sentence) {
  const Words& w = sentence.words;
  if (w.size() != 6) return "not six words";
  const bool place = places.count(w[3]) == 1;
  const std::size_t second = place ? 4 : 3;
  if (determiners.count(w[0]) == 0 || determiners.count(w[second]) == 0) return "determiner";
  if (!place && adjectives.count(w[4]) == 0) return "adjective";
  if (!has(subjects, w[2], w[1])) return "subject and verb";
  if (place ? !has(places, w[3], w[5]) : !has(objects, w[2], w[5])) return "object or place";
  if (place && objects.count(w[2]) == 1) return "verb without its object";
  for (const std::size_t i : {std::size_t{0}, second}) {
    if (w[i] == "a" && is_vowel(w[i + 1][0])) return "a before a vowel";
    if (w[i] == "an" && !is_vowel(w[i + 1][0])) return "an before a consonant";
  }
  const Link target = place ? Link{Role::preposition_place, 3, 5} : Link{Role::verb_object, 2, 5};
  const std::vector<Link> links = {{Role::determiner_noun, 0, 1},
                                   {Role::subject_verb, 1, 2},
                                   target,
                                   {Role::determiner_noun, place ? 4 : 3, 5}};
  return sentence.links == links ? "" : "links";
}

}  // namespace

TEST_CASE("every sentence obeys the rules and knows its links", "[phase1][text]") {
  for (const Sentence& sentence : many_sentences()) {
    INFO(sentence.text());
    CHECK(fault(sentence) == "");
  }
}

TEST_CASE("the place tells nothing about the subject", "[phase1][text]") {
  std::map<std::string, Set> seen;  // subjects by preposition
  for (const Sentence& sentence : many_sentences()) {
    if (places.count(sentence.words[3]) == 1) seen[sentence.words[3]].insert(sentence.words[1]);
  }
  CHECK(seen.size() == 4);
  for (const auto& [preposition, nouns] : seen) {
    INFO(preposition);
    CHECK(nouns.size() == 20);
  }
}

TEST_CASE("the words are about 100 with the special ones, and all of them are used",
          "[phase1][text]") {
  const Words words = Grammar().words();
  CHECK(Vocabulary(words).size() == 96);
  CHECK(words.size() == 91);
  CHECK(Set(words.begin(), words.end()).size() == words.size());
  Set used;
  for (const Sentence& sentence : many_sentences()) {
    used.insert(sentence.words.begin(), sentence.words.end());
  }
  CHECK(used == Set(words.begin(), words.end()));
}

TEST_CASE("the two examples of the lessons are sentences of the grammar", "[phase1][text]") {
  const Sentence example = Grammar().example();
  CHECK(example.text() == "the cat sat on the mat");
  CHECK(fault(example) == "");
  const Sentence chase = {{"the", "dog", "chased", "an", "old", "beetle"},
                          {{Role::determiner_noun, 0, 1},
                           {Role::subject_verb, 1, 2},
                           {Role::verb_object, 2, 5},
                           {Role::determiner_noun, 3, 5}}};
  CHECK(fault(chase) == "");
}

TEST_CASE("a seed gives the same text again, another seed another one", "[phase1][text]") {
  const auto text = [](std::uint64_t seed) {
    std::string all;
    for (const Sentence& sentence : many_sentences(seed)) all += sentence.text() + '\n';
    return all;
  };
  CHECK(text(1) == text(1));
  CHECK(text(1) != text(2));
  CHECK(text(1).substr(0, text(1).find('\n')) == "every sheep ate this new egg");
}

TEST_CASE("kinds of subject and both forms come equally often", "[phase1][text]") {
  std::map<std::string, int> count;
  for (const Sentence& sentence : many_sentences()) {
    ++count[pets.count(sentence.words[1]) == 1 ? "pets" : "others"];
    ++count[places.count(sentence.words[3]) == 1 ? "places" : "objects"];
  }
  CHECK(std::abs(count["pets"] - 800) < 100);     // 4000 / 5; four deviations are 101
  CHECK(std::abs(count["places"] - 2000) < 127);  // half of them
}

TEST_CASE("the roles of links have names", "[phase1][text]") {
  CHECK(to_string(Role::determiner_noun) == "determiner-noun");
  CHECK(to_string(Role::subject_verb) == "subject-verb");
  CHECK(to_string(Role::verb_object) == "verb-object");
  CHECK(to_string(Role::preposition_place) == "preposition-place");
}
