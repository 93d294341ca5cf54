// The classifiers of steps 67 and 6j: their layers, how they learn, and what share of sentences
// they tell right. What a classifier computes with its layers stands in the steps.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "course/classifier_pictures.hpp"
#include "course/sentence_forms.hpp"
#include "tapestry/accuracy.hpp"
#include "tapestry/nn/embedding.hpp"
#include "tapestry/nn/feed_forward.hpp"
#include "tapestry/nn/linear.hpp"
#include "tapestry/nn/multi_head_attention.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/progress.hpp"
#include "tapestry/training.hpp"

namespace tapestry::form_classifiers {

constexpr Index width = 32, heads = 4, batch_rows = 64, steps = 300;
constexpr std::uint64_t seeds = 5;

struct Layers : Module {
  bool attends, feeds_forward;  // which of the two middle layers are used
  Embedding words;
  MultiHeadAttention attention;
  FeedForward feed_forward;
  Linear out;

  Layers(bool has_attention, bool has_feed_forward, Index vocabulary, Random& random)
      : attends(has_attention),
        feeds_forward(has_feed_forward),
        words(vocabulary, width, random, init::lecun_normal),
        attention(width, heads, random, {.initializer = init::lecun_normal}),
        feed_forward(width, random, {.initializer = init::xavier_uniform}),
        out(width, sentence_forms, random, {.initializer = init::lecun_normal}) {}

  Members members() const override {
    return {{"words", words},
            {"attention", attends ? &attention : nullptr},
            {"feed_forward", feeds_forward ? &feed_forward : nullptr},
            {"out", out}};
  }
};

// Trains a model that makes logits (64, forms) of ids (64, length) and their lengths, on batches
// that draw(random) makes.
template <class Classifier, class Draw>
void learn(const Classifier& model, const Draw& draw, std::uint64_t seed) {
  Adam adam(model.parameters());
  const ScheduleOptions rates{.peak = 1e-2, .floor = 1e-4, .warmup_steps = 20, .steps = steps};
  const auto rate = [&](Index step) { return cosine_schedule(step, rates); };
  const auto loss_of_step = [&](Index step) {
    Random drawn(seed, static_cast<std::uint64_t>(step));
    const FormBatch b = draw(drawn);                         // ids (64, length)
    return cross_entropy(model(b.ids, b.lengths), b.forms);  // logits (64, forms)
  };
  train(adam, loss_of_step, {.steps = steps, .learning_rate = rate, .what = ""});
}

template <class Classifier>
struct Learned {
  std::string name;
  std::vector<Classifier> models = {};  // of each seed
};

// Of each name and parts: Classifier(parts, vocabulary, random), trained from each seed.
template <class Classifier, class Parts, class Draw>
std::vector<Learned<Classifier>> learn_all(
    const std::vector<std::pair<std::string, Parts>>& variants, Index vocabulary,
    const Draw& draw) {
  Progress progress("training", std::ssize(variants) * Index(seeds), "models");
  std::vector<Learned<Classifier>> all;
  for (const auto& [name, parts] : variants) {
    all.push_back({name});
    for (std::uint64_t seed = 1; seed <= seeds; ++seed, progress.step()) {
      Random random(seed);
      all.back().models.push_back(Classifier(parts, vocabulary, random));
      learn(all.back().models.back(), draw, seed);
    }
  }
  return all;
}

// The share of sentences that each model tells right.
template <class Classifier>
NamedShares told_right(const std::vector<Learned<Classifier>>& all, const FormBatch& test) {
  NamedShares rows;
  for (const Learned<Classifier>& one : all) {
    rows.emplace_back(one.name, Shares());
    for (const Classifier& model : one.models) {
      rows.back().second.push_back(accuracy(model(test.ids, test.lengths), test.forms));
    }
  }
  return rows;
}

}  // namespace tapestry::form_classifiers
