// `tapestry train` with tokens: a new model of a text, and a model that goes on.
#include <cmath>
#include <fstream>

#include "catch.hpp"
#include "ops/expect.hpp"
#include "process.hpp"
#include "small_folder.hpp"
#include "tapestry/io/csv.hpp"
#include "tapestry/models/architecture.hpp"
#include "token_training.hpp"

using namespace tapestry;

namespace {

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a new model of tokens learns a text, and its folder is read by all", "[phase7][tools]") {
  const Desk desk;
  const Result said = desk.train(
      "count.txt --merges 20 --steps 40 --width 16 --heads 2 --layers 1 --length 16 --save m");
  CHECK(wrong(said) == "");
  CHECK(all_in(desk.folder / "m") ==
        Names{"config.json", "merges.txt", "model.safetensors", "tokenizer.json", "vocab.json"});
  CHECK(all_in(desk.folder / "m_best_model") == all_in(desk.folder / "m"));
  CHECK(all_in(desk.folder / "out/plots") == Names{"train_m_loss.csv", "train_m_loss.png"});
  CHECK(all_in(desk.folder / "").size() == 1 + 2 * 6 + 2 + 2);  // the text, and nothing else
  CHECK(read_config(desk.folder / "m").architecture == "llama");
  CHECK(std::isnan(in_row(said.out, "0", 1)));
  CHECK(in_row(said.out, "40", 2) < 0.75 * in_row(said.out, "0", 2));
  CHECK(std::abs(in_row(said.out, "40", 3) - bits_per_byte(desk.folder / "m", 16)) < 2e-3);
  const Result written = tapestry_in(
      desk.folder / "", "generate --model m --text 'one two' --length 3 --temperature 0");
  CHECK(written.status == 0);
  CHECK(written.out.starts_with("one two"));
}

TEST_CASE("a model of a folder goes on, into another folder or its own", "[phase7][tools]") {
  const Desk desk;
  const std::string sizes = "--width 16 --heads 2 --layers 1 --length 16 ";
  REQUIRE(desk.train("count.txt --merges 20 --steps 20 --save m " + sizes).status == 0);
  const std::string before = content(desk.folder / "m/model.safetensors");
  const Result said =
      desk.train("count.txt --model m --steps 20 --length 16 --save n --rate 0.003");
  CHECK(wrong(said) == "");
  CHECK(content(desk.folder / "m/model.safetensors") == before);
  CHECK(all_in(desk.folder / "n") == all_in(desk.folder / "m"));
  CHECK(content(desk.folder / "n/tokenizer.json") == content(desk.folder / "m/tokenizer.json"));
  CHECK(std::abs(in_row(said.out, "0", 3) - bits_per_byte(desk.folder / "m", 16)) < 2e-3);
  CHECK(in_row(said.out, "20", 2) < in_row(said.out, "0", 2));
  std::ofstream(desk.folder / "m/note") << "mine";
  const Result again = desk.train("count.txt --model m --steps 2 --length 16 --save m --overwrite");
  CHECK(wrong(again) == "");
  CHECK(content(desk.folder / "m/model.safetensors") != before);
  CHECK(content(desk.folder / "m/note") == "mine");
  CHECK_FALSE(std::filesystem::exists(desk.folder / "m.new"));
}

