// `tapestry tokens` from end to end.
#include "catch.hpp"
#include "process.hpp"
#include "tapestry/text/tokenizer.hpp"

using namespace tapestry;

namespace {

// A folder with a text, and a tokenizer that was learned from it.
const std::filesystem::path& learned() {
  static const TemporaryFolder folder;
  static const std::filesystem::path path = [] {
    std::ofstream(folder / "book.txt") << "the cat sat on the mat. the cat sat.\n";
    tapestry_in(folder / "", "tokens --train book.txt --merges 12 --out new/mine");
    return folder / "";
  }();
  return path;
}

Result tokens(const std::string& arguments) {
  return tapestry_in(learned(), "tokens --model new/mine " + arguments);
}

std::string refused(const std::string& arguments) {
  const TemporaryFolder folder;
  std::ofstream(folder / "text") << "abab";
  const Result result = tapestry_in(folder / "", "tokens " + arguments);
  CHECK(result.status == 1);
  CHECK(std::count(result.err.begin(), result.err.end(), '\n') == 1);
  CHECK(folder.files() == 1);
  return result.err;
}

}  // namespace

TEST_CASE("tapestry tokens learns a tokenizer and says what it wrote", "[tools]") {
  const TemporaryFolder folder;
  std::ofstream(folder / "book.txt") << "abababab ab\n";
  const Result result = tapestry_in(folder / "", "tokens --train book.txt --out mine");
  CHECK(wrong(result) == "");
  CHECK(has(result.out, "learning up to 8192 merges from 12 bytes\n"));
  CHECK(has(result.out, "2 merges in "));
  CHECK(has(result.out, ": no other pair stands twice\n  1: a + b\n  2: ab + ab\n"));
  CHECK(has(result.out, "the text has 5 tokens, of 2.40 bytes each\n"));
  CHECK(has(result.out, "wrote vocab.json, merges.txt and tokenizer.json in 'mine'\n"));
  CHECK(all_in(folder / "mine") ==
        std::vector<std::string>{"merges.txt", "tokenizer.json", "vocab.json"});
  CHECK(content(folder / "mine/merges.txt") == "#version: 0.2\na b\nab ab\n");
}

TEST_CASE("tapestry tokens prints the ids of the library", "[tools]") {
  const Result result = tokens("'the cat sat'");
  CHECK(wrong(result) == "");
  const Tokenizer tokenizer = read_tokenizer(learned() / "new/mine");
  const std::vector<std::int32_t> ids = tokenizer.encode("the cat sat").values;
  CHECK(has(result.out, std::to_string(ids.size()) + " tokens of 11 bytes; byte-level BPE, "));
  CHECK(has(result.out, "No beginning token is put\nin front."));
  for (std::size_t i = 0; i < ids.size(); ++i) {
    char row[40];
    std::snprintf(row, sizeof row, "\n%9zu %9d  ", i, ids[i]);
    CHECK(has(result.out, row));
  }
  CHECK(has(result.out, "  ␣cat\n"));
}

TEST_CASE("bytes that do not print are shown as numbers", "[tools]") {
  const Result result = tokens("\"$(printf 'x\\303\\251\\377\\n\\033[1my')\"");
  CHECK(wrong(result) == "");
  for (const char* token : {"  x\n", "  <0xC3>\n", "  <0xA9>\n", "  <0xFF>\n", "  <0x1B>\n"}) {
    CHECK(has(result.out, token));
  }
}

TEST_CASE("without a text it is read from standard input", "[tools]") {
  const Result none = tapestry_in(learned(), "tokens --model new/mine");
  CHECK(wrong(none) == "");
  CHECK(has(none.out, "0 tokens of 0 bytes"));
  const Result piped = tapestry_in(learned(), "tokens --model new/mine <book.txt");
  CHECK(wrong(piped) == "");
  CHECK(has(piped.out, "  <0x0A>\n"));
}

TEST_CASE("--count tells how many tokens alone", "[tools]") {
  const auto counted = [](const std::string& text) {
    const Result result = tokens("--count " + text);
    CHECK(wrong(result) == "");
    return result.out;
  };
  const Tokenizer tokenizer = read_tokenizer(learned() / "new/mine");
  const std::size_t ids = tokenizer.encode("the cat sat").values.size();
  CHECK(ids > 1);
  char line[80];
  std::snprintf(line, sizeof line, "%zu tokens, 11 bytes, %.2f bytes per token\n", ids, 11.0 / ids);
  CHECK(counted("'the cat sat'") == line);
  CHECK(counted("x") == "1 token, 1 byte, 1.00 bytes per token\n");
  CHECK(counted("</dev/null") == "0 tokens, 0 bytes\n");
  CHECK(has(counted("<book.txt"), " tokens, 37 bytes, "));
}

TEST_CASE("--why shows the steps and merges", "[tools]") {
  const Result result = tokens("--why 'the cat<|endoftext|>'");
  CHECK(wrong(result) == "");
  CHECK(has(result.out, "\nadded tokens cut out        the␣cat | <|endoftext|>\n"));
  CHECK(has(result.out, "\npre-tokenizer ByteLevel     the | ␣cat\n"));
  CHECK(has(result.out,
            "\npiece                       the\n  symbols                   t | h | e\n"));
  CHECK(has(result.out, "  <|endoftext|> (special)\n"));
  CHECK(has(tokens("--why '" + std::string(5000, 'a') + "'").err, "5000 bytes"));
}

TEST_CASE("a beginning token that is put in front is said", "[tools]") {
  const TemporaryFolder folder;
  std::ofstream(folder / "vocab.txt") << "[UNK]\n[CLS]\n[SEP]\na\n##b\n";
  const Result result = tapestry_in(folder / "", "tokens ab --model vocab.txt");
  CHECK(wrong(result) == "");
  CHECK(has(result.out, "WordPiece, ids below 5. [CLS] (1) is put in front, [SEP]\n(2) behind."));
  CHECK(tapestry_in(folder / "", "tokens --count '' --model vocab.txt").out ==
        "2 tokens, 0 bytes\n");
  CHECK(has(result.out, "        1         3  a\n        2         4  ##b\n"));
}

TEST_CASE("wrong requests of tapestry tokens are one line, and write nothing", "[tools]") {
  CHECK(has(refused("x"), "name a tokenizer: --model FOLDER or FILE"));
  CHECK(has(refused("x --model none"), "none: there is no such file or folder"));
  CHECK(has(refused("x --model ."), "it has none of tokenizer.json"));
  CHECK(has(refused("--train text"), "--train FILE and --out FOLDER go together"));
  CHECK(has(refused("--out new"), "--train FILE and --out FOLDER go together"));
  CHECK(has(refused("--train text --out new --why"), "--train makes a tokenizer"));
  CHECK(has(refused("--train text --out new --count"), "--train makes a tokenizer"));
  CHECK(has(refused("x --model none --why --count"), "leave one of them out"));
  CHECK(has(refused("--train none --out new"), "none: there is no such file"));
  CHECK(has(refused("--train text --out text"), "it is there already"));
  CHECK(has(refused("--train text --out ."), "it is there already"));
}
