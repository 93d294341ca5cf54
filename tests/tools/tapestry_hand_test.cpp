// `tapestry hand`: a model made by hand, its maps and scores, and a file that other commands open.
#include <fstream>
#include <nlohmann/json.hpp>

#include "catch.hpp"
#include "ops/expect.hpp"
#include "process.hpp"
#include "tapestry/io/npy.hpp"
#include "tapestry/io/safetensors.hpp"
#include "tapestry/models/hand_made.hpp"

using namespace tapestry;

namespace {

using Json = nlohmann::json;

const std::string induction =
    "hand --head '0.0 previous word' --head '1.0 what followed the same word'";

const std::filesystem::path made = "out/checkpoints/hand.safetensors";

// A folder with files to refuse, and how the command refuses its arguments there.
struct Refusals {
  TemporaryFolder folder;
  std::vector<std::string> before;

  Refusals() {
    write_npy(folder / "narrow.npy", Tensor::ones({3, 2}));
    std::ofstream(folder / "hole.csv") << "a,b\n1,\n";
    std::ofstream(folder / "letters.csv") << "a,b\n1,x\n";
    tapestry_in(folder / "", "train grammar --checkpoint words --steps 0 --width 8");
    tapestry_in(folder / "", "train induction --checkpoint learned --steps 0 --width 8");
    before = all_in(folder / "");
  }

  std::string operator()(const std::string& arguments, std::initializer_list<const char*> words,
                         int status = 1) const {
    const Result result = tapestry_in(folder / "", "hand " + arguments);
    const std::string line = result.err.substr(0, result.err.find_last_of('\n'));
    if (result.status != status) return "status " + std::to_string(result.status) + line;
    if (!result.out.empty()) return "printed: " + result.out;
    if (all_in(folder / "") != before) return "wrote a file";
    return missing_word(line, words);
  }
};

const std::string head = "--head '0.0 same word' ";

}  // namespace

TEST_CASE("hand prints maps, patterns and scores, and other commands agree", "[phase5][hand]") {
  const TemporaryFolder folder;
  const Result result = tapestry_in(folder / "", induction);
  CHECK(wrong(result) == "");
  for (const char* part :
       {"0.0 previous word, 1.0 what followed the same word", "text:  <bos> d a c f a",
        "    f   1.00   0.00   0.00   0.00   0.00   0.00",
        "    a   0.00   0.00   0.00   1.00   0.00", "    0    0   previous word           1.00",
        "    1    0   induction               1.00", "next: c 1.00",
        "made by hand                       100.0 %       100.0 %    0.001",
        "equal chances                        1.4 %         4.5 %    3.091",
        "wrote out/checkpoints/hand.safetensors", "try: tapestry analyze"}) {
    CAPTURE(part, result.out);
    CHECK(has(result.out, part));
  }
  CHECK(all_in(folder / "").size() == 3);  // the file in its two folders
  const std::string of_file = " --checkpoint " + made.string() + " --text 'd a c f a'";
  const Result analyzed = tapestry_in(folder / "", "analyze" + of_file);
  CHECK(wrong(analyzed) == "");
  CHECK(has(analyzed.out, "    0    0   previous word           1.00"));
  CHECK(has(analyzed.out, "    1    0   induction               1.00"));
  CHECK(has(tapestry_in(folder / "", "cut 1.0" + of_file).out, "3.09"));
  CHECK(has(tapestry_in(folder / "", "why --query a@5 --key c" + of_file + " --layer 1").out,
            "The weight of a@5 on c@3 is 1.0000"));
  CHECK(has(tapestry_in(folder / "", "generate --temperature 0 --length 3" + of_file).out,
            "d a c f a c f a"));
  CHECK(wrong(tapestry_in(folder / "", "explore " + made.string() + " --text 'd a c f a'")) == "");
}

