#include "tapestry/text/byte_pairs.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "catch.hpp"
#include "ops/expect.hpp"
#include "small_tokenizer.hpp"
#include "tapestry/random.hpp"
#include "tapestry/unicode.hpp"
#include "text/byte_letters.hpp"
#include "text/split_patterns.hpp"

using namespace tapestry;

namespace {

using Merges = std::vector<BytePair>;
using Piece = std::vector<std::string>;

// The textbook: count all pairs, merge the most frequent one everywhere, and count all again.
class Textbook {
 public:
  explicit Textbook(const std::string& text) {
    for (const unsigned char byte : bytes_by_letter()) {
      older(std::string(1, static_cast<char>(byte)));
    }
    for (std::size_t at = 0, end = 0; at < text.size(); at = end) {
      end = piece_end(gpt2_pattern, text, at);
      Piece& piece = pieces_.emplace_back();
      for (std::size_t i = at; i < end; ++i) piece.push_back(text.substr(i, 1));
    }
  }

  Merges learn(Index count) {
    Merges merges;
    while (static_cast<Index>(merges.size()) < count) {
      const BytePair best = most_frequent();
      if (best.first.empty()) break;
      merges.push_back(best);
      older(best.first + best.second);
      for (Piece& piece : pieces_) merge(piece, best);
    }
    return merges;
  }

 private:
  // The place of a token among all that there have been.
  std::size_t older(const std::string& token) {
    return ages_.emplace(token, ages_.size()).first->second;
  }

  BytePair most_frequent() {
    std::map<std::pair<std::size_t, std::size_t>, std::pair<Index, BytePair>> counts;
    for (const Piece& piece : pieces_) {
      for (std::size_t i = 0; i + 1 < piece.size(); ++i) {
        auto& entry = counts[{older(piece[i]), older(piece[i + 1])}];
        ++entry.first;
        entry.second = {piece[i], piece[i + 1]};
      }
    }
    Index most = 1;
    BytePair best;
    for (const auto& [ages, entry] : counts) {
      if (entry.first <= most) continue;
      most = entry.first;
      best = entry.second;
    }
    return best;
  }

  static void merge(Piece& piece, const BytePair& pair) {
    for (std::size_t i = 0; i + 1 < piece.size(); ++i) {
      if (piece[i] != pair.first || piece[i + 1] != pair.second) continue;
      piece[i] += piece[i + 1];
      piece.erase(piece.begin() + static_cast<long>(i) + 1);
    }
  }

  std::vector<Piece> pieces_;
  std::map<std::string, std::size_t> ages_;
};

// Words of few letters, so that pairs overlap and stand equally often.
std::string random_text(std::uint64_t seed) {
  Random random(seed);
  std::string text;
  for (int word = 0; word < 60; ++word) {
    const Index length = 1 + random.randint(9);
    const int first = seed % 4 == 0 ? '!' : 'a';  // '!' has id 0
    for (Index i = 0; i < length; ++i)
      text += static_cast<char>(first + random.randint(2 + seed % 3));
    text += random.randint(5) == 0 ? "\xFF!!" : " ";
  }
  return text;
}

}  // namespace

// GPT-2's encoder.py: the bytes from ! to ~, from 0xA1 to 0xAC and from 0xAE to 0xFF stand for
// themselves, and the n-th of the others for U+0100 + n.
TEST_CASE("each byte has the letter that GPT-2 gives it", "[text]") {
  std::set<int> themselves;
  for (const auto& [first, last] : {std::pair{0x21, 0x7E}, {0xA1, 0xAC}, {0xAE, 0xFF}}) {
    for (int byte = first; byte <= last; ++byte) themselves.insert(byte);
  }
  std::string in_order;
  for (const int byte : themselves) in_order += static_cast<char>(byte);
  char32_t next = 0x100;
  for (int byte = 0; byte < 256; ++byte) {
    const bool itself = themselves.count(byte) > 0;
    const std::string letter = encode_utf8(itself ? static_cast<char32_t>(byte) : next++);
    const std::string one(1, static_cast<char>(byte));
    CHECK(letters_of(one) == letter);
    CHECK(bytes_of_letters(letter) == one);
    if (!itself) in_order += one;
  }
  CHECK_FALSE(bytes_of_letters(encode_utf8(next)));
  CHECK_FALSE(bytes_of_letters(encode_utf8(0xAD)));
  const auto& found = bytes_by_letter();
  CHECK(std::string(found.begin(), found.end()) == in_order);
}

TEST_CASE("the merges are those of the textbook's algorithm", "[text]") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    const std::string text = random_text(seed);
    CHECK(learn_byte_pairs(text, 50) == Textbook(text).learn(50));
  }
}

