// Low-rank adapters on the command line: trained beside a folder, saved as a file or merged into a
// folder, and opened by every command that opens folders.
#include <cmath>

#include "catch.hpp"
#include "tapestry/io/adapter_file.hpp"
#include "tapestry/io/safetensors.hpp"
#include "token_training.hpp"

using namespace tapestry;

namespace {

using Names = std::vector<std::string>;

const char* const quick = " --steps 60 --length 16 --batch 8 ";

// The folder m, adapters a beside it, and the folder n, which they are merged into.
struct Trained {
  Desk desk;
  Result model, adapters, whole;

  Trained()
      : model(desk.train("count.txt --merges 20 --width 16 --heads 2 --layers 1 --save m" +
                         std::string(quick))),
        adapters(desk.train("count.txt --model m --rank 2 --maps query,down --save a" +
                            std::string(quick))),
        whole(desk.train("count.txt --model m --rank 2 --maps query,down --whole --save n" +
                         std::string(quick))) {
    CHECK(wrong(model) == "");
    CHECK(wrong(adapters) == "");
    CHECK(wrong(whole) == "");
  }

  Result say(const std::string& arguments) const {
    return tapestry_in(desk.folder / "", arguments);
  }
};

const Trained& trained() {
  static const Trained all;
  return all;
}

// What follows the description of the model.
std::string found(const Result& result) {
  std::string out = unfolded(result.out);
  for (const std::string end : {"predicts the next word", ", with the adapters of a"}) {
    const std::size_t at = out.find(end);
    if (at != out.npos) out.erase(0, at + end.size());
  }
  return out;
}

}  // namespace

TEST_CASE("adapters learn beside a folder that stays, and are a small file", "[phase7][tools]") {
  const Trained& t = trained();
  CHECK(in_row(t.adapters.out, "60", 2) < in_row(t.adapters.out, "0", 2));
  CHECK(std::abs(in_row(t.adapters.out, "0", 3) - bits_per_byte(t.desk.folder / "m", 16)) < 2e-3);
  // rank (in + out) of the query, 16 to 16, and the feed-forward's last map, 48 to 16
  CHECK(has(t.adapters.out, "192 numbers learn ("));
  CHECK(has(t.adapters.out, "adapters of rank 2 at query, down"));
  CHECK(
      has(t.adapters.out,
          "try: tapestry generate --model m \\\n       --adapters a \\\n       --text \"The\"\n"));
  CHECK(has(t.adapters.out, "\nwrote a\nwrote a_best_model\n"));
  Index count = 0;
  for (const Parameter& one : read_safetensors(t.desk.folder / "a").tensors) {
    count += one.value.numel();
  }
  CHECK(count == 192);
  CHECK(has(t.model.out,
            ": " + std::to_string(read_model(t.desk.folder / "m").num_parameters()) + " numbers"));
  CHECK_FALSE(has(t.model.out, "learn ("));
}

TEST_CASE("with --whole adapters are merged into a folder like the first", "[phase7][tools]") {
  const Trained& t = trained();
  CHECK(all_in(t.desk.folder / "n") == all_in(t.desk.folder / "m"));
  CHECK(content(t.desk.folder / "n/model.safetensors") !=
        content(t.desk.folder / "m/model.safetensors"));
  CHECK(std::abs(in_row(t.whole.out, "60", 3) - bits_per_byte(t.desk.folder / "n", 16)) < 2e-3);
  const Result later =
      t.desk.train("count.txt --model m --adapters a --whole --steps 0 --length 16 --save later");
  CHECK(wrong(later) == "");
  CHECK(content(t.desk.folder / "later/model.safetensors") ==
        content(t.desk.folder / "n/model.safetensors"));
  std::filesystem::remove_all(t.desk.folder / "later");
}

TEST_CASE("every command that opens a folder opens it with adapters", "[phase7][tools]") {
  const Trained& t = trained();
  for (const std::string command :
       {"generate --temperature 0 --length 5 --probabilities", "analyze", "why --query 1 --key 0",
        "attribute", "cut", "lens", "circuit",
        "patch --from 'one four' --token ' one' --against ' two'"}) {
    CAPTURE(command);
    const std::string text = " --text 'one two'";
    const Result beside = t.say(command + text + " --model m --adapters a");
    const Result merged = t.say(command + text + " --model n");
    CHECK(beside.status == 0);
    CHECK(found(beside) == found(merged));
    CHECK(found(beside) != found(t.say(command + text + " --model m")));
  }
}

