// Steps of a tape as JSON: written, read back, and refused where a file lies.
#include "tapestry/io/tape_file.hpp"

#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "catch.hpp"
#include "ops/expect.hpp"
#include "tapestry/ops.hpp"
#include "temporary_folder.hpp"

using namespace tapestry;
using Json = nlohmann::json;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

// x is used twice; log gives -inf, and a sum +inf and NaN.
TapeSteps example() {
  const Tensor x({3}, {0, 1, inf});
  Tape tape(Parameters{{"x", x}}, Tape::Keep::values);
  const Tensor low = log(x), y = low - x, loss = sum(y);
  tape.label(low, "low");
  (void)tape.backward(loss);
  TapeSteps steps = tape_steps(tape, {{"low = log(x)", "low"}, {"// \"end\"", ""}});
  steps.name = "example";
  steps.formula = "log(x) - x";
  return steps;
}

}  // namespace

TEST_CASE("steps as JSON have the fields that are promised", "[phase0][io]") {
  const Json json = Json::parse(to_json(example()));
  CHECK(json["format"] == "tapestry tape steps 1");
  CHECK(json["name"] == "example");
  CHECK(json["formula"] == "log(x) - x");
  CHECK(json["lines"] == Json::parse(R"json([
      {"text": "low = log(x)", "label": "low", "record": 1},
      {"text": "// \"end\"", "label": "", "record": null}])json"));
  REQUIRE(json["records"].size() == 4);
  CHECK(json["forward"] == Json({0, 1, 2, 3}));
  const Json low = json["records"][1];
  CHECK(low["operation"] == "log");
  CHECK(low["label"] == "low");
  CHECK(low["inputs"] == Json::array({0}));
  CHECK(low["line"] == 0);
  CHECK(json["records"][0]["line"] == nullptr);
  CHECK(low["shape"] == Json::array({3}));
  CHECK(low["value"] == Json({"-inf", 0.0, "inf"}));
  CHECK(low["gradient"] == Json({1.0, 1.0, 1.0}));
  CHECK(low["summary"] == "(3) min 0 max 0 mean 0  2 INF!");
  CHECK(low["saved_bytes"] == 3 * sizeof(real));
  CHECK(json["records"][2]["value"] == Json({"-inf", -1.0, "nan"}));
  CHECK(json["records"][3]["shape"] == Json::array());
  REQUIRE(json["backward"].size() == 3);
  CHECK(json["backward"][1]["record"] == 2);
  CHECK(json["backward"][1]["gives"] ==
        Json::parse(R"json([{"to": 1, "contribution": [1.0, 1.0, 1.0], "sum": [1.0, 1.0, 1.0]},
                        {"to": 0, "contribution": [-1.0, -1.0, -1.0],
                         "sum": [-1.0, -1.0, -1.0]}])json"));
  CHECK(
      json["backward"][2]["gives"] ==
      Json::parse(
          R"json([{"to": 0, "contribution": ["inf", 1.0, 0.0], "sum": ["inf", 0.0, -1.0]}])json"));
  CHECK(json["non_finite"]["record"] == 0);
  CHECK(json["non_finite"]["in_gradient"] == false);
  CHECK(json["non_finite"]["causes"] ==
        Json::parse(R"json([{"record": 0, "in_gradient": false, "place": [2], "value": "inf",
                         "why": "it was given so"}])json"));
}

TEST_CASE("steps are read back as they were written", "[phase0][io]") {
  const TemporaryFolder folder;
  const TapeSteps steps = example();
  write_tape_steps(folder / "steps.json", steps);
  const TapeSteps back = read_tape_steps(folder / "steps.json");
  CHECK(to_json(back) == to_json(steps));
  CHECK(content(folder / "steps.json") == to_json(steps));
  CHECK(to_json(steps).find('\n') == to_json(steps).size() - 1);
  CHECK(back.records[2].value.at({1}) == -1);
}

TEST_CASE("a place in a matrix is read back", "[phase0][io]") {
  const Tensor x({2, 3}, {1, 2, 3, 4, 5, inf});
  Tape tape(Parameters{{"x", x}}, Tape::Keep::values);
  (void)tape.backward(sum(x));
  const std::string text = to_json(tape_steps(tape));
  const TapeSteps back = tape_steps_from_json(text);
  CHECK(to_json(back) == text);
  REQUIRE(back.non_finite.has_value());
  CHECK(back.non_finite->causes.at(0).place == std::vector<Index>{1, 2});
}

TEST_CASE("long tensors are left out of a file", "[phase0][io]") {
  const Tensor x = Tensor::ones({most_shown + 1}), y = Tensor::ones({most_shown});
  Tape tape({x, y}, Tape::Keep::values);
  (void)tape.backward(sum(x) + sum(y));
  const Json json = Json::parse(to_json(tape_steps(tape)));
  CHECK(json["records"][0]["value"] == nullptr);
  CHECK(json["records"][0]["gradient"] == nullptr);
  CHECK(json["records"][1]["value"].size() == most_shown);
  const TapeSteps back = tape_steps_from_json(json.dump());
  CHECK(!back.records[0].value.defined());
  CHECK(back.records[0].shape == Shape{most_shown + 1});
  CHECK(back.records[0].summary == summary(x));
}

