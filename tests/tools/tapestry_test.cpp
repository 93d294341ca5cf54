// The `tapestry` command from end to end: what it says is compared with the library.
#include <cmath>
#include <cstdio>
#include <sstream>

#include "catch.hpp"
#include "course/grammar.hpp"
#include "ops/expect.hpp"
#include "process.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/io/checkpoint.hpp"
#include "tapestry/io/transformer_file.hpp"
#include "tapestry/text/corpus.hpp"

using namespace tapestry;

namespace {

std::string words_model() { return " --checkpoint " + (models() / "words").string(); }
const std::string sentence = " --text 'the cat sat on the mat'";

// weights (heads, queries, keys) of the grammar's model while it reads the sentence.
Tensor weights_of(const Capture& seen, Index layer) {
  const Transformer model = read_transformer(models() / "words");
  const Vocabulary vocabulary(Grammar().words());
  model(vocabulary.encode("<bos> the cat sat on the mat"), {}, {.need_weights = true});
  return seen["blocks." + std::to_string(layer) + ".attention.weights"];
}

}  // namespace

TEST_CASE("tapestry train writes a model that others read, and generate writes with it",
          "[phase5][tools]") {
  const TemporaryFolder folder;
  const Result trained =
      tapestry_in(folder / "", "train sort --steps 4 --batch 2 --width 8 --heads 2 --layers 1");
  CHECK(wrong(trained) == "");
  CHECK(has(trained.out, "wholly right"));
  CHECK(has(trained.out, "wrote out/checkpoints/sort.safetensors"));
  const auto path = folder / "out/checkpoints/sort.safetensors";
  CHECK(read_transformer(path).options.d_model == 8);
  CHECK(read_checkpoint(path).steps == 4);
  CHECK(all_in(folder / "") ==
        std::vector<std::string>{"out", "out/checkpoints", "out/checkpoints/sort.safetensors",
                                 "out/checkpoints/sort_best_model.safetensors", "out/plots",
                                 "out/plots/train_sort_loss.csv", "out/plots/train_sort_loss.png"});

  const Result written = tapestry_in(
      folder / "",
      "generate --checkpoint out/checkpoints/sort.safetensors --text 'd a c =>' --length 3");
  CHECK(wrong(written) == "");
  CHECK(written.out.starts_with("d a c =>"));
  CHECK(split_words(written.out).size() <= 7);
}

TEST_CASE("every task can be learned and written", "[phase5][tools]") {
  const TemporaryFolder folder;
  CHECK(tasks().size() == 7);
  for (const std::string& task : tasks()) {
    INFO(task);
    const Result trained = tapestry_in(folder / "", "train " + task + " --steps 1 --width 8");
    CHECK(trained.status == 0);
    CHECK(trained.err == "");
    CHECK(wrong(tapestry_in(folder / "", "generate --checkpoint out/checkpoints/" + task +
                                             ".safetensors")) == "");
  }
}

TEST_CASE("a run that goes on ends with the same bits as one that never stopped",
          "[phase5][tools]") {
  const TemporaryFolder folder;
  const std::string small = " --batch 2 --width 8 --heads 2 ";
  CHECK(wrong(tapestry_in(folder / "", "train copy --steps 6 --checkpoint whole" + small)) == "");
  CHECK(wrong(tapestry_in(folder / "", "train copy --steps 2 --checkpoint part" + small)) == "");
  CHECK(content(folder / "part") != content(folder / "whole"));
  const Result rest = tapestry_in(folder / "", "train --resume --checkpoint part --steps 6");
  CHECK(wrong(rest) == "");
  CHECK(has(rest.out, "resuming after step 2"));
  CHECK(content(folder / "part") == content(folder / "whole"));
  CHECK(content(folder / "out/plots/train_part_loss.csv") ==
        content(folder / "out/plots/train_whole_loss.csv"));
  CHECK(folder.files() == 5);  // two, the best of each, and out
}

TEST_CASE("a run that is killed leaves a checkpoint that can be resumed", "[phase5][tools]") {
  const TemporaryFolder folder;
  const std::string line =
      "cd '" + (folder / "").string() + "' && timeout -s KILL 0.15 '" + command_path() +
      "' train copy --batch 2 --width 8 --heads 2 --save-every 1 --checkpoint m >/dev/null 2>&1";
  CHECK(std::system(line.c_str()) != 0);
  if (!std::filesystem::exists(folder / "m"))
    SUCCEED("killed before the first save");
  else {
    const Index steps = read_checkpoint(folder / "m").steps;
    const std::string more = std::to_string(steps + 1);
    CHECK(wrong(tapestry_in(folder / "", "train --resume --checkpoint m --steps " + more)) == "");
    CHECK(read_checkpoint(folder / "m").steps == steps + 1);
  }
}

