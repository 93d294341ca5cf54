// Step 70. How does a text become numbers, if not letter by letter or word by word?
//
// New here: byte-pair encoding (Sennrich et al. 2016; of bytes: Radford et al. 2019). Merges by
// hand on a small text, the same by the library, and on a real text: how long it gets, how many
// tokens there are, what is unknown; and why models with different tokens are compared in bits per
// byte. It reads these lessons, or a file: build/release/tutorials/70_tokens my_text.txt
// Writes out/plots/phase7_tokens.png; takes about a second.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "course/lesson_text.hpp"
#include "course/text_units.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/text/byte_pairs.hpp"
#include "tapestry/text/vocabulary.hpp"

using namespace tapestry;

namespace {

// ---- By hand: a text is a list of pieces, a piece a list of tokens.

using Piece = std::vector<std::string>;  // tokens
using Counts = std::map<BytePair, int>;
using Merges = std::vector<BytePair>;  // in their order

// Each blank begins a piece; a token is one letter at first.
std::vector<Piece> letters_of(const std::string& text) {
  std::vector<Piece> pieces(1);
  for (const char letter : text) {
    if (letter == ' ') pieces.emplace_back();
    pieces.back().push_back(std::string(1, letter));
  }
  return pieces;
}

Counts count_pairs(const std::vector<Piece>& pieces) {
  Counts counts;
  for (const Piece& piece : pieces) {
    for (std::size_t i = 0; i + 1 < piece.size(); ++i) ++counts[{piece[i], piece[i + 1]}];
  }
  return counts;
}

// The pair that stands most often. Of several, the one with the lowest id of its left token, then
// of its right one: an id is the place in the list of all tokens.
BytePair most_frequent(const Counts& counts, const Piece& tokens) {
  const auto id = [&](const std::string& token) {
    return std::find(tokens.begin(), tokens.end(), token) - tokens.begin();
  };
  const auto rank = [&](const Counts::value_type& pair) {
    return std::tuple(-pair.second, id(pair.first.first), id(pair.first.second));
  };
  const auto is_before = [&](const auto& a, const auto& b) { return rank(a) < rank(b); };
  return std::min_element(counts.begin(), counts.end(), is_before)->first;
}

void merge(Piece& piece, const BytePair& pair) {
  for (std::size_t i = 0; i + 1 < piece.size(); ++i) {
    if (piece[i] != pair.first || piece[i + 1] != pair.second) continue;
    piece[i] += piece[i + 1];
    piece.erase(piece.begin() + static_cast<std::ptrdiff_t>(i) + 1);
  }
}

std::string shown(const std::vector<Piece>& pieces) {
  std::string text;
  for (const Piece& piece : pieces) text += (text.empty() ? "" : "  ") + shown_tokens(piece);
  return text;
}

Merges merges_by_hand(const std::string& text, int count) {
  Piece tokens;  // the alphabet, the blank, then what is made
  for (char letter = 'a'; letter <= 'z'; ++letter) tokens.emplace_back(1, letter);
  tokens.emplace_back(" ");
  std::vector<Piece> pieces = letters_of(text);
  std::printf("        %s\n", shown(pieces).c_str());
  Merges merges;
  for (int i = 0; i < count; ++i) {
    const Counts counts = count_pairs(pieces);
    const BytePair pair = most_frequent(counts, tokens);
    int ties = 0;
    for (const auto& [other, times] : counts) ties += times == counts.at(pair);
    merges.push_back(pair);
    tokens.push_back(pair.first + pair.second);
    for (Piece& piece : pieces) merge(piece, pair);
    std::printf("%d. %s %d times%s\n        %s\n", i + 1,
                shown_tokens({pair.first, pair.second}).c_str(), counts.at(pair),
                ties > 1 ? formatted(" (%d pairs do)", ties).c_str() : "", shown(pieces).c_str());
  }
  return merges;
}

Piece tokens_of(const Tokenizer& tokenizer, const std::string& text) {
  return token_bytes(tokenizer, tokenizer.encode(text, false));
}

void by_hand() {
  const std::string text = "the cat that sat on the mat saw the other hat";
  std::printf("1. Merges by hand; a blank is shown as _\n");
  const Merges merges = merges_by_hand(text, 6);
  std::printf("The library makes %s merges.\n\n",
              merges == learn_byte_pairs(text, 6) ? "the same" : "OTHER");
  std::printf("2. Other words, by these merges in their order\n");
  const Tokenizer tokenizer = byte_pair_tokenizer(merges);
  for (const std::string word : {" that", " hats", " math", " zoo"}) {
    Piece piece = letters_of(word).back();
    for (const BytePair& pair : merges) merge(piece, pair);
    std::printf("   %-6s %-12s%s\n", shown_token(word).c_str(), shown_tokens(piece).c_str(),
                piece == tokens_of(tokenizer, word) ? "" : "  THE LIBRARY SAYS SOMETHING ELSE");
  }
}

// ---- Bytes

void print_bytes() {
  std::printf("\n3. Bytes: no character is unknown\n");
  const Tokenizer tokenizer = byte_pair_tokenizer({});
  for (const std::string sign : {"e", "é", "→", "🙂"}) {
    std::string bytes, ids;
    for (const char byte : sign) bytes += formatted(" %02x", static_cast<unsigned char>(byte));
    const Indices encoded = tokenizer.encode(sign);
    for (const std::int32_t id : encoded.values) ids += formatted(" %3d", int(id));
    const std::string first = shown_token(tokenizer.bytes_of(encoded.values[0]));
    std::printf("   %s   bytes%-12s ids%-16s the first alone: %s\n", sign.c_str(), bytes.c_str(),
                ids.c_str(), first.c_str());
  }
}

// ---- A real text in units: characters, words, tokens

// How well `test`, in units of one kind, is predicted by counts of `train`. Known are the units
// that stand at least `least` times in `train`; the others are <unk>. Each is guessed by how often
// it stands there, counted once more, so that none has a probability of 0. `all`: how many units
// there are, known from the start (all tokens), or 0.
TextUnits measure(const std::string& name, const Piece& train, const Piece& test, int least,
                  double all = 0) {
  std::map<std::string, double> seen, counts;
  for (const std::string& unit : train) ++seen[unit];
  const auto known = [&](const std::string& unit) {
    return all > 0 || (seen.contains(unit) && seen[unit] >= least) ? unit : "<unk>";
  };
  for (const auto& [unit, count] : seen) counts[known(unit)] += count;
  if (all == 0) counts.emplace("<unk>", 0);
  const double vocabulary = all > 0 ? all : double(counts.size());
  double sum = 0, is_known = 0, bytes = 0;
  for (const std::string& unit : test) {
    bytes += double(unit.size());
    is_known += all > 0 || known(unit) != "<unk>";
    sum -= std::log((counts[known(unit)] + 1) / (double(train.size()) + vocabulary));
  }
  const double units = double(test.size());
  const double bits = all > 0 ? sum / std::log(2.0) : 0;
  return {name, vocabulary, 1000 * units / bytes, is_known / units, sum / units, bits / bytes, {}};
}

const std::string sentence = "The weights of each query sum to 1; unbelievably, é takes two bytes.";

// What it returns: bytes with 0 to 4096 merges.
std::vector<TextUnits> compare(const TextParts& text) {
  std::printf("%-22s %10s %14s %12s  %8s  %8s\n", "", "vocabulary", "in 1000 bytes", "known",
              "loss", "bits/byte");
  print_row(
      measure("characters", split_characters(text.learned), split_characters(text.held_out), 1));
  const Piece words[] = {words_and_signs(text.learned), words_and_signs(text.held_out)};
  print_row(measure("words", words[0], words[1], 1));
  print_row(measure("words seen 20 times", words[0], words[1], 20));
  std::vector<TextUnits> rows;
  for (const Index most : {0, 64, 256, 1024, 4096}) {
    const Merges merges = learn_byte_pairs(text.learned, most);
    const Tokenizer tokenizer = byte_pair_tokenizer(merges);
    const int count = int(merges.size());
    TextUnits row =
        measure(formatted("bytes, %d merges", count), tokens_of(tokenizer, text.learned),
                tokens_of(tokenizer, text.held_out), 0, double(tokenizer.size()));
    print_row(row);
    const Piece tokens = tokens_of(tokenizer, sentence);
    row.pictured = {formatted("%d merges: %d tokens", count, int(tokens.size())), tokens};
    rows.push_back(row);
  }
  return rows;
}

}  // namespace

int main(int count, char** values) try {
  const RealText real = real_text(count, values);
  const TextParts text = parts_of(real.bytes);
  std::printf("Step 70: from letters to tokens (takes about a second)\n\n");
  by_hand();
  print_bytes();
  std::printf("\n4. A real text, %s: %.0f kB to learn from, %.0f kB to measure\n\n",
              real.name.c_str(), double(text.learned.size()) / 1000,
              double(text.held_out.size()) / 1000);
  plot::write_png(picture_of_units(compare(text)), "out/plots/phase7_tokens.png");
  std::printf("\nWrote out/plots/phase7_tokens.png\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
