#include "tapestry/capture.hpp"

#include "tapestry/error.hpp"

namespace tapestry {
namespace {

thread_local Capture* living = nullptr;

}  // namespace

Capture::Capture() {
  if (living != nullptr) {
    throw Error(
        "capture: another Capture lives on this thread. End that one first (it files until its "
        "scope ends), or read from it.");
  }
  living = this;
}

Capture::~Capture() { living = nullptr; }

bool Capture::lives() { return living != nullptr; }

void Capture::file(const char* name, const Tensor& tensor) {
  if (living == nullptr) return;
  const std::string full = living->prefix_ + name;
  for (Parameter& filed : living->filed_) {
    if (filed.name == full) {
      filed.value = tensor;
      return;
    }
  }
  living->filed_.push_back({full, tensor});
}

const Parameter* Capture::find(std::string_view name) const {
  for (const Parameter& filed : filed_) {
    if (filed.name == name) return &filed;
  }
  return nullptr;
}

const Tensor& Capture::operator[](std::string_view name) const {
  if (const Parameter* filed = find(name)) return filed->value;
  std::string list;
  for (const Parameter& filed : filed_) list += (list.empty() ? "" : ", ") + filed.name;
  throw Error("capture: nothing was filed as '" + std::string(name) + "'. " +
              (list.empty() ? "Nothing was filed at all: call the model while the Capture lives."
                            : "There are: " + list + "."));
}

Capture::Name::Name(const char* part, Index number) : capture_(living) {
  if (capture_ == nullptr) return;
  length_ = capture_->prefix_.size();
  capture_->prefix_ += part;
  if (number >= 0) capture_->prefix_ += "." + std::to_string(number);
  capture_->prefix_ += ".";
}

Capture::Name::~Name() {
  if (capture_ != nullptr && capture_ == living) capture_->prefix_.resize(length_);
}

}  // namespace tapestry
