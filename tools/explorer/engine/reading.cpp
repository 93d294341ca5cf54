// Opening models, and recording what they do with texts.
#include <algorithm>

#include "engine.hpp"
#include "learner.hpp"
#include "recording.hpp"
#include "tapestry/error.hpp"
#include "tapestry/kernels.hpp"
#include "tapestry/version.hpp"
#include "text.hpp"

namespace tapestry::engine {
namespace {

using namespace command;

// {} -> version, kernels ("sse2"), precision
Answer about(Engine&, const Json&) {
  return {{{"version", version()},
           {"kernels", kernel_set()},
           {"precision", sizeof(real) == 4 ? "float" : "double"}}};
}

// A few words that the model knows: a text to begin with where it does not know the page's.
std::string sample(const Subject& subject) {
  if (subject.unit == "tokens") return "Once upon a time";
  const bool by_characters = subject.unit == "characters";
  const Index most = std::clamp<Index>(subject.limits.max_length - 1, 1, 6);
  std::string text;
  Index count = 0;
  for (std::int32_t id = 0; id < subject.limits.vocab_size && count < most; ++id) {
    const std::string word = subject.word(id);
    if (word.empty() || word == "␣" || word.front() == '<') continue;
    text += (text.empty() || by_characters ? "" : " ") + word;
    ++count;
  }
  return text;
}

// {model, file | folder} -> description, parameters, transformer, sample. Opens a checkpoint, or a
// folder as Hugging Face lays it out; a model of that name is replaced.
Answer open(Engine& engine, const Json& request) {
  ModelOptions options;
  (request.contains("folder") ? options.model : options.checkpoint) =
      text_in(request, request.contains("folder") ? "folder" : "file");
  Subject subject = read_subject(options);
  check_layer(subject, 0);
  Answer answer{{{"description", subject.description},
                 {"parameters", subject.model.num_parameters()},
                 {"transformer", !subject.model.is_one_head()},
                 {"sample", sample(subject)}}};
  engine.subjects.insert_or_assign(text_in(request, "model"), std::move(subject));
  return answer;
}

// {model}: forgets it.
Answer close(Engine& engine, const Json& request) {
  engine.subjects.erase(text_in(request, "model"));
  engine.learners.erase(text_in(request, "model"));
  return {};
}

Reader reader_in(const Engine& engine, const Json& request) {
  Reader reader{engine.asked(request), text_in(request, "name", text_in(request, "model"))};
  reader.changes = changes_in(request);
  if (flag_in(request, "untrained")) reader.kind = Kind::untrained;
  return reader;
}

// {models: [{model, name, untrained, cut, held, patched, from}, ...], texts, baselines} -> a
// recording (recording.hpp), of each model with its changes and each text.
Answer record(Engine& engine, const Json& request) {
  std::vector<Reader> readers;
  for (const Json& one : list_in(request, "models")) readers.push_back(reader_in(engine, one));
  Recording recording =
      command::record(readers, texts_in(request, "texts"),
                      flag_in(request, "baselines") ? Baselines::of_learned : Baselines::none);
  return {std::move(recording.json), std::move(recording.numbers)};
}

}  // namespace

Changes changes_in(const Json& request) {
  Changes changes;
  for (const std::string& part : texts_in(request, "cut")) changes.cut.push_back(parse_part(part));
  for (const Json& one : list_in(request, "held")) {
    changes.held.push_back({parse_part(text_in(one, "link")), real_in(one, "weight", 0)});
  }
  for (const std::string& place : texts_in(request, "patched")) {
    changes.patched.push_back(parse_patched(place));
  }
  if (!changes.patched.empty()) changes.patched_from = text_in(request, "from");
  return changes;
}

Calls reading_calls() {
  return {{"about", about}, {"open", open}, {"close", close}, {"record", record}};
}

}  // namespace tapestry::engine