TEST_CASE("the merges of a small text", "[text]") {
  CHECK(learn_byte_pairs("low low low lower newest newest", 3) ==
        Merges{{"l", "o"}, {"lo", "w"}, {" ", "low"}});
  CHECK(learn_byte_pairs("aaaa", 9) == Merges{{"a", "a"}});
  CHECK(learn_byte_pairs("aaaaaaaa", 9) == Merges{{"a", "a"}, {"aa", "aa"}});
  CHECK(learn_byte_pairs("ab cd ab cd", 1) == Merges{{"a", "b"}});  // equally often: the older pair
  CHECK(learn_byte_pairs("", 5).empty());
  CHECK(learn_byte_pairs("abc", 5).empty());
  CHECK(learn_byte_pairs("ababab", 0).empty());
  CHECK(learn_byte_pairs("ab<|endoftext|>ab<|endoftext|>", 5) == Merges{{"a", "b"}});
  CHECK(complaint([] { learn_byte_pairs("a", -1); }, {"learn_byte_pairs: -1 merges"}) == "");
}

TEST_CASE("long pieces are learned in little time", "[text]") {
  CHECK(learn_byte_pairs(std::string(1'000'000, 'a'), 100).size() == 19);
  Random random(1);
  std::string letters;
  for (int i = 0; i < 300'000; ++i) letters += static_cast<char>('a' + random.randint(26));
  CHECK(learn_byte_pairs(letters, 2000).size() == 2000);
}

TEST_CASE("learned merges make a tokenizer", "[text]") {
  const Merges merges = learn_byte_pairs("the cat the cat the", 20);
  const Tokenizer tokenizer = byte_pair_tokenizer(merges);
  CHECK(tokenizer.size() == 256 + static_cast<Index>(merges.size()) + 1);
  CHECK(tokens_of(tokenizer, "the cat<|endoftext|>") ==
        std::vector<std::string>{"the", "Ġcat", "<|endoftext|>"});
  CHECK(tokenizer.eos() == tokenizer.size() - 1);
  CHECK(tokens_of(byte_pair_tokenizer(Merges{{"!", "!"}, {"!!", "!"}}), "!!!!!") ==
        std::vector<std::string>{"!!", "!!!"});
  CHECK(complaint([] { byte_pair_tokenizer(Merges{{"a", "b"}, {"x", "bc"}}); },
                  {"byte_pair_tokenizer: merge 2 is of 'bc', which no earlier merge makes"}) == "");
}

TEST_CASE("the files of a learned tokenizer open again, as either kind", "[text]") {
  const TemporaryFolder folder;
  const std::string text = random_text(7) + " \"quoted\" \\ é\n";
  const Merges merges = learn_byte_pairs(text, 60);
  write_byte_pairs(folder / "new/tokens/", merges);
  const Indices ids = byte_pair_tokenizer(merges).encode(text);
  for (const char* name : {"", "tokenizer.json", "vocab.json", "merges.txt"}) {
    const Tokenizer again = read_tokenizer(folder / ("new/tokens/" + std::string(name)));
    CHECK(again.encode(text).values == ids.values);
    CHECK(again.decode(ids.values) == text);
    CHECK(again.eos() == again.size() - 1);
  }
  CHECK(std::filesystem::status(folder / "new/tokens").permissions() ==
        std::filesystem::perms{0755});
}

TEST_CASE("a folder that holds something is not written to", "[text]") {
  const TemporaryFolder folder;
  write_byte_pairs(folder / "", {});  // empty: fine
  CHECK(read_tokenizer(folder / "").size() == 257);
  CHECK(complaint([&] { write_byte_pairs(folder / "", {}); },
                  {"write_byte_pairs: cannot write the folder", "it is not empty"}) == "");
  CHECK(complaint([&] { write_byte_pairs(folder / "vocab.json", {}); },
                  {"it is there, and is no folder"}) == "");
  // A name that has no room for what a new folder is called first.
  const std::string longest(255, 'a');
  CHECK(complaint([&] { write_byte_pairs(folder / longest, {}); },
                  {"cannot write the folder", longest.c_str(), "too long"}) == "");
  CHECK(folder.files() == 3);
}

TEST_CASE("a folder that cannot be made is named, and nothing stays of it", "[text]") {
  const TemporaryFolder folder;
  // No other folder can become the one that "." names.
  CHECK(complaint([&] { write_byte_pairs(folder / ".", {}); },
                  {"write_byte_pairs: cannot write the folder", "/.: "}) == "");
  CHECK(folder.files() == 0);
  std::filesystem::create_symlink("nowhere", folder / "link");
  CHECK(complaint([&] { write_byte_pairs(folder / "link/tokens", {}); },
                  {"cannot write the folder", "link/tokens: File exists"}) == "");
  CHECK(folder.files() == 1);
}
