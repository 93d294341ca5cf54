// Step 72. What is in the folder of a model, and what is not?
//
// New here: a folder as Hugging Face lays it out. Each entry of config.json becomes an option, each
// tensor a part, by its name; the forward pass of a llama is written out with these tensors and
// compared with the library's. Then one convention at a time is changed, most of which no file
// tells: how far do the logits move, and who notices? First with a small random model that this
// step writes, then with the real model stories260K, if it is there (course/real_model.hpp).
// Writes out/plots/phase7_mistakes.png; with the real model also phase7_mistakes_stories260K.png;
// takes about 3 seconds.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <numeric>
#include <string>
#include <vector>

#include "course/eight_stories.hpp"
#include "course/folder_tables.hpp"
#include "course/llama_by_name.hpp"
#include "course/llama_options.hpp"
#include "course/real_model.hpp"
#include "tapestry/accuracy.hpp"
#include "tapestry/error.hpp"
#include "tapestry/io/weight_files.hpp"
#include "tapestry/models/compare.hpp"
#include "tapestry/models/model_folder.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/plot/charts.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/text/tokenizer.hpp"

using namespace tapestry;
using Path = std::filesystem::path;

namespace {

// ---- One convention changed

struct Mistake {
  const char* name;
  LlamaConventions how;
};
const std::vector<Mistake> mistakes = {
    {"rotary turns neighbours", {.layout = RotaryLayout::interleaved}},
    {"heads take groups in turn", {.neighbours = false}},
    {"query map not transposed", {.query_stored_out_in = false}},
    {"scores not divided by sqrt(d_k)", {.scaled = false}},
    {"norms subtract the mean", {.centred = true}},
    {"gelu in the gate", {.gelu = true}},
    {"gate and up exchanged", {.swapped = true}},
    {"eps ten times smaller", {.eps_factor = 0.1}}};

// A model and what it reads.
struct Case {
  Path folder;
  Indices ids;     // (length)
  bool has_words;  // so that the loss means something
};

double loss(const Tensor& logits, const Indices& ids) {
  const Indices next({ids.shape[0] - 1}, {ids.values.begin() + 1, ids.values.end()});
  return double{cross_entropy(slice(logits, 0, 0, -1), next).item()};
}

// The largest difference at each position, as a part of the largest logit.
std::vector<double> differences(const Tensor& logits, const Tensor& right) {
  const Tensor apart = max(abs(logits - right), -1) / max(abs(right)).item();  // (length)
  const std::vector<real> values = apart.values();
  return {values.begin(), values.end()};
}

// Draws how far each mistake moves the logits at each position.
plot::LineChart print_mistakes(const Case& one) {
  const WeightFiles files(one.folder);
  const Transformer model = read_model(one.folder);
  const Tensor logits = model(one.ids);                                      // (length, vocab_size)
  const Tensor written = LlamaByName{files, model.options}(one.ids).logits;  // (length, vocab_size)
  const double error = max(abs(written - logits)).item() / max(abs(logits)).item();
  std::printf("   written out and the library's: logits differ by %s of the largest\n",
              error < 1e-5 ? "less than 1e-5" : "TOO MUCH");
  if (one.has_words) std::printf("   loss %.2f\n", loss(logits, one.ids));
  std::printf("\n   one convention changed           logits move  other next token%s\n",
              one.has_words ? "   loss" : "");
  plot::LineChart chart{.x_axis = {"position"},
                        .y_axis = {"part of the largest logit", true, 1e-8, 10}};
  std::vector<double> places(32);
  std::iota(places.begin(), places.end(), 0.0);
  for (const Mistake& mistake : mistakes) {
    const Tensor other = LlamaByName{files, model.options, mistake.how}(one.ids).logits;
    const std::vector<double> apart = differences(other, logits);
    std::printf("   %-31s %9.2f %% %15.0f %%", mistake.name,
                100 * *std::max_element(apart.begin(), apart.end()),
                100 * (1 - accuracy(other, predicted_classes(logits))));
    std::printf(one.has_words ? "%7.2f\n" : "\n", loss(other, one.ids));
    chart.series.push_back(
        {.name = mistake.name, .x = places, .y = {apart.begin(), apart.begin() + 32}});
  }
  return chart;
}

// What a program computed, as a file that `tapestry compare` reads.
Safetensors as_file(const Indices& ids, const LlamaPass& pass) {
  Safetensors file;
  file.tensors.push_back(
      {"ids", Tensor(ids.shape, std::vector<real>(ids.values.begin(), ids.values.end()))});
  for (std::size_t i = 0; i < pass.weights.size(); ++i) {
    file.tensors.push_back({"weights." + std::to_string(i), pass.weights[i]});
  }
  file.tensors.push_back({"logits", pass.logits});
  return file;
}

// The first that departs, and the known change with which all agrees.
std::string found_by_compare(const Transformer& model, const Safetensors& file) {
  const Comparison found = compare(model, file);
  if (found.first() == nullptr) return "all agrees";
  for (const Trial& trial : try_changes(model, file)) {
    if (trial.result.first() == nullptr) return found.first()->name + "; " + trial.change;
  }
  return found.first()->name + "; no known change explains it";
}

void print_comparisons(const Case& one) {
  const WeightFiles files(one.folder);
  const Transformer model = read_model(one.folder);
  std::printf("\n   compare() with what a program computes that has this mistake: the first\n");
  std::printf("   activation that departs, and the change with which all agrees\n");
  for (const Mistake& mistake : mistakes) {
    const LlamaPass pass = LlamaByName{files, model.options, mistake.how}(one.ids);
    const Safetensors file = as_file(one.ids, pass);
    std::printf("   %-31s %s\n", mistake.name, found_by_compare(model, file).c_str());
    if (one.has_words || mistake.how.layout == RotaryLayout::half_split) continue;
    write_safetensors("out/weights/72_interleaved.safetensors", file.tensors);
  }
}

// ---- The two models

Case small_case() {
  TransformerOptions o = llama_options(64, 32, 48, 2);
  o.max_length = 64;
  o.initializer = init::lecun_normal;
  Random random(72);
  const Path folder = "out/models/72_small";
  write_model(folder, Transformer(o, random), "llama");
  Indices ids({32}, std::vector<std::int32_t>(32));
  for (std::int32_t& id : ids.values) id = static_cast<std::int32_t>(random.randint(64));
  return {folder, ids, false};
}

void study(const Case& one, const std::string& name, const std::string& path) {
  plot::LineChart chart = print_mistakes(one);
  print_comparisons(one);
  chart.title = "How far eight mistakes move the logits: " + name;
  plot::write_png(plot::render(chart, 860, 480), path);
  std::printf("\nwrote %s\n", path.c_str());
}

}  // namespace

int main() try {
  std::printf("Step 72: a folder, name by name (takes about 3 seconds)\n\n");
  const Case small = small_case();
  std::printf("1. %s/config.json: what its entries become\n", small.folder.c_str());
  print_config(small.folder);
  std::printf("\n2. %s/model.safetensors: what its tensors are\n", small.folder.c_str());
  print_tensors(WeightFiles(small.folder));
  std::printf("\n3. The small random model, on random tokens\n");
  study(small, "a small random model", "out/plots/phase7_mistakes.png");
  std::printf("wrote out/weights/72_interleaved.safetensors, for\n");
  std::printf("   tapestry compare %s out/weights/72_interleaved.safetensors\n",
              small.folder.c_str());
  const auto folder = real_model();
  if (!folder) return print_left_out("\n4. The same with stories260K"), 0;
  const Case told{*folder, read_tokenizer(*folder).encode(stories[0]), true};
  std::printf("\n4. stories260K, on a story of %lld tokens\n", (long long)told.ids.shape[0]);
  study(told, "stories260K", "out/plots/phase7_mistakes_stories260K.png");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
