// --texts: the means over many texts are those of what each text says alone.
#include <fstream>
#include <nlohmann/json.hpp>

#include "analysis/planted_model.hpp"
#include "catch.hpp"
#include "process.hpp"
#include "small_folder.hpp"
#include "tapestry/io/npy.hpp"
#include "tapestry/io/transformer_file.hpp"
#include "tapestry/plot/dot_plot.hpp"
#include "tapestry/text/corpus.hpp"
#include "tapestry/text/input_format.hpp"

using namespace tapestry;

namespace {

using Json = nlohmann::json;

const Vocabulary vocabulary(split_words("a b c d e f"));

// A folder with the planted model as a checkpoint, and a file of texts.
struct Bench {
  TemporaryFolder folder;

  Bench() {
    const Transformer model = planted_induction(vocabulary.size());
    Batch batch;
    batch.inputs = vocabulary.encode(split_words("a b c"));
    batch.inputs.shape = {1, 3};
    batch.targets = vocabulary.encode(split_words("b c d"));
    batch.targets.shape = {1, 3};
    write_transformer(folder / "m", model, to_metadata(vocabulary, batch));
  }
  Result run(const std::string& arguments) const { return tapestry_in(folder / "", arguments); }
  Json json(const std::string& arguments) const {
    const Result result = run(arguments + " --checkpoint m --json o.json");
    CHECK(wrong(result) == "");
    return Json::parse(content(folder / "o.json"));
  }
  // Of the command with such a file: "" if it ends with an error of one line.
  std::string problem(const std::string& lines, const std::string& arguments) const {
    std::ofstream(folder / "t") << lines;
    const Result result = run(arguments + " --checkpoint m --texts t");
    CHECK(result.status != 0);
    CHECK(result.out == "");
    CHECK(std::count(result.err.begin(), result.err.end(), '\n') == 1);
    CHECK(all_in(folder / "") == std::vector<std::string>{"m", "t"});
    return result.err;
  }
};

double number(const Json& table, std::size_t row, std::size_t column, const char* what = "values") {
  return table[what][row][column].get<double>();
}

// "" if a table has the means and intervals of the same table of single texts.
std::string unlike_means(const Json& means, const std::vector<Json>& single, double margin = 2e-5) {
  for (std::size_t i = 0; i < means["values"].size(); ++i) {
    for (std::size_t j = 0; j < means["values"][i].size(); ++j) {
      std::vector<double> values;
      for (const Json& one : single) values.push_back(number(one, i, j));
      const plot::MeanInterval right = plot::mean_interval(values);
      const double half = right.high - right.mean;
      if (std::abs(number(means, i, j) - right.mean) > margin ||
          std::abs(number(means, i, j, "interval") - half) > margin * std::max(1.0, half)) {
        return means["name"].get<std::string>() + " at " + std::to_string(i) + ", " +
               std::to_string(j);
      }
    }
  }
  return "";
}

}  // namespace

TEST_CASE("attribute --texts prints means with intervals", "[phase7][tools]") {
  const Bench bench;
  std::ofstream(bench.folder / "t") << "a b c a\tb\tc\n\nd e f d\te\tf\r\nf a c e f\ta\tc";
  const Json all = bench.json("attribute --texts t");
  std::vector<Json> heads, layers;
  std::vector<double> answers;
  for (const char* one : {"'a b c a' --token b --against c", "'d e f d' --token e --against f",
                          "'f a c e f' --token a --against c"}) {
    const Json json = bench.json("attribute --text " + std::string(one));
    heads.push_back(json["tables"][0]);
    layers.push_back(json["tables"][1]);
    answers.push_back(json["answer"].get<double>());
  }
  CHECK(unlike_means(all["tables"][0], heads) == "");
  CHECK(unlike_means(all["tables"][1], layers) == "");
  CHECK(all["count"] == 3);
  CHECK(all["question"] == "logit(token) - logit(other) at the end");
  const Json& each = all["tables"].back();
  CHECK(each["rows"] == Json({"a b c a", "d e f d", "f a c e f"}));
  for (std::size_t i = 0; i < 3; ++i) CHECK(std::abs(number(each, i, 0) - answers[i]) < 1e-5);
  const plot::MeanInterval mean = plot::mean_interval(answers);
  CHECK(std::abs(all["answer"].get<double>() - mean.mean) < 1e-5);
  CHECK(std::abs(all["answer_interval"].get<double>() - mean.high + mean.mean) < 1e-5);
  const Result said = bench.run("attribute --checkpoint m --texts t --npy o.npy");
  CHECK(has(said.out, "texts:  3 of t, with 4 to 5 words"));
  CHECK(has(said.out, "above 0 in"));
  CHECK(has(said.out, "95 % interval"));
  CHECK(read_npy(bench.folder / "o.npy").shape() == Shape{2, 2});
}

