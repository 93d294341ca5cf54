// Step 73. What does a model need to write, and what does it write?
//
// New here: a whole model with its cache. What is in memory, computed and counted; seconds per
// token with and without the cache. Then the real model stories260K, if it is there
// (course/real_model.hpp), goes on with the beginnings of eight stories: greedily and sampled, with
// the probability of each token, beside how the stories themselves go on
// (course/eight_stories.hpp).
// Writes out/plots/phase7_cache.png; with the real model also phase7_storyteller_stories260K.png;
// takes about 5 seconds.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "course/eight_stories.hpp"
#include "course/llama_options.hpp"
#include "course/real_model.hpp"
#include "course/timing.hpp"
#include "tapestry/analysis/evidence.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/generation.hpp"
#include "tapestry/models/model_folder.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/plot/charts.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/text/tokenizer.hpp"

using namespace tapestry;

namespace {

// The sizes of stories260K. Weights that learned nothing are as fast, and take as much memory.
Transformer random_llama() {
  TransformerOptions o = llama_options(512, 64, 172, 4);
  o.num_layers = 5;
  o.num_heads = 8;
  o.max_length = 512;
  Random random(73);
  return Transformer(o, random);
}

using Caches = std::vector<KeyValueCache>;

Indices random_text(Index length) {
  Random random(1);
  Indices ids({1, length}, std::vector<std::int32_t>(static_cast<std::size_t>(length)));
  for (std::int32_t& id : ids.values) id = static_cast<std::int32_t>(random.randint(512));
  return ids;
}

// Each block has maps of query, key, value, output, gate, up and down, and two norms.
long long weights_computed(const TransformerOptions& o) {
  const Index d_k = o.d_model / o.num_heads, maps = 2 * (o.num_heads + o.num_key_value_heads);
  return o.d_model * (o.vocab_size + o.num_layers * (maps * d_k + 3 * o.d_ff + 2) + 1);
}

long long cache_computed(const TransformerOptions& o, Index heads, Index positions) {
  return 2 * o.num_layers * heads * (o.d_model / o.num_heads) * positions * 4;
}

void print_memory(const Transformer& model) {
  const TransformerOptions& o = model.options;
  long long counted = 0;
  for (const auto& [name, value] : model.parameters()) counted += value.count();
  std::printf("   weights: %lld computed, %lld counted; %lld bytes\n", weights_computed(o), counted,
              counted * 4);
  std::printf("   cache, bytes\n");
  std::printf("   positions   computed       held   in memory   without shared heads\n");
  for (const Index positions : {1, 16, 100, 256, 512}) {
    Caches caches;
    const std::size_t before = memory_stats().live_bytes;
    for (Index i = 0; i < positions; ++i) {
      (void)model.next(Indices({1, 1}, {7}), caches, NextOf::last);  // (1, 1, vocab_size)
    }
    const std::size_t live = memory_stats().live_bytes - before;
    Index held = 0;
    for (const KeyValueCache& one : caches) held += one.keys.count() + one.values.count();
    std::printf("   %9lld %10lld %10lld %11zu %22lld\n", (long long)positions,
                cache_computed(o, o.num_key_value_heads, positions), (long long)held * 4, live,
                cache_computed(o, o.num_heads, positions));
  }
}

// ---- Speed

double seconds_reading_again(const Transformer& model, const Indices& text) {
  const auto next = [&] {
    Caches caches;
    (void)model.next(text, caches, NextOf::last);  // (1, 1, vocab_size)
  };
  return best_seconds(next, 5, 0.1);
}

// The last token of a text, behind all others. The one before it is read alone, too: it moves the
// cache into memory with room for more, as happens once in a while when a model writes.
double seconds_with_cache(const Transformer& model, const Indices& text) {
  const auto before = text.values.size() - 1;
  const auto read = [&](Caches& caches, std::size_t from, std::size_t to) {
    const auto begin = text.values.begin();
    std::vector<std::int32_t> ids(begin + std::ptrdiff_t(from), begin + std::ptrdiff_t(to));
    const Index count = Index(ids.size());
    (void)model.next(Indices({1, count}, std::move(ids)), caches, NextOf::last);
  };
  double best = std::numeric_limits<double>::infinity();
  for (int run = 0; run < 10; ++run) {
    Caches caches;
    if (before > 1) read(caches, 0, before - 1);
    read(caches, before - 1, before);
    best = std::min(best, seconds_of([&] { read(caches, before, before + 1); }));
  }
  return best;
}

void measure_speed(const Transformer& model) {
  std::vector<double> places, again, cached;  // milliseconds
  std::printf("   position   ms a token: all read again   with the cache   ratio\n");
  for (const Index before : {1, 64, 128, 256, 384, 511}) {
    const Indices text = random_text(before + 1);
    places.push_back(double(before));
    again.push_back(1e3 * seconds_reading_again(model, text));
    cached.push_back(1e3 * seconds_with_cache(model, text));
    std::printf("   %8lld %27.3f %16.3f %7.0f\n", (long long)before, again.back(), cached.back(),
                again.back() / cached.back());
  }
  plot::LineChart chart{.title = "One more token, behind a text", .x_axis = {"tokens before it"}};
  chart.y_axis = {"milliseconds", true};
  chart.series = {{"all read again", places, again}, {"with the cache", places, cached}};
  plot::write_png(plot::render(chart), "out/plots/phase7_cache.png");
}

// ---- Writing

constexpr Index begun = 10, more = 120;  // tokens of a story that are given; that follow

struct Told {
  Indices ids;                 // all, with <s>
  std::vector<double> p = {};  // the model's probability of each token that follows
  std::vector<bool> top = {};  // was it the likeliest?
};

void judge(Told& told, const Tensor& logits, std::int32_t token) {
  const Tensor shares = softmax(logits);  // (vocab_size)
  told.p.push_back(double{shares.at({token})});
  told.top.push_back(shares.at({token}) == max(shares).item());
}

Told written(const Transformer& model, const Indices& beginning, double temperature,
             std::uint64_t seed) {
  Told told;
  Random random(seed);
  GenerationOptions options{.sampling = {.temperature = temperature}, .max_new_tokens = more};
  options.after_step = [&](const GenerationStep& s) { judge(told, s.logits, s.chosen); };
  told.ids = generate(next_logits_of(model, model.options.max_length), beginning, random, options);
  return told;
}

Indices first(const Indices& ids, Index count) {
  return {{count}, {ids.values.begin(), ids.values.begin() + count}};
}

Told as_it_goes_on(const Transformer& model, const Indices& story) {
  Told told{first(story, begun + more)};
  const Tensor logits = model(told.ids);  // (length, vocab_size)
  for (Index i = begun; i < begun + more; ++i) {
    judge(told, squeeze(slice(logits, 0, i - 1, i), 0), told.ids.values[std::size_t(i)]);
  }
  return told;
}

// The share of runs of four tokens that were there before.
double repeated(const Indices& ids) {
  std::set<std::vector<std::int32_t>> seen;
  const Index runs = ids.shape[0] - 3;
  for (auto at = ids.values.begin(); at != ids.values.begin() + runs; ++at)
    seen.insert({at, at + 4});
  return 1 - double(seen.size()) / double(runs);
}

void print_texts(const std::string& name, const std::vector<Told>& texts) {
  std::vector<real> logs, tops, again;
  for (const Told& one : texts) {
    double log = 0, top = 0;
    for (std::size_t i = 0; i < one.p.size(); ++i) log += std::log(one.p[i]), top += one.top[i];
    logs.push_back(real(log / double(one.p.size())));
    tops.push_back(real(100 * top / double(one.p.size())));
    again.push_back(real(100 * repeated(one.ids)));
  }
  const auto of = [](const std::vector<real>& v) { return spread(Tensor({std::ssize(v)}, v)); };
  std::printf("   %-20s %6.2f ±%.2f %15.0f %% %17.0f %%\n", name.c_str(), of(logs).mean,
              of(logs).deviation, of(tops).mean, of(again).mean);
}

// Of the stories as they go on: tokens that begin a word, and others.
void print_word_parts(const std::vector<Told>& texts, const Tokenizer& tokenizer) {
  for (const bool begins : {true, false}) {
    double log = 0, count = 0;
    for (const Told& one : texts) {
      for (std::size_t i = 0; i < one.p.size(); ++i) {
        const std::string text = tokenizer.bytes_of(one.ids.values[begun + i]);
        if (text.starts_with(' ') != begins) continue;
        log += std::log(one.p[i]), ++count;
      }
    }
    std::printf("   tokens that %-16s %4.0f, mean ln p %.2f\n",
                begins ? "begin a word:" : "do not:", count, log / count);
  }
}

plot::BarChart bars(const std::string& title, const Told& told, const Tokenizer& tokenizer) {
  plot::BarChart chart{.title = title, .y_axis = {"probability", false, 0, 1}};
  chart.print_values = false;
  chart.series = {{"", {told.p.begin(), told.p.begin() + 32}, {}}};
  for (Index i = begun; i < begun + 32; ++i) {
    std::string text = tokenizer.bytes_of(told.ids.values[std::size_t(i)]);
    if (text.starts_with(' ')) text = "␣" + text.substr(1);
    chart.labels.push_back(text);
  }
  return chart;
}

void tell(const std::filesystem::path& folder) {
  const Transformer model = read_model(folder);
  const Tokenizer tokenizer = read_tokenizer(folder);
  std::vector<Told> own, texts;
  for (const char* story : stories) own.push_back(as_it_goes_on(model, tokenizer.encode(story)));
  std::printf("   going on with            mean ln p     the likeliest   repeated runs of 4\n");
  std::vector<plot::BarChart> charts;
  for (const double temperature : {0.0, 0.5, 0.8, 1.0, 1.5}) {
    texts.clear();
    for (std::size_t i = 0; i < own.size(); ++i) {
      texts.push_back(written(model, first(own[i].ids, begun), temperature, i));
    }
    const std::string name = "temperature " + formatted("%.1f", temperature);
    print_texts(name, texts);
    if (temperature == 0 || temperature == 1) charts.push_back(bars(name, texts[0], tokenizer));
    const std::string text = tokenizer.decode(texts[0].ids.values);
    std::printf("      %s ...\n", text.substr(0, text.rfind(' ', 88)).c_str());
  }
  print_texts("the story itself", own);
  charts.push_back(bars("the story itself", own[0], tokenizer));
  print_word_parts(own, tokenizer);
  plot::Canvas canvas(1240, 800, 1.5);
  const std::vector<plot::Rect> areas = plot::panels(canvas.area().inset(16), 3, 1);
  for (std::size_t i = 0; i < 3; ++i) plot::draw(canvas, areas[i], charts[i]);
  plot::write_png(canvas, "out/plots/phase7_storyteller_stories260K.png");
}

}  // namespace

int main() try {
  std::printf("Step 73: a storyteller (takes about 5 seconds)\n\n");
  const Transformer model = random_llama();
  std::printf("1. Memory, sizes of stories260K\n");
  print_memory(model);
  std::printf("\n2. Time, on this machine\n");
  measure_speed(model);
  std::printf("\nwrote out/plots/phase7_cache.png\n");
  const auto folder = real_model();
  if (!folder) return print_left_out("\n3. What it writes"), 0;
  std::printf("\n3. stories260K goes on with eight stories, 120 tokens behind their first ten\n");
  tell(*folder);
  std::printf("\nwrote out/plots/phase7_storyteller_stories260K.png\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
