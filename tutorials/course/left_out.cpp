#include "course/left_out.hpp"

#include <cmath>
#include <limits>
#include <numeric>

#include "course/tasks.hpp"
#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/training.hpp"

namespace tapestry {
namespace {

// The layer without the division of its scores: its queries are multiplied by what divides later.
MultiHeadAttention undivided(MultiHeadAttention layer) {
  const Index d_k = layer.query.weight.size(-1) / layer.num_heads;
  layer.query.weight = layer.query.weight * std::sqrt(double(d_k));  // (d_model, num_heads d_k)
  return layer;
}

Tensor block_of(const Tensor& x, const TransformerBlock& b, const Parts& parts, Random* random) {
  const bool pre = parts.norm && !parts.post_norm, post = parts.norm && parts.post_norm;
  const auto layer = [&](const Tensor& seen, const NormLayer& norm, const auto& compute) {
    const Tensor made = dropout(compute(pre ? norm(seen) : seen), b.dropout, random);
    const Tensor sum = parts.residual ? seen + made : made;
    return post ? norm(sum) : sum;
  };
  Tensor y = x;  // (batch, length, d_model), as all below
  const auto attend = [&](const Tensor& seen) {
    return (parts.divided ? b.attention : undivided(b.attention))(seen, {}, {.random = random});
  };
  if (parts.attention) y = layer(y, b.attention_norm, attend);
  const auto transform = [&](const Tensor& seen) {
    const FeedForward& two_maps = *b.feed_forward;
    return parts.activation ? two_maps(seen) : two_maps.down(two_maps.up(seen));
  };
  if (parts.feed_forward) y = layer(y, *b.feed_forward_norm, transform);
  return y;
}

TransformerOptions options_of(const TinyTask& task, const SortingRecipe& recipe) {
  return {.vocab_size = task.vocabulary().size(),
          .max_length = task.length(),
          .d_model = 32,
          .num_layers = recipe.layers,
          .norm_kind = recipe.norm_kind,
          .dropout = recipe.dropout,
          .initializer = recipe.initializer};
}

double rate_of(const SortingRecipe& recipe, Index step) {
  const double peak = recipe.learning_rate;
  const Index warmup = recipe.warmup_steps;
  if (!recipe.falls) return constant_schedule(step, {.peak = peak, .warmup_steps = warmup});
  return cosine_schedule(step, {.peak = peak, .warmup_steps = warmup, .steps = recipe.steps});
}

void test(const Transformer& model, const TinyTask& task, const Parts& parts,
          SortingResult& result) {
  Random random(77);
  const Batch batch = task.batch(Part::held_out, 1000, random);  // (1000, length)
  const Tensor logits = logits_of(model, batch.inputs, parts);   // (1000, length, vocab_size)
  result.loss = cross_entropy(logits, batch.targets).item();
  result.right = static_cast<double>(exact_matches(logits, batch.targets)) / 1000;
}

}  // namespace

Tensor logits_of(const Transformer& model, const Indices& ids, const Parts& parts, Random* random) {
  Tensor x = model.token_embedding(ids);  // (batch, length, d_model)
  if (parts.positions) x = x + slice(model.position_embedding->weight, 0, 0, ids.shape[-1]);
  x = dropout(x, model.options.dropout, random);
  for (const TransformerBlock& b : model.blocks) x = block_of(x, b, parts, random);
  if (parts.norm && !parts.post_norm) x = (*model.norm)(x);
  return model.lm_head(x);
}

SortingResult learn_to_sort(const Parts& parts, const SortingRecipe& recipe, std::uint64_t seed) {
  const TinyTask task(TaskKind::sort, {.longest = 6});
  Random start(seed);
  const Transformer model(options_of(task, recipe), start);
  const auto loss_of_step = [&](Index step) {
    const Index batch = recipe.batches == 0 ? step : step % recipe.batches;
    Random data(seed, static_cast<std::uint64_t>(batch));
    Random dropped(seed + 1000, static_cast<std::uint64_t>(step));
    const Batch b = task.batch(Part::train, 32, data);  // (32, length)
    Random* random = recipe.dropout > 0 ? &dropped : nullptr;
    return cross_entropy(logits_of(model, b.inputs, parts, random), b.targets);  // ()
  };
  const auto rate = [&](Index step) { return rate_of(recipe, step); };
  Adam adam(model.parameters());
  SortingResult result{std::numeric_limits<double>::infinity(), 0, 0};
  try {
    const std::vector<double> losses =
        train(adam, loss_of_step, {.steps = recipe.steps, .learning_rate = rate, .what = ""})
            .losses;
    result.training = std::accumulate(losses.end() - 20, losses.end(), 0.0) / 20;
  } catch (const Error&) {  // a loss or a gradient is no number any more
    return result;
  }
  test(model, task, parts, result);
  return result;
}

}  // namespace tapestry
