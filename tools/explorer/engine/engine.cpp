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

template <class Number>
Number value_in(const Json& request, const char* name, Number fallback) {
  const auto found = request.find(name);
  if (found == request.end() || found->is_null()) return fallback;
  if (!found->is_number()) refuse(name, "a number");
  return found->get<Number>();
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
  if (request.value("untrained", false)) found.model = found.model.untrained(0);
  return found;
}

Learner& Engine::learner(const Json& request) {
  const auto found = learners.find(text_in(request, "model"));
  if (found != learners.end()) return *found->second;
  throw Error("no training of the model " + request["model"].dump() + " was begun.");
}

std::string text_in(const Json& request, const char* name) {
  const auto found = request.find(name);
  if (found == request.end() || !found->is_string()) refuse(name, "a text");
  return found->get<std::string>();
}

Index number_in(const Json& request, const char* name, Index fallback) {
  return value_in(request, name, fallback);
}

double real_in(const Json& request, const char* name, double fallback) {
  return value_in(request, name, fallback);
}

std::vector<std::string> texts_in(const Json& request, const char* name) {
  std::vector<std::string> texts;
  const auto found = request.find(name);
  if (found == request.end()) return texts;
  for (const Json& one : *found) {
    if (!one.is_string()) refuse(name, "a list of texts");
    texts.push_back(one.get<std::string>());
  }
  return texts;
}

}  // namespace tapestry::engine
