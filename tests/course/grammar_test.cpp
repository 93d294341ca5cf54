#include "course/grammar.hpp"

#include <cmath>
#include <map>
#include <set>

#include "catch.hpp"
#include "ops/expect.hpp"

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

TEST_CASE("the entropy of the grammar is what its choices add up to", "[phase4][text]") {
  // Two determiners of four and a subject of twenty; the form; then a verb of three and a
  // preposition of four, or a verb of two and an adjective of five; last, one noun of four.
  const double first = std::log(4), noun = std::log(20), form = std::log(2);
  const double place = std::log(3) + std::log(4), action = std::log(2) + std::log(5);
  const double whole = 2 * first + noun + form + (place + action) / 2 + std::log(4);
  const Grammar grammar;
  CHECK(same_number(grammar.entropy(), whole, 1e-12));
  CHECK(same_number(whole / 7, 1.463, 1e-3));
  CHECK(same_number(grammar.entropy(0), 0, 1e-12));
  // "a" or "an" tells something about the noun, which it takes from the noun's own choice.
  CHECK(same_number(grammar.entropy(2), first + noun, 1e-12));
  CHECK(same_number(grammar.entropy(3) - grammar.entropy(2), form + (std::log(3) + std::log(2)) / 2,
                    1e-12));
  CHECK(complaint([&] { grammar.entropy(7); }, {"entropy(7)", "0 to 6"}) == "");
  CHECK(complaint([&] { grammar.entropy(-1); }, {"entropy(-1)"}) == "");
}

TEST_CASE("the entropy of the first word counts an beside a", "[phase4][text]") {
  // 7 of the 20 subjects begin with a vowel: owl, eagle, otter, artist, uncle, ox ... counted here.
  double vowels = 0;
  for (const Set& nouns : {pets, birds, swimmers, people, cattle}) {
    for (const std::string& noun : nouns) vowels += is_vowel(noun[0]);
  }
  const double an = vowels / 80, a = 0.25 - an;
  CHECK(same_number(Grammar().entropy(1),
                    -3 * 0.25 * std::log(0.25) - a * std::log(a) - an * std::log(an), 1e-12));
}

TEST_CASE("mean -log p over many sentences is the entropy", "[phase4][text]") {
  const Grammar grammar;
  double sum = 0;
  for (const Sentence& sentence : many_sentences()) sum -= grammar.log_probability(sentence.words);
  CHECK(same_number(sum / 4000, grammar.entropy(), 0.01));  // deviation 0.1 / sqrt(4000)
  // "the cat sat on the mat": 1/5 * (1/4)^3 * 1/2 * 1/3 * (1/4)^2
  CHECK(same_number(grammar.log_probability(grammar.example().words),
                    -std::log(5 * 64 * 2 * 3 * 16), 1e-12));
  for (const char* words : {"the cat sat on the sofa mat", "the cat sat", "",
                            "the cat sang on the mat", "a owl sang on the mat"}) {
    CHECK(grammar.log_probability(split_words(words)) == -infinity);
  }
}

TEST_CASE("the next word's probabilities sum to one and are its frequencies", "[phase4][text]") {
  const Grammar grammar;
  Random random(5);
  std::vector<Words> seen;
  for (int i = 0; i < 20'000; ++i) seen.push_back(grammar.sentence(random).words);
  for (const char* text : {"", "an", "the cat", "the cat chased", "the cat sat on", "every"}) {
    CAPTURE(text);
    const Words beginning = split_words(text);
    std::map<std::string, double> count;
    double all = 0;
    for (const Words& words : seen) {
      if (!std::equal(beginning.begin(), beginning.end(), words.begin())) continue;
      ++count[words[beginning.size()]];
      ++all;
    }
    double sum = 0;
    for (const auto& [word, p] : grammar.next_word(beginning)) {
      CAPTURE(word);
      sum += p;
      CHECK(std::abs(count[word] - p * all) <= 4.5 * std::sqrt(all * p * (1 - p)) + 1e-9);
    }
    CHECK(same_number(sum, 1, 1e-12));
    CHECK(count.size() <= grammar.next_word(beginning).size());
  }
}

TEST_CASE("what follows certain beginnings is known by hand", "[phase4][text]") {
  using Next = std::map<std::string, double>;
  const auto next = [](const char* text) { return Grammar().next_word(split_words(text)); };
  CHECK(next("the cat sat on the mat") == Next{{"<eos>", 1}});
  CHECK(next("the cat sang").empty());
  CHECK(next("the cat sat on the mat and").empty());
  const Next verbs = next("the cat");
  CHECK(verbs.size() == 5);
  CHECK(same_number(verbs.at("sat"), 1 / 6.0, 1e-12));
  CHECK(same_number(verbs.at("chased"), 0.25, 1e-12));
  const Next insects_after = next("the cat chased the small");
  CHECK(insects_after.size() == 4);
  CHECK(same_number(insects_after.at("ant"), 0.25, 1e-12));
}

TEST_CASE("log p of a sentence is the sum over its next words", "[phase4][text]") {
  const Grammar grammar;
  Random random(6);
  for (int i = 0; i < 20; ++i) {
    const Words words = grammar.sentence(random).words;
    double sum = 0;
    for (std::size_t at = 0; at < words.size(); ++at) {
      const Words before(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(at));
      sum += std::log(grammar.next_word(before).at(words[at]));
    }
    CHECK(same_number(sum, grammar.log_probability(words), 1e-10));
  }
}

TEST_CASE("a batch of sentences is read from <bos> and said to <eos>", "[phase4][text]") {
  const Grammar grammar;
  const Vocabulary vocabulary(grammar.words());
  Random random(1), again(1);
  const Batch batch = grammar.batch(vocabulary, 3, random);
  CHECK(batch.inputs.shape == Shape{3, 7});
  CHECK(batch.lengths == std::vector<Index>{7, 7, 7});
  const std::string first = grammar.sentence(again).text();
  const auto row = [&](const Indices& ids) {
    return vocabulary.decode(Indices({7}, {ids.values.begin(), ids.values.begin() + 7}));
  };
  CHECK(row(batch.inputs) == "<bos> " + first);
  CHECK(row(batch.targets) == first + " <eos>");
}

TEST_CASE("a shuffled sentence has the same words, and links between the same ones",
          "[phase2][text]") {
  Random random(3);
  std::set<std::string> orders;
  const Sentence sentence = {{"a1", "b", "c", "d", "e", "f"}, Grammar().example().links};
  for (int i = 0; i < 200; ++i) {
    const Sentence other = shuffled(sentence, random);
    orders.insert(other.text());
    CHECK(Set(other.words.begin(), other.words.end()) ==
          Set(sentence.words.begin(), sentence.words.end()));
    REQUIRE(other.links.size() == sentence.links.size());
    for (std::size_t link = 0; link < other.links.size(); ++link) {
      const Link &now = other.links[link], &then = sentence.links[link];
      CHECK(now.role == then.role);
      CHECK(other.words.at(static_cast<std::size_t>(now.from)) ==
            sentence.words.at(static_cast<std::size_t>(then.from)));
      CHECK(other.words.at(static_cast<std::size_t>(now.to)) ==
            sentence.words.at(static_cast<std::size_t>(then.to)));
    }
  }
  CHECK(orders.size() > 150);  // of 720
  CHECK(shuffled({{"one"}, {}}, random).text() == "one");
  CHECK(shuffled({}, random).words.empty());
}