TEST_CASE("the losses of tokens are drawn, and the best model is kept", "[phase7][tools]") {
  const Desk desk;
  REQUIRE(
      desk.train("count.txt --merges 20 --steps 100 --width 16 --heads 2 --layers 1 --length 16 "
                 "--rate 0.01 --save good")
          .status == 0);
  // At a rate far too high the last model is not the best one.
  const Result said = desk.train(
      "count.txt --model good --steps 40 --length 16 --save m/ --rate 1 --out p --format svg");
  CHECK(wrong(said) == "");
  CHECK(has(said.out, "\nwrote m\nwrote m_best_model\nwrote p/train_m_loss.svg\nwrote p/train_m_"));
  const CsvTable table = read_csv(desk.folder / "p/train_m_loss.csv");
  const std::vector<double> steps = table.column("step"), held = table.column("held_out_loss");
  CHECK(steps.size() == 41);  // 0 too
  CHECK(std::isnan(table.column("loss")[0]));
  CHECK(std::isnan(held[1]));
  double least = held[0];
  Index at = 0;
  for (Index i = 0; i <= 40; i += 4) {
    const std::string step = std::to_string(i);
    CHECK(std::abs(in_row(said.out, step, 2) - held[static_cast<std::size_t>(i)]) < 1e-3);
    if (held[static_cast<std::size_t>(i)] < least) {
      least = held[static_cast<std::size_t>(i)];
      at = i;
    }
  }
  REQUIRE(at < 40);
  CHECK(has(said.out, "lowest loss held out: " + four_digits(least).substr(0, 4)));
  CHECK(has(said.out, ", after step " + std::to_string(at) + "\n"));
  const double bits = in_row(said.out, std::to_string(at), 3);
  CHECK(std::abs(bits_per_byte(desk.folder / "m_best_model", 16) - bits) < 2e-3);
  CHECK(bits_per_byte(desk.folder / "m", 16) > bits);
}

TEST_CASE("a model that goes on, and adapters, have a best one, too", "[phase7][tools]") {
  const Desk desk;
  const std::string folder = "count.txt --model '" + (small_desk() / "m").string() + "' ";
  CHECK(wrong(desk.train(folder + "--steps 2 --length 8 --save n")) == "");
  CHECK(all_in(desk.folder / "n_best_model") == all_in(desk.folder / "n"));
  CHECK(wrong(desk.train(folder + "--rank 1 --steps 2 --length 8 --save a.safetensors")) == "");
  CHECK(std::filesystem::is_regular_file(desk.folder / "a_best_model.safetensors"));
  CHECK(std::filesystem::exists(desk.folder / "out/plots/train_a_loss.png"));
  std::filesystem::remove(desk.folder / "a.safetensors");
  CHECK(has(desk.problem(folder + "--rank 1 --length 8 --save a.safetensors"),
            "a_best_model.safetensors is there already"));
  std::filesystem::remove_all(desk.folder / "n");
  CHECK(has(desk.problem(folder + "--length 8 --save n"), "n_best_model is there already"));
}

TEST_CASE("training on tokens that cannot be is refused before anything is written",
          "[phase7][tools]") {
  const Desk desk;
  const std::string folder = "'" + (small_desk() / "m").string() + "'";
  CHECK(has(desk.problem("--merges 5"), "give the text file"));
  CHECK(has(desk.problem("count.txt --merges 5 --model " + folder), "give one of them"));
  CHECK(has(desk.problem("count.txt --model " + folder + " --width 8"), "leave out --layers"));
  CHECK(has(desk.problem("count.txt --merges 5 --resume"), "--resume and --checkpoint"));
  CHECK(has(desk.problem("count.txt --merges 5 --attention-only"), "--attention-only"));
  CHECK(has(desk.problem("count.txt --merges 5 --width 12 --heads 4"), "even multiple"));
  CHECK(has(desk.problem("count.txt --merges 5 --length 1024"), "too few tokens"));
  CHECK(has(desk.problem("count.txt --model " + folder + " --length 64"), "32 positions"));
  CHECK(has(desk.problem("sort --merges 5"), "are for text files"));
  CHECK(has(desk.problem("count.txt --save x"), "--save is for models of tokens"));
  CHECK(has(desk.problem("nothing.txt --merges 5"), "nothing.txt"));
  std::filesystem::create_directory(desk.folder / "full");
  std::ofstream(desk.folder / "full/a") << "b";
  CHECK(has(desk.problem("count.txt --merges 5 --save full"), "full is there already"));
  std::filesystem::create_directory(desk.folder / "m.new");
  std::ofstream(desk.folder / "m.new/mine") << "kept";
  CHECK(has(desk.problem("count.txt --merges 5 --save m"), "m.new is there already"));
  CHECK(content(desk.folder / "m.new/mine") == "kept");
}