TEST_CASE("a model that is opened with adapters is called so", "[phase7][tools]") {
  const Result said = trained().say("attribute --text 'one two' --model m --adapters a");
  CHECK(has(unfolded(said.out), "with the adapters of a"));
}

TEST_CASE("adapters go on from their file", "[phase7][tools]") {
  const Trained& t = trained();
  const std::string before = content(t.desk.folder / "a");
  const Result said =
      t.desk.train("count.txt --model m --adapters a --save b" + std::string(quick));
  CHECK(wrong(said) == "");
  CHECK(std::abs(in_row(said.out, "0", 3) - in_row(t.adapters.out, "60", 3)) < 2e-3);
  CHECK(in_row(said.out, "60", 2) < in_row(said.out, "0", 2));
  CHECK(content(t.desk.folder / "a") == before);
  CHECK(has(t.desk.problem("count.txt --model m --adapters a --save b"), "b is there already"));
  const Result again =
      t.desk.train("count.txt --model m --rank 1 --save b --overwrite" + std::string(quick));
  CHECK(wrong(again) == "");
  CHECK(read_safetensors(t.desk.folder / "b").metadata.at("adapters.rank") == "1");
  std::filesystem::remove(t.desk.folder / "b");
}

TEST_CASE("without --save adapters have a place of their own", "[phase7][tools]") {
  const Trained& t = trained();
  const Result said = t.desk.train("count.txt --model m --rank 1 --steps 0 --length 16");
  CHECK(wrong(said) == "");
  CHECK(has(said.out, "wrote out/adapters/count.safetensors\n"));
  CHECK(std::filesystem::exists(t.desk.folder / "out/adapters/count.safetensors"));
  std::filesystem::remove_all(t.desk.folder / "out");
}

TEST_CASE("options of adapters that would do nothing are refused", "[phase7][tools]") {
  const Desk& desk = trained().desk;
  for (const char* option : {"--rank 2", "--maps key", "--alpha 2", "--adapters a", "--whole"}) {
    for (const char* task : {"sort ", "count.txt ", "count.txt --merges 5 "}) {
      CAPTURE(option, task);
      const std::string name = std::string(option).substr(0, std::string(option).find(' '));
      CHECK(has(desk.problem(task + std::string(option)),
                name + " is for a model that goes on: give its folder with --model, too"));
    }
  }
  const std::string on = "count.txt --model m --length 16 ";
  CHECK(has(desk.problem(on + "--maps key"), "--maps is for new adapters: give their --rank"));
  CHECK(has(desk.problem(on + "--alpha 2"), "--alpha is for new adapters"));
  CHECK(has(desk.problem(on + "--whole"), "--whole merges adapters into the model"));
  CHECK(has(desk.problem(on + "--adapters a --rank 2"), "leave out --rank"));
  CHECK(has(desk.problem(on + "--adapters a --maps key"), "leave out --maps"));
}

TEST_CASE("adapters that do not fit are refused before anything is written", "[phase7][tools]") {
  const Trained& t = trained();
  const std::string on = "count.txt --model m --length 16 --save new ";
  CHECK(has(t.desk.problem(on + "--rank 17"), "the rank is 17"));
  CHECK(has(t.desk.problem(on + "--rank 2 --maps query,ky"),
            "no map 'ky'; this model's are query, key, value, output, gate, up and down."));
  CHECK(has(t.desk.problem(on + "--adapters none"), "none"));
  CHECK(has(t.desk.problem(on + "--adapters m/model.safetensors"), "no file of adapters"));
  CHECK(has(t.desk.problem("count.txt --model n --length 16 --adapters a --save new"),
            "beside other weights"));
  CHECK(has(t.desk.problem("count.txt --model m --rank 2 --save m"), "m is a folder"));
  CHECK(has(t.desk.problem("count.txt --model m --rank 2 --save a"), "a is there already"));
  const auto refused = [&](const std::string& arguments) {
    const Result result = t.say(arguments);
    CHECK(result.status != 0);
    CHECK(result.out == "");
    return result.err;
  };
  CHECK(has(refused("generate --model n --adapters a"), "a: these adapters were trained beside"));
  CHECK(has(refused("analyze --text one --adapters a"), "--adapters requires --model"));
  CHECK(has(refused("generate --checkpoint c --adapters a"), "--adapters requires --model"));
}