TEST_CASE("cut --texts cuts each text by the same draws", "[phase7][tools]") {
  const Bench bench;
  std::ofstream(bench.folder / "t") << "a b c a\td\nd e f d\td\n";
  const Json each = bench.json("cut --texts t"), named = bench.json("cut 0.0 1.0 @1 --texts t");
  std::vector<Json> heads, positions, falls;
  for (const char* one : {"'a b c a' --token d", "'d e f d' --token d"}) {
    const Json json = bench.json("cut --text " + std::string(one));
    heads.push_back(json["tables"][0]);
    positions.push_back(json["tables"][2]);
    falls.push_back(bench.json("cut 0.0 1.0 @1 --text " + std::string(one))["tables"][0]);
  }
  CHECK(each["question"] == "ln p(d) at the end");
  CHECK(unlike_means(each["tables"][0], heads) == "");
  CHECK(unlike_means(each["tables"][2], positions) == "");
  CHECK(each["tables"][2]["rows"] == Json({"@0", "@1", "@2", "@3"}));
  const Json& means = named["tables"][0];
  CHECK(means["rows"] == Json({"0.0", "1.0", "@1", "together"}));
  for (std::size_t i = 0; i < 4; ++i) {
    CAPTURE(i);
    for (const std::size_t j : {0, 1}) {  // the fall, and the mean of those at random
      CHECK(std::abs(number(means, i, j) - (number(falls[0], i, j) + number(falls[1], i, j)) / 2) <
            1e-4);
    }
    const double half = 12.7062 * std::abs(number(falls[0], i, 0) - number(falls[1], i, 0)) / 2;
    CHECK(number(means, i, 4) == Approx(half).margin(1e-3));
  }
  const Result said = bench.run("cut 1.0 --checkpoint m --texts t");
  CHECK(has(said.out, "the same in each text"));
}

TEST_CASE("places of texts that are not equally long have no mean", "[phase7][tools]") {
  const Bench bench;
  std::ofstream(bench.folder / "t") << "a b c a\nd e f a d\n";
  const Result each = bench.run("cut --checkpoint m --texts t --json o.json");
  CHECK(wrong(each) == "");
  CHECK(has(each.out, "Left out: positions;"));
  CHECK(Json::parse(content(bench.folder / "o.json"))["tables"][2]["name"] == "answers");
  std::ofstream(bench.folder / "p") << "a b c a\ta d c a\na b c e a\ta d c e a\n";
  const Result pairs = bench.run("patch --checkpoint m --texts p --npy o.npy");
  CHECK(wrong(pairs) == "");
  CHECK(has(pairs.out, "Left out: residual stream before each layer;"));
  CHECK(read_npy(bench.folder / "o.npy").shape() == Shape{2, 2});  // the heads
  std::filesystem::remove_all(bench.folder / "out");
  for (const char* name : {"p", "o.json", "o.npy"}) std::filesystem::remove(bench.folder / name);
  const std::string words = "t, line 2: the text has 5 words, those before it have 4: with ";
  CHECK(has(bench.problem("a b c a\nd e f a d\n", "cut @1"), words + "@1 all"));
  CHECK(has(bench.problem("a b c a\nd e f a d\n", "cut 1.0 '1.0:3>0'"), words + "1.0:3>0 all"));
  CHECK(has(bench.problem("a b a\nd e f a d\n", "attribute --position 2"), "with --position all"));
  CHECK(has(bench.problem("a b c a\ta d c a\na b c e a\ta d c e a", "patch --layer 1"),
            "with --layer all must be equally long"));
}

