// Step 73. What does a model write?
//
// New here: the real model stories260K, if it is there (course/real_model.hpp), goes on with the
// beginnings of eight stories: greedily and sampled, with the probability of each token, beside how
// the stories themselves go on (course/eight_stories.hpp).
// With that model writes out/plots/phase7_storyteller_stories260K.png; takes less than a second.
#include <cmath>
#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include "course/eight_stories.hpp"
#include "course/real_model.hpp"
#include "course/storyteller_pictures.hpp"
#include "course/token_boxes.hpp"
#include "tapestry/accuracy.hpp"
#include "tapestry/analysis/evidence.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/generation.hpp"
#include "tapestry/models/model_folder.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/pictures.hpp"
#include "tapestry/text/tokenizer.hpp"

using namespace tapestry;

namespace {

constexpr Index begun = 10, more = 120;  // tokens of a story that are given; that follow

struct Told {
  Indices ids;    // all, with <s>
  Tensor logits;  // (more, vocab_size): what the model expected for each token that follows

  Indices followed() const { return {{more}, {ids.values.begin() + begun, ids.values.end()}}; }

  // The model's probability of each of these.
  std::vector<double> p() const {
    const Tensor all = softmax(logits);  // (more, vocab_size)
    return doubles(gather(all, 1, {{more, 1}, followed().values}));
  }
};

Indices first(const Indices& ids, Index count) {
  return {{count}, {ids.values.begin(), ids.values.begin() + count}};
}

Told as_it_goes_on(const Transformer& model, const Indices& story) {
  const Indices ids = first(story, begun + more);
  return {ids, slice(model(ids), 0, begun - 1, begun + more - 1)};  // (more, vocab_size)
}

Told written(const Transformer& model, const Indices& beginning, double temperature,
             std::uint64_t seed) {
  std::vector<Tensor> logits;  // (vocab_size) each
  Random random(seed);
  GenerationOptions options{.sampling = {.temperature = temperature}, .max_new_tokens = more};
  options.after_step = [&](const GenerationStep& step) { logits.push_back(step.logits); };
  const auto next_logits = next_logits_of(model, model.options.max_length);
  const Indices ids = generate(next_logits, beginning, random, options);
  return {ids, stack(logits, 0)};  // (more, vocab_size)
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
    logs.push_back(-cross_entropy(one.logits, one.followed()).item());
    tops.push_back(real(100 * accuracy(one.logits, one.followed())));
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
      const std::vector<std::string> tokens = token_bytes(tokenizer, one.followed());
      const std::vector<double> p = one.p();
      for (std::size_t i = 0; i < p.size(); ++i) {
        if (tokens[i].starts_with(' ') == begins) log += std::log(p[i]), ++count;
      }
    }
    std::printf("   tokens that %-16s %4.0f, mean ln p %.2f\n",
                begins ? "begin a word:" : "do not:", count, log / count);
  }
}

void tell(const std::filesystem::path& folder) {
  const Transformer model = read_model(folder);
  const Tokenizer tokenizer = read_tokenizer(folder);
  std::vector<Told> own, texts;
  for (const char* story : stories) own.push_back(as_it_goes_on(model, tokenizer.encode(story)));
  std::printf("   going on with            mean ln p     the likeliest   repeated runs of 4\n");
  std::vector<TokenBars> drawn;
  const auto bars = [&](const std::string& name, const Told& told) {
    return TokenBars{name, token_bytes(tokenizer, told.followed()), told.p()};
  };
  for (const double temperature : {0.0, 0.5, 0.8, 1.0, 1.5}) {
    texts.clear();
    for (std::size_t i = 0; i < own.size(); ++i) {
      texts.push_back(written(model, first(own[i].ids, begun), temperature, i));
    }
    const std::string name = "temperature " + formatted("%.1f", temperature);
    print_texts(name, texts);
    if (temperature == 0 || temperature == 1) drawn.push_back(bars(name, texts[0]));
    const std::string text = tokenizer.decode(texts[0].ids.values);
    std::printf("      %s ...\n", text.substr(0, text.rfind(' ', 88)).c_str());
  }
  print_texts("the story itself", own);
  drawn.push_back(bars("the story itself", own[0]));
  print_word_parts(own, tokenizer);
  plot::write_png(bars_of_tokens(drawn, 32), "out/plots/phase7_storyteller_stories260K.png");
}

}  // namespace

int main() try {
  std::printf("Step 73: a storyteller (takes less than a second)\n\n");
  const auto folder = real_model();
  if (!folder) return print_left_out("What it writes"), 0;
  std::printf("stories260K goes on with eight stories, 120 tokens behind their first ten\n");
  tell(*folder);
  std::printf("\nwrote out/plots/phase7_storyteller_stories260K.png\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
