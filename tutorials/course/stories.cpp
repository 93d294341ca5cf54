#include "course/stories.hpp"

#include <cmath>
#include <vector>

namespace tapestry {
namespace {

using Choices = std::vector<std::string>;

const Choices colours = {"red", "blue", "green", "white", "black", "yellow", "brown", "grey"};
const Choices things = {"kite", "ball",  "drum", "boat",  "hat", "cup",  "lamp", "book",
                        "bell", "spoon", "rope", "chair", "bag", "coat", "cart", "flute"};
const Choices places = {"pond",    "forest", "garden", "market",
                        "harbour", "school", "mill",   "castle"};
const Choices animals = {"frog", "cat", "dog", "horse", "bear", "fox", "goose", "mouse"};
const Choices feelings = {"sad", "tired", "hungry", "cold"};
const Choices spots = {"under the bridge", "behind the door", "in the grass", "on the roof"};

const Choices others = {"It was cold", "The sun shone", "Birds sang", "Nobody was there",
                        "It got late", "The wind blew", "Bells rang", "It rained a little"};

// A name that ends so is a girl's.
bool is_girl(const std::string& name) {
  return std::string("aei").find(name.back()) != std::string::npos;
}

// Makes choices, and counts their bits.
struct Writer {
  Random& random;
  double bits = 0;

  Index choose(Index count) {
    bits += std::log2(double(count));
    return random.randint(count);
  }
  std::string one_of(const Choices& choices) {
    return choices[static_cast<std::size_t>(choose(static_cast<Index>(choices.size())))];
  }
  // Two or three syllables of a consonant and a vowel, with a capital letter: "Tokira".
  std::string name() {
    static const std::string consonants = "bdklmnprstvz", vowels = "aeiou";
    std::string word;
    for (Index left = 2 + choose(2); left > 0; --left) {
      word += consonants[static_cast<std::size_t>(choose(12))];
      word += vowels[static_cast<std::size_t>(choose(5))];
    }
    word[0] = static_cast<char>(word[0] - 'a' + 'A');
    return word;
  }
  // None to three sentences that have nothing to do with the story.
  std::string asides() {
    std::string text;
    for (Index left = choose(4); left > 0; --left) text += " " + one_of(others) + ".";
    return text;
  }
};

}  // namespace

Story story(Random& random) {
  Writer w{random};
  const std::string name = w.name();
  const std::string she = is_girl(name) ? "She" : "He";
  const std::string thing = w.one_of(things), own = w.one_of(colours) + " " + thing;
  Story made;
  std::string& text = made.text;
  const auto say_again = [&](const std::string& word) {
    made.again.emplace_back(text.size(), text.size() + 1 + word.size());
    text += " " + word;
  };
  text = name + " had a " + own + "." + w.asides();
  const std::string place = w.one_of(places), feeling = w.one_of(feelings);
  const std::string animal = w.one_of(animals);
  text += " " + she + " went to the " + place + " and met a " + feeling + " " + animal + ".";
  text += w.asides();
  const std::string lost = w.one_of(things), spot = w.one_of(spots);
  text += " \"I lost my " + lost + ",\" said the";
  say_again(animal);
  text += ". The";
  say_again(lost);
  text += " was " + spot + "." + w.asides() + " \"Thank you,";
  say_again(name);
  text += ",\" said the";
  say_again(animal);
  text += ". \"I like your";
  say_again(own);
  text += ".\"\n";
  made.bits = w.bits;
  return made;
}

}  // namespace tapestry
