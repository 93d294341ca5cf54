// Writing the steps of a tape as JSON.
#include "tapestry/io/tape_file.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <span>

#include "tapestry/file.hpp"

namespace tapestry {
namespace {

using Json = nlohmann::ordered_json;  // fields in the order of the description

Json json_of(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return std::signbit(value) ? "-inf" : "inf";
  return value;
}

Json json_of(const Tensor& tensor) {
  if (!tensor.defined() || tensor.numel() > most_shown) return nullptr;
  Json list = Json::array();
  for (const real value : tensor.values()) list.push_back(json_of(double{value}));
  return list;
}

Json json_of(const std::optional<std::size_t>& number) {
  return number ? Json(*number) : Json(nullptr);
}

Json json_of(const TapeSteps::Record& record) {
  return {{"operation", record.operation},
          {"label", record.label},
          {"inputs", record.inputs},
          {"line", json_of(record.line)},
          {"shape", std::vector<Index>(record.shape.begin(), record.shape.end())},
          {"value", json_of(record.value)},
          {"gradient", json_of(record.gradient)},
          {"summary", record.summary},
          {"saved_bytes", record.saved_bytes}};
}

Json json_of(const TapeSteps::BackwardStep& step) {
  Json gives = Json::array();
  for (const TapeSteps::Given& given : step.gives) {
    gives.push_back({{"to", given.to},
                     {"contribution", json_of(given.contribution)},
                     {"sum", json_of(given.sum)}});
  }
  return {{"record", step.record}, {"gives", gives}};
}

Json json_of(const std::optional<TapeSteps::NonFinite>& found) {
  if (!found) return nullptr;
  Json causes = Json::array();
  for (const TapeSteps::Cause& cause : found->causes) {
    causes.push_back({{"record", cause.record},
                      {"in_gradient", cause.in_gradient},
                      {"place", cause.place},
                      {"value", json_of(cause.value)},
                      {"why", cause.why}});
  }
  return {{"record", found->record},
          {"in_gradient", found->in_gradient},
          {"text", found->text},
          {"causes", causes}};
}

}  // namespace

std::string to_json(const TapeSteps& steps) {
  Json lines = Json::array(), records = Json::array(), forward = Json::array(),
       backward = Json::array();
  for (const TapeSteps::Line& line : steps.lines) {
    lines.push_back({{"text", line.text}, {"label", line.label}, {"record", json_of(line.record)}});
  }
  for (const TapeSteps::Record& record : steps.records) {
    forward.push_back(records.size());
    records.push_back(json_of(record));
  }
  for (const TapeSteps::BackwardStep& step : steps.backward) backward.push_back(json_of(step));
  const Json all = {{"format", "tapestry tape steps 1"},
                    {"name", steps.name},
                    {"formula", steps.formula},
                    {"lines", lines},
                    {"records", records},
                    {"forward", forward},
                    {"backward", backward},
                    {"non_finite", json_of(steps.non_finite)}};
  return all.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

void write_tape_steps(const std::filesystem::path& path, const TapeSteps& steps) {
  const std::string text = to_json(steps);
  write_file_atomically("write_tape_steps", path, std::as_bytes(std::span<const char>(text)));
}

}  // namespace tapestry
