#include "tapestry/capture.hpp"

#include "tapestry/error.hpp"

namespace tapestry {
namespace {

thread_local Capture* current = nullptr;

// Whether the name is `part`, or below it: "blocks.0.output" is below "blocks".
bool belongs_to(std::string_view name, std::string_view part) {
  return name.starts_with(part) && (name.size() == part.size() || name[part.size()] == '.');
}

[[noreturn]] void refuse_not_stored(const std::string& name, const std::string& remedy) {
  throw Error("capture: '" + name + "' was not stored: " + remedy + ".");
}

}  // namespace

Capture::Capture() {
  if (current != nullptr) {
    throw Error(
        "capture: another Capture is active on this thread. End that one first (it records until "
        "its scope ends), or read from it.");
  }
  current = this;
}

Capture::~Capture() { current = nullptr; }

bool Capture::active() { return current != nullptr; }

void Capture::replace(std::string_view name, Replacement f) {
  for (auto& [replaced, function] : replacements_) {
    if (replaced != name) continue;
    function = std::move(f);
    return;
  }
  replacements_.emplace_back(name, std::move(f));
}

Tensor Capture::replaced(const std::string& name, const Tensor& tensor) const {
  Replacement f;  // a copy: it may change the list
  for (const auto& [replaced, function] : replacements_) {
    if (replaced == name) f = function;
  }
  if (!f) return tensor;
  const Tensor result = f(tensor);
  if (result.defined() && result.shape() == tensor.shape()) return result;
  throw Error("capture: '" + name + "' is " + to_string(tensor.shape()) + ", its replacement is " +
              (result.defined() ? to_string(result.shape()) : "undefined") +
              ": it must have the same shape.");
}

Tensor Capture::record(const char* name, const Tensor& tensor) {
  if (current == nullptr) return tensor;
  const std::string full = current->prefix_ + name;
  const Tensor result = current->replaced(full, tensor);
  std::erase_if(current->not_stored_,
                [&](const auto& missing) { return belongs_to(full, missing.first); });
  for (Parameter& entry : current->records_) {
    if (entry.name == full) {
      entry.value = result;
      return result;
    }
  }
  current->records_.push_back({full, result});
  return result;
}

void Capture::not_stored(const char* name, const char* remedy) {
  if (current == nullptr) return;
  const std::string full = current->prefix_ + name;
  for (const auto& [replaced, function] : current->replacements_) {
    if (belongs_to(replaced, full) && function) refuse_not_stored(replaced, remedy);
  }
  std::erase_if(current->records_,
                [&](const Parameter& entry) { return belongs_to(entry.name, full); });
  current->not_stored_[full] = remedy;
}

const Parameter* Capture::find(std::string_view name) const {
  for (const Parameter& entry : records_) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

const Tensor& Capture::operator[](std::string_view name) const {
  if (const Parameter* entry = find(name)) return entry->value;
  for (const auto& [part, remedy] : not_stored_) {
    if (belongs_to(name, part)) refuse_not_stored(std::string(name), remedy);
  }
  std::string list;
  for (const Parameter& entry : records_) list += (list.empty() ? "" : ", ") + entry.name;
  throw Error("capture: nothing was recorded as '" + std::string(name) + "'. " +
              (list.empty()
                   ? "Nothing was recorded at all: call the model while the Capture is in scope."
                   : "There are: " + list + "."));
}

Capture::Name::Name(const char* part, Index number) : capture_(current) {
  if (capture_ == nullptr) return;
  length_ = capture_->prefix_.size();
  capture_->prefix_ += part;
  if (number >= 0) capture_->prefix_ += "." + std::to_string(number);
  capture_->prefix_ += ".";
}

Capture::Name::~Name() {
  if (capture_ != nullptr && capture_ == current) capture_->prefix_.resize(length_);
}

}  // namespace tapestry
