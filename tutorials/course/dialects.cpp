#include "course/dialects.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "tapestry/ops.hpp"
#include "tapestry/optim.hpp"
#include "tapestry/schedules.hpp"
#include "tapestry/training.hpp"

namespace tapestry {
namespace {

constexpr std::pair<const char*, const char*> exchanges[] = {
    {"cat", "cow"},   {"dog", "horse"},   {"kitten", "sheep"}, {"puppy", "ox"},
    {"owl", "otter"}, {"eagle", "frog"},  {"robin", "duck"},   {"sparrow", "beaver"},
    {"ant", "apple"}, {"worm", "carrot"}, {"beetle", "egg"},   {"bee", "bun"},
    {"mat", "pond"},  {"rug", "lake"},    {"sofa", "river"},   {"armchair", "ocean"},
};

std::string exchanged(const std::string& word) {
  for (const auto& [one, other] : exchanges) {
    if (word == one) return other;
    if (word == other) return one;
  }
  return word;
}

// A copy with numbers of its own.
Transformer copied(const Transformer& model) {
  Random unused(0);
  Transformer result(model.options, unused);
  const Parameters from = model.parameters(), to = result.parameters();
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::copy_n(from[i].value.data(), from[i].value.numel(), to[i].value.data());
  }
  return result;
}

bool is_map_weight(const std::string& name) {
  return name.starts_with("blocks.") && name.ends_with(".weight");
}

void learn(const Transformer& model, const Parameters& learned, Dialect dialect,
           const DialectRun& run, const std::function<void(Index step)>& after_step) {
  Adam adam(learned);
  const auto loss_of_step = [&](Index step) {
    Random random(run.seed, static_cast<std::uint64_t>(step));
    const bool old = run.both && step % 2 == 0;
    const Batch batch = dialect_batch(old ? Dialect::plain : dialect, 32, random);  // (32, 7)
    return cross_entropy(model(batch.inputs), batch.targets);
  };
  const auto rate = [&](Index step) {
    return cosine_schedule(step, {.peak = run.rate,
                                  .floor = run.rate / 10,
                                  .warmup_steps = std::min<Index>(20, run.steps / 2),
                                  .steps = run.steps});
  };
  train(adam, loss_of_step,
        {.steps = run.steps,
         .learning_rate = rate,
         .what = "",
         .after_step = [&](Index step, double) { after_step(step); }});
}

}  // namespace

std::string to_string(Dialect dialect) {
  return dialect == Dialect::plain       ? "plain"
         : dialect == Dialect::backwards ? "backwards"
                                         : "exchanged";
}

Words in_dialect(Words sentence, Dialect dialect) {
  if (dialect == Dialect::backwards) std::reverse(sentence.begin(), sentence.end());
  if (dialect == Dialect::exchanged) {
    std::transform(sentence.begin(), sentence.end(), sentence.begin(), exchanged);
  }
  return sentence;
}

const Vocabulary& dialect_vocabulary() {
  static const Vocabulary vocabulary(Grammar().words());
  return vocabulary;
}

Batch dialect_batch(Dialect dialect, Index count, Random& random) {
  const Grammar grammar;
  std::vector<Words> texts;
  for (Index i = 0; i < count; ++i) {
    texts.push_back(in_dialect(grammar.sentence(random).words, dialect));
  }
  return next_word_batch(dialect_vocabulary(), texts);
}

double loss_in(Dialect dialect, const Transformer& model) {
  Random random(1234567);
  const Batch batch = dialect_batch(dialect, 1000, random);  // (1000, 7)
  return double{cross_entropy(model(batch.inputs), batch.targets).item()};
}

Transformer learn_dialect(Dialect dialect, Index steps, std::uint64_t seed) {
  Random random(seed);
  const Transformer model({.vocab_size = dialect_vocabulary().size(),
                           .max_length = 7,
                           .initializer = init::lecun_normal},
                          random);
  learn(model, model.parameters(), dialect, {.steps = steps, .seed = seed + 1000}, [](Index) {});
  return model;
}

Learned go_on(const Transformer& model, Dialect dialect, const DialectRun& run) {
  Learned result{copied(model)};
  if (run.rank > 0) {
    Random random(run.seed);
    add_adapters(result.model,
                 {.rank = run.rank, .maps = {"query", "key", "value", "output", "up", "down"}},
                 random);
  }
  const bool all = run.rank == 0 || run.rest;
  Parameters learned = all ? result.model.parameters() : adapter_parameters(result.model);
  if (run.rest || (run.rank == 0 && run.maps_only)) {
    std::erase_if(learned,
                  [&](const Parameter& one) { return is_map_weight(one.name) == run.rest; });
  }
  for (const Parameter& one : learned) result.numbers += one.value.numel();
  const auto measure = [&](Index step) {
    if (step % run.every != 0) return;
    result.points.push_back(
        {step, loss_in(dialect, result.model), loss_in(Dialect::plain, result.model)});
  };
  measure(0);
  learn(result.model, learned, dialect, run, measure);
  return result;
}

double loss_of_old_at(const Learned& learned, double loss_of_new) {
  for (std::size_t i = 1; i < learned.points.size(); ++i) {
    const DialectPoint &a = learned.points[i - 1], &b = learned.points[i];
    if (b.loss_of_new > loss_of_new) continue;
    const double share = (a.loss_of_new - loss_of_new) / (a.loss_of_new - b.loss_of_new);
    return a.loss_of_old + share * (b.loss_of_old - a.loss_of_old);
  }
  return NAN;
}

}  // namespace tapestry
