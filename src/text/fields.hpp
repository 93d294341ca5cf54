// The fields of JSON objects that others have written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "base/json.hpp"

namespace tapestry {

// The fields of an object. What is asked for is known; finish() throws Error for the others, so
// that nothing in a file is ignored by mistake. null is as if the field were absent.
class Fields {
 public:
  // `what` begins the messages: "its normalizer". Throws Error if `json` is not an object.
  Fields(const Json& json, std::string what);

  const Json* find(const std::string& name);
  const Json& at(const std::string& name);  // throws Error if it is absent

  // Each throws Error for another type; those without a fallback, if the field is absent.
  std::string text(const std::string& name);
  std::string text(const std::string& name, const std::string& fallback);
  bool flag(const std::string& name, bool fallback);
  std::int64_t count(const std::string& name);
  const Json& list(const std::string& name);

  void finish() const;
  [[noreturn]] void refuse(const std::string& complaint) const;
  const std::string& what() const { return what_; }

 private:
  const Json& json_;
  std::string what_;
  std::set<std::string> known_;
};

}  // namespace tapestry
