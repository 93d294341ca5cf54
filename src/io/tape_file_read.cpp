// Reading the steps of a tape from JSON that may be malicious.
#include <limits>

#include "base/json.hpp"
#include "tapestry/error.hpp"
#include "tapestry/file.hpp"
#include "tapestry/io/tape_file.hpp"

namespace tapestry {
namespace {

constexpr std::uint64_t most_bytes = 32 << 20;

// A part of the file, which knows where it is: "its records[3].shape".
struct Part {
  const Json& json;
  const Part* whole = nullptr;  // in which it is, by this name or as this element
  const char* name = nullptr;
  std::size_t element = 0;

  std::string where() const {
    if (whole == nullptr) return "it";
    if (name == nullptr) return whole->where() + "[" + std::to_string(element) + "]";
    return (whole->whole == nullptr ? "its " : whole->where() + ".") + name;
  }
  [[noreturn]] void refuse(const std::string& problem) const { throw Error(where() + problem); }

  Part at(const char* field) const {
    if (!json.is_object()) refuse(" is not an object.");
    const auto found = json.find(field);
    if (found == json.end()) refuse(std::string(" has no \"") + field + "\".");
    return {*found, this, field};
  }
  std::string text(const char* field) const {
    const Part part = at(field);
    if (!part.json.is_string()) part.refuse(" is not a text.");
    return part.json.get<std::string>();
  }
  bool flag(const char* field) const {
    const Part part = at(field);
    if (!part.json.is_boolean()) part.refuse(" is not true or false.");
    return part.json.get<bool>();
  }
  std::size_t number(std::size_t end) const {  // below `end`
    if (!json.is_number_unsigned() || json.get<std::uint64_t>() >= end) {
      refuse(" is not a whole number below " + std::to_string(end) + ".");
    }
    return json.get<std::size_t>();
  }
  std::size_t number(const char* field, std::size_t end) const { return at(field).number(end); }
  std::optional<std::size_t> number_or_null(const char* field, std::size_t end) const {
    const Part part = at(field);
    if (part.json.is_null()) return {};
    return part.number(end);
  }
  double real_number() const {
    if (json.is_number()) return json.get<double>();
    const std::string word = json.is_string() ? json.get<std::string>() : "";
    if (word == "nan") return std::numeric_limits<double>::quiet_NaN();
    if (word == "inf") return std::numeric_limits<double>::infinity();
    if (word == "-inf") return -std::numeric_limits<double>::infinity();
    refuse(" is not a number, nor \"nan\", \"inf\" or \"-inf\".");
  }
  std::size_t length() const {
    if (!json.is_array()) refuse(" is not a list.");
    return json.size();
  }
  template <class Visit>
  void each(const Visit& visit) const {
    length();
    std::size_t next = 0;
    for (const Json& one : json) visit(Part{one, this, nullptr, next++});
  }
};

constexpr std::size_t any = std::numeric_limits<std::size_t>::max();

Shape shape_of(const Part& record) {
  std::vector<Index> sizes;
  record.at("shape").each([&](const Part& size) {
    sizes.push_back(static_cast<Index>(size.number(std::size_t{1} << 40)));
  });
  try {
    return Shape(sizes);
  } catch (const Error&) {
    record.at("shape").refuse(" has more than " + std::to_string(Shape::max_ndim) +
                              " sizes, or more elements than memory can hold.");
  }
}

Tensor tensor_of(const Part& part, const char* name, const Shape& shape) {
  const Part field = part.at(name);
  if (field.json.is_null()) return {};
  std::vector<real> values;
  field.each([&](const Part& one) { values.push_back(static_cast<real>(one.real_number())); });
  if (static_cast<Index>(values.size()) != shape.numel()) {
    field.refuse(" has " + std::to_string(values.size()) + " numbers, not those of " +
                 to_string(shape) + ".");
  }
  return Tensor(shape, values);
}

TapeSteps::Record record_of(const Part& part, std::size_t number, std::size_t lines) {
  TapeSteps::Record record;
  record.operation = part.text("operation");
  record.label = part.text("label");
  part.at("inputs").each([&](const Part& one) { record.inputs.push_back(one.number(number)); });
  record.line = part.number_or_null("line", lines);
  record.shape = shape_of(part);
  record.value = tensor_of(part, "value", record.shape);
  record.gradient = tensor_of(part, "gradient", record.shape);
  record.summary = part.text("summary");
  record.saved_bytes = part.number("saved_bytes", any);
  return record;
}

TapeSteps::BackwardStep step_of(const Part& part, const std::vector<TapeSteps::Record>& records) {
  TapeSteps::BackwardStep step{part.number("record", records.size())};
  part.at("gives").each([&](const Part& one) {
    const std::size_t to = one.number("to", step.record);  // inputs are earlier
    const Shape& shape = records[to].shape;
    step.gives.push_back({to, tensor_of(one, "contribution", shape), tensor_of(one, "sum", shape)});
  });
  return step;
}

TapeSteps::Cause cause_of(const Part& part, const std::vector<TapeSteps::Record>& records) {
  TapeSteps::Cause cause{part.number("record", records.size()), part.flag("in_gradient")};
  const Shape& shape = records[cause.record].shape;
  const Part place = part.at("place");
  if (place.length() != static_cast<std::size_t>(shape.ndim())) {
    place.refuse(" has not one position for each axis.");
  }
  place.each([&](const Part& one) {
    const Index size = shape[static_cast<int>(cause.place.size())];
    cause.place.push_back(static_cast<Index>(one.number(static_cast<std::size_t>(size))));
  });
  cause.value = part.at("value").real_number();
  cause.why = part.text("why");
  return cause;
}

std::optional<TapeSteps::NonFinite> non_finite_of(const Part& part,
                                                  const std::vector<TapeSteps::Record>& records) {
  if (part.json.is_null()) return {};
  TapeSteps::NonFinite found{part.number("record", records.size()), part.flag("in_gradient"),
                             part.text("text")};
  part.at("causes").each([&](const Part& one) { found.causes.push_back(cause_of(one, records)); });
  return found;
}

void check_forward(const Part& whole, std::size_t records) {
  std::size_t next = 0;
  const Part forward = whole.at("forward");
  if (forward.length() != records) forward.refuse(" has not all records.");
  forward.each([&](const Part& one) {
    if (one.number(records) != next++) one.refuse(" is not in the order of the records.");
  });
}

}  // namespace

TapeSteps tape_steps_from_json(const std::string& text) {
  const Json json = parse_json(text);
  const Part whole{json};
  if (whole.text("format") != "tapestry tape steps 1") {
    throw Error("its format is not \"tapestry tape steps 1\".");
  }
  TapeSteps steps;
  steps.name = whole.text("name");
  steps.formula = whole.text("formula");
  const Part lines = whole.at("lines"), records = whole.at("records");
  const std::size_t line_count = lines.length(), record_count = records.length();
  lines.each([&](const Part& one) {
    steps.lines.push_back(
        {one.text("text"), one.text("label"), one.number_or_null("record", record_count)});
  });
  records.each([&](const Part& one) {
    steps.records.push_back(record_of(one, steps.records.size(), line_count));
  });
  check_forward(whole, record_count);
  whole.at("backward").each([&](const Part& one) {
    steps.backward.push_back(step_of(one, steps.records));
  });
  steps.non_finite = non_finite_of(whole.at("non_finite"), steps.records);
  return steps;
}

TapeSteps read_tape_steps(const std::filesystem::path& path) {
  TapeSteps steps;
  read_file("read_tape_steps", path, [&](std::ifstream& file, std::uint64_t bytes) {
    if (bytes > most_bytes) {
      throw Error("it has " + std::to_string(bytes) + " bytes: steps of a tape have at most " +
                  std::to_string(most_bytes) + ".");
    }
    std::string text(bytes, '\0');
    read_bytes(file, text.data(), bytes);
    steps = tape_steps_from_json(text);
  });
  return steps;
}

}  // namespace tapestry