TEST_CASE("hand: soft heads, a learned model beside, numbers for programs", "[phase5][hand]") {
  const TemporaryFolder folder;
  tapestry_in(folder / "", "train induction --checkpoint learned --steps 0 --width 8");
  const Result result = tapestry_in(
      folder / "", induction + " --sharpness 0 --beside learned --json out.json --npy out.npy" +
                       " --out hard --text 'a b a' --length 30");
  CHECK(wrong(result) == "");
  CHECK(has(result.out, "    a   0.25   0.25   0.25   0.25"));
  CHECK(has(result.out, "learned  "));
  const Json json = Json::parse(content(folder / "out.json"));
  CHECK(json["command"] == "hand");
  CHECK(json["heads"] == "0.0 previous word, 1.0 what followed the same word");
  CHECK(json["sharpness"] == 0);
  REQUIRE(json["tables"].size() == 3);
  CHECK(json["tables"][0]["rows"] == Json({"made by hand", "learned", "equal chances"}));
  CHECK(json["tables"][2]["name"] == "layer 1, head 0");
  CHECK(json["tables"][2]["values"][2][1].get<double>() == Approx(1.0 / 3).epsilon(1e-4));
  const Tensor scores = read_npy(folder / "out.npy");  // (3, 3)
  REQUIRE(scores.shape() == Shape{3, 3});
  CHECK(double{scores.at({0, 2})} > 1);  // soft heads do not predict
  CHECK(double{scores.at({2, 1})} == Approx(1.0 / 22));
  const Safetensors file = read_safetensors(folder / "hard");
  CHECK(file.metadata.at("hand.heads") == json["heads"].get<std::string>());
  CHECK(file.metadata.at("hand.sharpness") == "0");
  CHECK(file["positions.weight"].size(0) == 30);
}

TEST_CASE("hand shows the heads that were named, of one all patterns", "[phase5][hand]") {
  const TemporaryFolder folder;
  const Result result = tapestry_in(folder / "", "hand --head '0.2 First  WORD' --text 'b a'");
  CHECK(wrong(result) == "");
  CHECK(has(result.out, "1 layer, 3 heads"));
  CHECK(has(result.out, "heads: 0.2 first word"));
  CHECK(has(result.out, "layer 0, head 2: each row a query"));
  CHECK(!has(result.out, "layer 0, head 0:"));
  CHECK(has(result.out, "    0    2   first word"));
  CHECK(!has(result.out, "    0    1   "));
}

TEST_CASE("hand takes matrices from .npy and CSV", "[phase5][hand]") {
  const TemporaryFolder folder;
  const HandMadeOptions sizes{22, 13, 20, 10, 1};  // those of the task
  const HandMadeMatrices m = matrices_of(Phrase::previous_word, sizes);
  write_npy(folder / "q.npy", m.query);
  std::ofstream csv(folder / "k.csv");
  for (Index j = 0; j < 13; ++j) csv << (j == 0 ? "" : ",") << "k" << j;
  for (Index i = 0; i < m.key.size(0); ++i) {
    for (Index j = 0; j < 13; ++j) csv << (j == 0 ? "\n" : ",") << double{m.key.at({i, j})};
  }
  csv << "\n" << std::flush;
  const std::string files = " --query q.npy --key k.csv";
  const Result result = tapestry_in(folder / "", "hand --head '0.0 matrices'" + files);
  CHECK(wrong(result) == "");
  CHECK(has(result.out, "heads: 0.0 matrices"));
  CHECK(has(result.out, "previous word           1.00"));
  CHECK(has(result.out, "next: f 1.00"));  // what was found comes next
  write_npy(folder / "v.npy", m.value);
  write_npy(folder / "o.npy", m.output);
  const Result all = tapestry_in(
      folder / "", "hand --head '0.0 matrices'" + files + " --value v.npy --output o.npy");
  CHECK(wrong(all) == "");
  CHECK(has(all.out, "next: <pad> 0.05"));  // its columns are not those of what comes next
}