TEST_CASE("a text file is learned by characters, and its blanks and signs come back",
          "[phase5][tools]") {
  const TemporaryFolder folder;
  std::ofstream(folder / "book.txt") << std::string(40, 'a') + "né ж\n" + std::string(80, 'b');
  const std::string small = " --length 8 --steps 3 --batch 2 --width 8 --heads 2";
  CHECK(wrong(tapestry_in(folder / "", "train book.txt" + small)) == "");
  const std::string model = " --checkpoint out/checkpoints/book.safetensors";
  const Result written = tapestry_in(folder / "", "generate" + model + " --text 'é ж' --length 9");
  CHECK(wrong(written) == "");
  CHECK(written.out.starts_with("é ж"));
  CHECK(split_characters(written.out).size() > 4);
  const Result seen = tapestry_in(folder / "", "analyze" + model + " --text 'a b'");
  CHECK(wrong(seen) == "");
  CHECK(has(seen.out, "a␣b"));

  std::ofstream(folder / "book.txt", std::ios::app) << "another end";
  const Result changed = tapestry_in(folder / "", "train --resume --steps 9" + model);
  CHECK(changed.status == 1);
  CHECK(has(changed.err, "is no longer the same"));
}

TEST_CASE("generate is the same for a seed, and another for another", "[phase5][tools]") {
  const auto said = [](const std::string& more) {
    const Result result = tapestry_in(models(), "generate" + words_model() + " --count 2" + more);
    CHECK(wrong(result) == "");
    return result.out;
  };
  CHECK(said("") == said(" --seed 1"));
  CHECK(said("") != said(" --seed 2"));
  const std::string likeliest = said(" --temperature 0");
  CHECK(likeliest.substr(0, likeliest.size() / 2) == likeliest.substr(likeliest.size() / 2));
}

TEST_CASE("analyze tells the weights that the model used", "[phase5][tools]") {
  const TemporaryFolder folder;
  const Result result = tapestry_in(
      folder / "", "analyze" + words_model() + sentence + " --layer 1 --head 1 --out o");
  CHECK(wrong(result) == "");
  const Capture seen;
  const Tensor weights = weights_of(seen, 1);
  double entropy = 0, distance = 0;
  for (Index i = 0; i < 7; ++i) {
    std::string row;
    for (Index j = 0; j < 7; ++j) {
      const double w = double{weights.at({0, 1, i, j})};
      if (w > 0) entropy -= w * std::log(w) / 7;
      distance += w * std::abs(double(i - j)) / 7;
      row += (j > 0 ? "   " : "") + four_digits(w + 1e-12).substr(0, 4);
    }
    if (i == 0) CHECK(has(result.out, row));
  }
  char line[64];
  std::snprintf(line, sizeof line, "    1    1   %6.2f  1.22   %7.2f  1.50", entropy, distance);
  CHECK(has(result.out, line));
  CHECK(is_picture(folder / "o/analyze_heatmap.png"));
  CHECK(is_picture(folder / "o/analyze_grid.png"));
  CHECK(is_picture(folder / "o/analyze_flow.png"));
}

TEST_CASE("analyze tells which word the model expects next", "[phase5][tools]") {
  const TemporaryFolder folder;
  const Result result =
      tapestry_in(folder / "", "analyze" + words_model() + sentence + " --head 0");
  CHECK(wrong(result) == "");
  const Vocabulary vocabulary(Grammar().words());
  const Tensor logits =
      read_transformer(models() / "words")(vocabulary.encode("<bos> the cat sat on the mat"));
  Index best = 0;
  double sum = 0;
  for (Index word = 0; word < vocabulary.size(); ++word) {
    if (logits.at({6, word}) > logits.at({6, best})) best = word;
    sum += std::exp(double{logits.at({6, word})});
  }
  char share[16];
  std::snprintf(share, sizeof share, " %.2f, ", std::exp(double{logits.at({6, best})}) / sum);
  CHECK(has(result.out, "\nnext: " + vocabulary.word(std::int32_t(best)) + share));
}