TEST_CASE("patch --texts patches pairs", "[phase7][tools]") {
  const Bench bench;
  std::ofstream(bench.folder / "t") << "a b c a\ta d c a\nf e c f\tf a c f\n";
  const Json all = bench.json("patch --texts t --layer 1");
  std::vector<Json> residual, heads, links;
  for (const char* one :
       {"--from 'a b c a' --text 'a d c a'", "--from 'f e c f' --text 'f a c f'"}) {
    const Json json = bench.json("patch --layer 1 " + std::string(one));
    residual.push_back(json["tables"][0]);
    heads.push_back(json["tables"][1]);
    links.push_back(json["tables"][2]);
  }
  CHECK(unlike_means(all["tables"][0], residual) == "");
  CHECK(unlike_means(all["tables"][1], heads) == "");
  CHECK(unlike_means(all["tables"][2], links) == "");
  CHECK(all["tables"][0]["rows"] == Json({"@0", "@1", "c@2", "@3"}));
  CHECK(number(all["tables"][0], 1, 0) > 0.9);  // the word itself
  const Result said = bench.run("patch --checkpoint m --texts t");
  CHECK(has(said.out, "the smallest gap is "));
  std::ofstream(bench.folder / "t") << "a b c a\ta d c a\tb\td\nf e c f\tf a c f\te\ta\n";
  CHECK(unlike_means(bench.json("patch --texts t")["tables"][0], residual) == "");
}

TEST_CASE("files of texts that make no sense are refused, by line", "[phase7][tools]") {
  const Bench bench;
  const auto cut = [&](const std::string& lines) { return bench.problem(lines, "cut"); };
  CHECK(has(cut(""), "t: there is no text in it: give one a line."));
  CHECK(has(cut("\n\n"), "t: there is no text in it"));
  CHECK(has(cut("a b\n"), "t has one line, and a mean is taken of two or more"));
  CHECK(has(cut("a b\tc\na b\tz"), "t, line 2: token 'z' is none of the model's words"));
  CHECK(has(cut("a b\tc\n\na b\tc\tc"), "t, line 3: 3 columns, but the first line has 2"));
  CHECK(has(cut("a b\tc\tc\na b\tc\td"), "t, line 1: token and other token are the same, 'c'"));
  CHECK(has(cut("a\tb\tc\td\ne\tb\tc\td"), "t, line 1: 4 columns; a line is TEXT, or TEXT, TOKEN"));
  CHECK(has(cut("a b\t\na b\tc"), "t, line 1: column 2 is empty"));
  CHECK(has(cut("a b\na q"), "t, line 2: "));
  CHECK(has(cut("a b\na \xff"), "UTF-8"));
  CHECK(has(bench.problem("a\tb\nb\tc", "cut --token a"), "leave out --token and --against"));
  CHECK(has(bench.problem("a b\na c", "cut 7.0"), "t, line 1: "));
  CHECK(has(bench.problem("a b\na b c", "attribute --position 2"), "t, line 1: there is no posi"));
  const auto patch = [&](const std::string& lines) { return bench.problem(lines, "patch"); };
  CHECK(has(patch("a b a\na c a"), "t, line 1: 1 column; a line is FROM, TEXT, or FROM, TEXT, TO"));
  CHECK(has(patch("a b a\ta c a\na b c a\ta b a"), "t, line 2: TEXT has 3 words, FROM 4"));
  CHECK(has(patch("a b a\ta c a\na b a\ta b a"), "t, line 2: both texts make 'b' the likeliest"));
  CHECK(has(bench.problem("a b\na c", "cut --text a"), "--text"));
  CHECK(has(bench.problem("a b\tb\na c\tb", "patch --from a"), "--from"));
  CHECK(bench.run("lens --checkpoint m --texts t").status != 0);
  std::filesystem::remove(bench.folder / "t");
  CHECK(has(bench.run("cut --checkpoint m --texts none").err, "none: there is no such file"));
  CHECK(has(bench.run("cut --checkpoint m").err, "--text, or many with --texts FILE"));
  CHECK(has(bench.run("patch --checkpoint m --text a").err, "--from is required, or --texts"));
  CHECK(has(bench.run("patch --checkpoint m --from a").err, "--text is required, or --texts"));
}

TEST_CASE("tokens of a folder begin with their blank", "[phase7][tools]") {
  const TemporaryFolder folder;
  const std::string model = " --model '" + (small_desk() / "m").string() + "' --texts t";
  std::ofstream(folder / "t") << "ab\té\t␣\nba\té\ta\n";
  CHECK(wrong(tapestry_in(folder / "", "attribute" + model)) == "");
  std::ofstream(folder / "t") << "ab\té\t␣\nba\taé\ta\n";
  CHECK(has(tapestry_in(folder / "", "attribute" + model).err,
            "t, line 2: token 'aé' is not one token of the model, but: "));
}
