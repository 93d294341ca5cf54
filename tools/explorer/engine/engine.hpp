// The engine of the explorer's page: what the page asks of the library. In the browser it is
// compiled to WebAssembly and runs in a worker; here it is an ordinary class, so that tests ask the
// native library the same.
//
//   Engine engine;
//   engine.call({{"call", "open"}, {"model", "a"}, {"file", "/a/model.safetensors"}});
//   engine.call({{"call", "record"}, {"models", {{{"model", "a"}}}}, {"texts", {"the cat"}}});
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "recorded_run.hpp"
#include "subject.hpp"

namespace tapestry::engine {

using command::Json;
using command::Subject;

// What a call gives: an object, and blocks of numbers that it refers to (recording.hpp).
struct Answer {
  Json json = Json::object();
  std::vector<std::vector<std::byte>> blocks = {};
};

struct Learner;  // a model that is being trained
struct Text;     // one that is being written

class Engine {
 public:
  Engine();
  ~Engine();

  // The request names a call; each is described where it is defined. Bad input gives {"error": one
  // line}, and leaves all models as they were.
  Answer call(const Json& request);

  // For the calls. Throw Error for a model, learner or text that is not there.
  const Subject& subject(const Json& request) const;
  Subject asked(const Json& request) const;  // the same, or with {untrained: true} untrained
  Learner& learner(const Json& request);

  std::map<std::string, Subject> subjects;  // by the name that the page gives them
  std::map<std::string, std::unique_ptr<Learner>> learners;
  std::unique_ptr<Text> text;
};

using Call = std::function<Answer(Engine& engine, const Json& request)>;

// {cut: ["0.1", ...], held: [{link, weight}], patched: ["1.0", "1@4"], from: another text}
command::Changes changes_in(const Json& request);

// The calls by name, of each source.
using Calls = std::map<std::string, Call>;
Calls reading_calls();   // about, open, close, record
Calls asking_calls();    // effects, answers, patch
Calls writing_calls();   // write, next, more
Calls training_calls();  // train, learn, save
Calls making_calls();    // tape_programs, tape, hand, matrices

// Of a request. Throw Error, naming the field, if it is of another kind, or is not there and has no
// fallback. That of a flag is false, of a list an empty one.
std::string text_in(const Json& request, const char* name);
std::string text_in(const Json& request, const char* name, const std::string& fallback);
Index number_in(const Json& request, const char* name, Index fallback);  // a whole number
double real_in(const Json& request, const char* name, double fallback);
bool flag_in(const Json& request, const char* name);
Json list_in(const Json& request, const char* name);
std::vector<std::string> texts_in(const Json& request, const char* name);

}  // namespace tapestry::engine