TEST_CASE("a file keeps letters as they are", "[phase0][io]") {
  const Tensor x(1);
  Tape tape(Parameters{{"θ₁", x}}, Tape::Keep::values);
  CHECK(to_json(tape_steps(tape)).find("θ₁") != std::string::npos);
}

TEST_CASE("labels that are not UTF-8 do no harm to a file", "[phase0][io]") {
  const Tensor x(1);
  Tape tape(Parameters{{"x\xff", x}}, Tape::Keep::values);
  CHECK(tape_steps_from_json(to_json(tape_steps(tape))).records[0].label == "x\uFFFD");
}

TEST_CASE("a file that is not one of steps is refused in one clear line", "[phase0][io]") {
  const std::string good = to_json(example());
  const auto refused = [&](const char* pointer, const Json& value,
                           std::initializer_list<const char*> words) {
    Json json = Json::parse(good);
    json[Json::json_pointer(pointer)] = value;
    return complaint([&] { (void)tape_steps_from_json(json.dump()); }, words);
  };
  const auto without = [&](const std::string& field) {
    Json json = Json::parse(good);
    json.erase(field);
    const std::string words = "it has no \"" + field + "\"";
    return complaint([&] { (void)tape_steps_from_json(json.dump()); }, {words.c_str()});
  };
  CHECK(complaint([&] { (void)tape_steps_from_json("[1"); }, {"JSON"}) == "");
  CHECK(complaint([&] { (void)tape_steps_from_json("7"); }, {"it is not an object"}) == "");
  for (const char* field :
       {"format", "name", "formula", "lines", "records", "forward", "backward", "non_finite"}) {
    CHECK(without(field) == "");
  }
  CHECK(refused("/format", "tapestry tape steps 2", {"format"}) == "");
  CHECK(refused("/name", 7, {"its name is not a text"}) == "");
  CHECK(refused("/lines", 7, {"its lines is not a list"}) == "");
  CHECK(refused("/lines/0/record", 4, {"its lines[0].record", "below 4"}) == "");
  CHECK(refused("/records/1", 7, {"its records[1] is not an object"}) == "");
  CHECK(refused("/records/1/inputs/0", 1, {"its records[1].inputs[0]", "below 1"}) == "");
  CHECK(refused("/records/1/inputs/0", -1, {"below 1"}) == "");
  CHECK(refused("/records/1/inputs/0", 0.5, {"whole number"}) == "");
  CHECK(refused("/records/1/line", 2, {"its records[1].line", "below 2"}) == "");
  CHECK(refused("/records/1/shape", Json::array({4}), {"value has 3 numbers, not those of (4)"}) ==
        "");
  CHECK(refused("/records/1/shape", Json({1, 1, 1, 1, 1, 1, 3}), {"shape", "more than 6"}) == "");
  CHECK(refused("/records/1/shape", Json({1ULL << 39U, 1ULL << 39U}), {"memory"}) == "");
  CHECK(refused("/records/1/shape", Json({1ULL << 40U}),
                {"its records[1].shape[0]", "below 1099511627776"}) == "");
  CHECK(refused("/records/1/value/0", "NaN", {"its records[1].value[0]", "\"nan\""}) == "");
  CHECK(refused("/records/1/gradient", 7, {"gradient is not a list"}) == "");
  CHECK(refused("/records/1/saved_bytes", "7", {"saved_bytes"}) == "");
  CHECK(refused("/forward/0", 1, {"its forward[0]", "order"}) == "");
  CHECK(refused("/forward", Json::array({0}), {"its forward", "not all records"}) == "");
  CHECK(refused("/backward/0/record", 4, {"its backward[0].record", "below 4"}) == "");
  CHECK(refused("/backward/0/gives/0/to", 3, {"gives[0].to", "below 3"}) == "");
  CHECK(refused("/backward/0/gives/0/sum", Json::array({1}), {"sum has 1 numbers"}) == "");
  CHECK(refused("/non_finite/record", 9, {"its non_finite.record", "below 4"}) == "");
  CHECK(refused("/non_finite/in_gradient", 0, {"true or false"}) == "");
  CHECK(refused("/non_finite/causes/0/place", Json::array(), {"place", "each axis"}) == "");
  CHECK(refused("/non_finite/causes/0/place/0", 3, {"place[0]", "below 3"}) == "");
  CHECK(refused("/non_finite", nullptr, {}) == "nothing was thrown");
}

TEST_CASE("a file of steps that cannot be read is named", "[phase0][io]") {
  const TemporaryFolder folder;
  CHECK(complaint([&] { (void)read_tape_steps(folder / "none"); }, {"none"}) == "");
  std::ofstream(folder / "bad.json") << "{";
  CHECK(complaint([&] { (void)read_tape_steps(folder / "bad.json"); }, {"bad.json", "JSON"}) == "");
  std::ofstream(folder / "long.json") << "{";
  std::filesystem::resize_file(folder / "long.json", (32 << 20) + 1);
  CHECK(complaint([&] { (void)read_tape_steps(folder / "long.json"); },
                  {"long.json", "33554433 bytes", "at most 33554432."}) == "");
  std::filesystem::resize_file(folder / "long.json", 32 << 20);
  CHECK(complaint([&] { (void)read_tape_steps(folder / "long.json"); },
                  {"it has a NUL byte, at byte 1"}) == "");
}