TEST_CASE("hand scores a text file by characters", "[phase5][hand]") {
  const TemporaryFolder folder;
  std::ofstream text(folder / "book.txt");
  for (int line = 0; line < 60; ++line) text << "the cat sat on the mat " << line << "\n";
  text << std::flush;
  const Result result =
      tapestry_in(folder / "", induction + " --task book.txt --length 20 --text 'mat a m'");
  CHECK(wrong(result) == "");
  CHECK(has(result.out, "next: a 1.00"));
  CHECK(!has(result.out, "wholly right"));
  CHECK(has(result.out, "words right     loss"));
}

TEST_CASE("hand refuses heads that it cannot make, and writes nothing", "[phase5][hand]") {
  const Refusals refused;
  CHECK(refused("", {"--head is required"}, 2) == "");
  CHECK(refused("--head '0.0 previous token'", {"not a phrase", "Did you mean"}) == "");
  CHECK(refused("--head '0.0 matrix'", {"not a phrase"}) == "");
  for (const char* bad : {"", " ", "same word", "0 same word", "@1 same word", "0.mlp same word"}) {
    CHECK(refused("--head '" + std::string(bad) + "'", {"must begin with a layer and a head"}) ==
          "");
  }
  CHECK(refused(head + head, {"named twice"}) == "");
  CHECK(refused("--head '1.0 same word'", {"layer 0 has no head"}) == "");
  CHECK(refused("--head '0.0 what followed the same word'", {"Make it 1.0"}) == "");
  CHECK(refused("--head '0.0 matrices' --query narrow.npy", {"--query FILE and --key FILE"}) == "");
  const std::string matrices = "--head '0.0 matrices' --query narrow.npy --key ";
  CHECK(refused(matrices + "narrow.npy", {"its query is (3, 2), but must be (124, k)"}) == "");
  CHECK(refused(matrices + "hole.csv", {"hole.csv has an empty cell"}) == "");
  CHECK(refused(matrices + "letters.csv", {"letters.csv"}) == "");
  CHECK(refused(matrices + "none.npy", {"none.npy"}) == "");
  CHECK(refused(matrices + "narrow.npy --head '0.1 matrices'", {"only one --head"}) == "");
  for (const char* file : {"query", "key", "value", "output"}) {
    CHECK(refused(head + "--" + file + " narrow.npy", {"are of a head of matrices"}) == "");
  }
}

TEST_CASE("hand refuses texts, tasks, models and files that do not fit", "[phase5][hand]") {
  const Refusals refused;
  CHECK(refused(head + "--text 'a b c d e f g h i j k l m'",
                {"14 words, <bos> included", "has 13 positions", "--length"}) == "");
  CHECK(refused(head + "--text xyz", {"'xyz' is none of the 22 words"}) == "");
  CHECK(refused(head + "--length 12", {"--length 12 is too short", "13"}) == "");
  CHECK(refused(head + "--task sport", {"neither a task", "Did you mean sort?"}) == "");
  CHECK(refused(head + "--sharpness 1001", {"--sharpness"}, 2) == "");
  CHECK(refused(head + "--beside words", {"does not have the words of induction"}) == "");
  CHECK(refused(head + "--task copy --beside learned", {"14 positions", "at most 13"}) == "");
  CHECK(refused(head + "--out learned", {"was not written by `tapestry hand`"}) == "");
  CHECK(refused(head + "--out hole.csv", {"was not written by `tapestry hand`"}) == "");
  CHECK(refused(head + "--out words/x", {"cannot"}) == "");
  CHECK(refused(head + "--json words/x", {"words/x"}) == "");
  CHECK(tapestry_in(refused.folder / "", "hand " + head + "--text 'a b c d e f g h i j k l'")
            .status == 0);
  CHECK(tapestry_in(refused.folder / "", "hand " + head).status == 0);  // replaces its own file
}
