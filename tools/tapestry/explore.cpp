// `tapestry explore`: one page that shows what a model did.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "material.hpp"
#include "page_file.hpp"
#include "recording.hpp"
#include "screen.hpp"
#include "snapshots.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/io/safetensors.hpp"
#include "tapestry/unicode.hpp"
#include "weights_alone.hpp"

namespace tapestry::command {
namespace {

namespace fs = std::filesystem;

Subject opened(const Path& path, const Path& adapters = {}) {
  std::error_code ignored;
  ModelOptions options;
  options.adapters = adapters;
  (fs::is_directory(path, ignored) ? options.model : options.checkpoint) = path;
  return read_subject(options);
}

// "induction.safetensors"; of a folder that is named with a slash at its end, the folder.
std::string name_of(const Path& path) {
  const Path name = path.has_filename() ? path.filename() : path.parent_path().filename();
  return printable(name.string());
}

Reader untrained(const Reader& learned, std::size_t of) {
  Subject subject = learned.subject;
  subject.model = subject.model.untrained(0);
  return {std::move(subject), learned.name + ", untrained", Kind::untrained, of};
}

// The states that `tapestry train --snapshots` kept on the way to this checkpoint.
void add_snapshots(const ExploreOptions& options, std::vector<Reader>& readers) {
  for (const Path& path : snapshots_of(options.input)) {
    const Moment moment = moment_in(read_safetensors(path).metadata);
    readers.push_back({opened(path), readers.front().name + ", step " + std::to_string(moment.step),
                       Kind::snapshot, 0, moment.step, moment.loss});
  }
  if (readers.back().kind != Kind::snapshot) return;
  readers.front().step = readers.back().step;  // the last snapshot is the model in 16 bits
  readers.front().loss = readers.back().loss;
}

std::vector<Reader> readers_of(const ExploreOptions& options) {
  std::vector<Reader> readers = {{opened(options.input, options.adapters), name_of(options.input)}};
  check_layer(readers.front().subject, 0);
  const std::vector<std::string> beside =
      options.beside.empty() ? std::vector<std::string>{"untrained"} : options.beside;
  for (const std::string& name : beside) {
    if (name == "none") continue;
    if (name == "untrained") {
      readers.push_back(untrained(readers.front(), 0));
    } else {
      readers.push_back({opened(name), name_of(name), Kind::learned, readers.size()});
      check_layer(readers.back().subject, 0);
    }
  }
  add_snapshots(options, readers);
  return readers;
}

// A held-out text of the task that the file names, as `tapestry train` wrote it; "" if none.
std::string text_of_task(const Path& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return "";
  const auto metadata = read_safetensors(path).metadata;
  const auto task = metadata.find("train.task");
  if (task == metadata.end()) return "";
  const bool known = (" " + task_names() + ",").find(" " + task->second + ",") != std::string::npos;
  if (!known && !fs::exists(task->second, ignored)) return "";
  const Material what = material(task->second, 64);
  Random random(1);
  const Batch batch = what.test(1, random);
  std::vector<std::int32_t> ids;
  for (const std::int32_t id : batch.inputs.values) {
    if (id != Vocabulary::bos && id != Vocabulary::pad) ids.push_back(id);
  }
  return what.vocabulary.decode({{std::ssize(ids)}, ids});
}

std::vector<std::string> texts_of(const ExploreOptions& options) {
  if (!options.texts.empty()) return options.texts;
  const std::string text = text_of_task(options.input);
  if (!text.empty()) return {text};
  throw Error("give a text that the model reads, as in --text \"the cat sat\".");
}

Path page_of(const ExploreOptions& options) {
  if (!options.out.empty()) return options.out;
  const std::string name = Path(name_of(options.input)).stem().string();
  return Path("out/explorer") / ((name.empty() ? "model" : name) + ".html");
}

// ---- What a live page opens

constexpr std::uintmax_t most_bytes = 16'000'000;  // of all files of a model

bool is_of_model(const Path& path) {
  const Path ending = path.extension();
  return ending == ".json" || ending == ".txt" || ending == ".safetensors";
}

std::vector<Path> paths_in(const Path& folder) {
  std::vector<Path> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.is_regular_file() && is_of_model(entry.path())) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<PageFile> files_in(const Path& folder) {
  const std::vector<Path> paths = paths_in(folder);
  std::error_code ignored;
  std::uintmax_t bytes = 0;
  for (const Path& path : paths) bytes += fs::file_size(path, ignored);
  std::vector<PageFile> files;
  if (bytes > most_bytes) return files;
  for (const Path& path : paths) files.push_back({path.filename().string(), bytes_of(path)});
  return files;
}

ModelFiles files_of(std::size_t model, const Path& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return {model, true, files_in(path)};
  PageFile file{path.filename().string(), weights_alone(path)};
  if (file.bytes.size() > most_bytes) return {model, false};
  return {model, false, {std::move(file)}};
}

// Those that were opened from files as they are: not the ones with adapters.
std::vector<ModelFiles> live_models(const std::vector<Reader>& readers,
                                    const ExploreOptions& options) {
  std::vector<ModelFiles> models;
  if (options.recorded || !has_live_page()) return models;
  for (std::size_t i = 0; i < readers.size(); ++i) {
    if (readers[i].kind != Kind::learned) continue;
    models.push_back(files_of(i, readers[i].subject.path));
    if (i == 0 && !options.adapters.empty()) models.back().files.clear();
  }
  return models;
}

std::string in_bytes(std::size_t bytes) {
  return bytes < 1'000'000 ? formatted("%zu kB", (bytes + 999) / 1000)
                           : formatted("%.1f MB", static_cast<double>(bytes) / 1e6);
}

}  // namespace

void explore(const ExploreOptions& options) {
  const Path page = page_of(options);
  std::error_code ignored;
  if (fs::is_directory(page, ignored)) {
    throw Error("--out " + in_quotes(page.string()) + " is a folder: name a file.");
  }
  const std::vector<Reader> readers = readers_of(options);
  const Recording recording = record(readers, texts_of(options));
  const std::vector<ModelFiles> models = live_models(readers, options);
  const std::size_t size = write_page(page, recording, models);
  print("wrote %s (%s, %s)\n", page.c_str(), in_bytes(size).c_str(),
        models.empty() ? "recorded" : "live: it computes");
  print("%s\n",
        folded("Open it in a browser. It holds all it shows and needs no network.", 0).c_str());
}

}  // namespace tapestry::command
