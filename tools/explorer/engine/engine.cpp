#include "engine.hpp"

#include <new>

#include "learner.hpp"
#include "tapestry/error.hpp"
#include "tapestry/unicode.hpp"
#include "text.hpp"

namespace tapestry::engine {
namespace {

const Calls& calls() {
  static const Calls all = [] {
    Calls list;
    for (Calls (*some)() :
         {reading_calls, asking_calls, writing_calls, training_calls, making_calls}) {
      list.merge(some());
    }
    return list;
  }();
  return all;
}

Answer failed(const std::string& why) { return {{{"error", why}}}; }

[[noreturn]] void refuse(const char* name, const char* what) {
  throw Error("the engine wants " + std::string(what) + " as " + in_quotes(name) + ".");
}

// nullptr: it is not there, or null.
const Json* found_in(const Json& request, const char* name) {
  const auto found = request.find(name);
  return found == request.end() || found->is_null() ? nullptr : &*found;
}

}  // namespace

Engine::Engine() = default;
Engine::~Engine() = default;

Answer Engine::call(const Json& request) {
  try {
    const auto found = calls().find(text_in(request, "call"));
    if (found == calls().end()) throw Error("the engine has no call " + request["call"].dump());
    return found->second(*this, request);
  } catch (const std::bad_alloc&) {
    return failed("this needs more memory than the page may have.");
  } catch (const std::exception& error) {
    return failed(error.what());
  }
}

const Subject& Engine::subject(const Json& request) const {
  const auto found = subjects.find(text_in(request, "model"));
  if (found != subjects.end()) return found->second;
  throw Error("the engine has no model " + request["model"].dump() + ".");
}

Subject Engine::asked(const Json& request) const {
  Subject found = subject(request);
  if (flag_in(request, "untrained")) found.model = found.model.untrained(0);
  return found;
}

Learner& Engine::learner(const Json& request) {
  const auto found = learners.find(text_in(request, "model"));
  if (found != learners.end()) return *found->second;
  throw Error("no training of the model " + request["model"].dump() + " was begun.");
}

std::string text_in(const Json& request, const char* name) {
  const Json* found = found_in(request, name);
  if (found == nullptr || !found->is_string()) refuse(name, "a text");
  return found->get<std::string>();
}

std::string text_in(const Json& request, const char* name, const std::string& fallback) {
  return found_in(request, name) == nullptr ? fallback : text_in(request, name);
}

Index number_in(const Json& request, const char* name, Index fallback) {
  const Json* found = found_in(request, name);
  if (found == nullptr) return fallback;
  if (!found->is_number_integer()) refuse(name, "a whole number");
  return found->get<Index>();
}

double real_in(const Json& request, const char* name, double fallback) {
  const Json* found = found_in(request, name);
  if (found == nullptr) return fallback;
  if (!found->is_number()) refuse(name, "a number");
  return found->get<double>();
}

bool flag_in(const Json& request, const char* name) {
  const Json* found = found_in(request, name);
  if (found == nullptr) return false;
  if (!found->is_boolean()) refuse(name, "true or false");
  return found->get<bool>();
}

Json list_in(const Json& request, const char* name) {
  const Json* found = found_in(request, name);
  if (found == nullptr) return Json::array();
  if (!found->is_array()) refuse(name, "a list");
  return *found;
}

std::vector<std::string> texts_in(const Json& request, const char* name) {
  std::vector<std::string> texts;
  for (const Json& one : list_in(request, name)) {
    if (!one.is_string()) refuse(name, "a list of texts");
    texts.push_back(one.get<std::string>());
  }
  return texts;
}

}  // namespace tapestry::engine