TEST_CASE("analyze lists all heads when none is named", "[phase5][tools]") {
  const TemporaryFolder folder;
  const Result all = tapestry_in(folder / "", "analyze" + words_model() + sentence);
  CHECK(wrong(all) == "");
  for (const char* line : {"    0    0 ", "    0    1 ", "    1    0 ", "    1    1 "}) {
    CHECK(has(all.out, line));
  }
  CHECK(has(all.out, "strongest links"));
  CHECK(all_in(folder / "out/plots") ==
        std::vector<std::string>{"analyze_flow.png", "analyze_grid.png", "analyze_heatmap.png"});
  const Result one =
      tapestry_in(folder / "", "analyze" + words_model() + " --text '<bos>' --head 0");
  CHECK(wrong(one) == "");
}

TEST_CASE("analyze scores patterns beside their baselines", "[phase5][tools]") {
  const TemporaryFolder folder;
  const Result result =
      tapestry_in(folder / "", "analyze" + words_model() + sentence + " --layer 1 --head 0");
  CHECK(wrong(result) == "");
  const Capture seen;
  const Tensor weights = weights_of(seen, 1);
  double previous = 0;
  for (Index i = 1; i < 7; ++i) previous += double{weights.at({0, 0, i, i - 1})} / 6;
  char score[16];
  std::snprintf(score, sizeof score, "%5.2f", previous);
  CHECK(has(result.out, "    1    0   previous word          " + std::string(score) + "  "));
  CHECK(has(result.out, "    1    0   induction "));
  CHECK(has(result.out, "One text is"));
}

TEST_CASE("analyze names no head without evidence, and cuts each", "[phase5][tools]") {
  const TemporaryFolder folder;
  const Result all = tapestry_in(folder / "", "analyze" + words_model() + sentence);
  CHECK(wrong(all) == "");
  for (const char* name : {"    0    0   none (", "    1    0   none (", "    1    1   none ("}) {
    CHECK(has(all.out, name));
  }
  CHECK(has(all.out, "the likeliest word"));
  CHECK(has(all.out, "All of layer 0:"));
  CHECK_FALSE(has(all.out, "<bos>@0 → <bos>@0"));  // no choice
  const Result one =
      tapestry_in(folder / "", "analyze" + words_model() + sentence + " --layer 1 --head 0");
  CHECK(has(one.out, "name: none\nwithout it, ln(chance) of "));
}

TEST_CASE("why does the arithmetic of one weight, and comes to the model's", "[phase5][tools]") {
  const Result result = tapestry_in(
      models(), "why" + words_model() + sentence + " --query mat --key the@5 --layer 1 --head 1");
  CHECK(wrong(result) == "");
  const Capture seen;
  const double weight = double{weights_of(seen, 1).at({0, 1, 6, 5})};
  CHECK(has(result.out, "The weight of mat@6 on the@5 is " + four_digits(weight) + "."));
  const Tensor q = seen["blocks.1.attention.query"], k = seen["blocks.1.attention.key"];
  double sum = 0;
  for (Index i = 0; i < 4; ++i) sum += double{q.at({0, 1, 6, i})} * double{k.at({0, 1, 5, i})};
  CHECK(has(result.out, four_digits(sum) + " = q · k"));
  CHECK(has(result.out, four_digits(sum) + " / √4 = " + four_digits(sum / 2)));
  CHECK(has(result.out, "3. Mask: allowed"));
}

TEST_CASE("why says of a later word that the mask forbids it", "[phase5][tools]") {
  const Result result =
      tapestry_in(models(), "why" + words_model() + sentence + " --query cat --key 6");
  CHECK(wrong(result) == "");
  CHECK(has(result.out, "3. Mask: masked"));
  CHECK(has(result.out, "The weight of cat@2 on mat@6 is 0.0000."));
}

TEST_CASE("doctor tells of a number of threads that is none", "[phase5][tools]") {
  const TemporaryFolder folder;
  for (const char* nonsense : {"abc", "0", "-3", "4x", "99999999999999999999"}) {
    CAPTURE(nonsense);
    const Result result =
        tapestry_in(folder / "", "doctor", "OMP_NUM_THREADS=" + std::string(nonsense));
    CHECK(result.status == 1);
    CHECK(has(result.out, "  FAIL  threads          OMP_NUM_THREADS is '" + std::string(nonsense)));
    CHECK(result.err == "tapestry: 1 of 8 checks failed, as listed.\n");
  }
  for (const char* sense : {"''", "2", "' 2, 1'"}) {
    CAPTURE(sense);
    CHECK(wrong(tapestry_in(folder / "", "doctor", "OMP_NUM_THREADS=" + std::string(sense))) == "");
  }
}
