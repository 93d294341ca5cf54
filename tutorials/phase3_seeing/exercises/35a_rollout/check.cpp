#include <string>
#include <vector>

#include "course/exercise.hpp"
#include "phase3.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::rolled_out) rolled_out;
}

namespace {

Attempt rolled(std::function<decltype(learn::rolled_out)> roll) {
  return [=](const NamedTensors& in) -> NamedTensors {
    std::vector<Tensor> layers;
    for (const NamedTensor& one : in) layers.push_back(one.value);
    return {{"rollout", roll(layers)}};
  };
}

// What is done; the defaults are right.
struct How {
  double residual = 0.5, attention = 0.5;  // the shares of I and of A
  bool shared = true;                      // rows are divided by their sums
  bool first_on_the_left = false;
  bool each_head = false;  // each head by itself, the mean of the heads at the end
  bool last_only = false;  // the last layer alone
};

Tensor passed_on(const Tensor& map, How how) {
  const Tensor mixed = map * how.attention + Tensor::eye(map.size(-1)) * how.residual;
  return how.shared ? mixed / sum(mixed, -1, true) : mixed;  // (..., n, n)
}

// By products of matrices, of one map or of all heads at once.
Attempt by_products(How how) {
  return rolled([=](const std::vector<Tensor>& layers) {
    Tensor result;  // (n, n), or (heads, n, n)
    for (const Tensor& weights : layers) {
      const Tensor next = passed_on(how.each_head ? weights : mean(weights, 0), how);
      result = !result.defined() || how.last_only ? next
               : how.first_on_the_left            ? matmul(result, next)
                                                  : matmul(next, result);
    }
    return how.each_head ? mean(result, 0) : result;
  });
}

// What reaches position i, number by number: a row that goes back layer by layer.
std::vector<double> row_of(const std::vector<Tensor>& maps, Index i) {
  const Index n = maps[0].size(0);
  std::vector<double> row(static_cast<std::size_t>(n), 0.0);
  row[static_cast<std::size_t>(i)] = 1;
  for (std::size_t layer = maps.size(); layer-- > 0;) {
    std::vector<double> before(row.size(), 0.0);
    for (Index k = 0; k < n; ++k) {
      for (Index j = 0; j < n; ++j) {
        before[static_cast<std::size_t>(j)] +=
            row[static_cast<std::size_t>(k)] * double{maps[layer].at({k, j})};
      }
    }
    row = before;
  }
  return row;
}

Tensor rows_of(const std::vector<Tensor>& maps) {
  std::vector<real> all;
  for (Index i = 0; i < maps[0].size(0); ++i) {
    for (const double x : row_of(maps, i)) all.push_back(static_cast<real>(x));
  }
  return Tensor(maps[0].shape(), all);
}

Attempt by_rows(How how) {
  return rolled([=](std::vector<Tensor> layers) {
    if (how.last_only) layers = {layers.back()};
    if (how.first_on_the_left) layers = {layers.rbegin(), layers.rend()};
    const Index heads = layers[0].size(0);
    Tensor result = Tensor::zeros({layers[0].size(1), layers[0].size(1)});  // (n, n)
    for (Index head = 0; head < (how.each_head ? heads : 1); ++head) {
      std::vector<Tensor> maps;  // (n, n) each
      for (const Tensor& weights : layers) {
        const Tensor one = squeeze(slice(weights, 0, head, head + 1), 0);  // (n, n)
        maps.push_back(passed_on(how.each_head ? one : mean(weights, 0), how));
      }
      result = result + rows_of(maps);
    }
    return how.each_head ? result / double(heads) : result;
  });
}

KnownMistake mistake(const char* name, const char* sentence, How how) {
  return {name, sentence, by_products(how), by_rows(how)};
}

const std::vector<KnownMistake> mistakes = {
    mistake("layers in the wrong order",
            "The layers were multiplied as M_0 M_1 ... The last layer reads what the one before "
            "made, so it stands on the left: result = matmul(M, result).",
            {.first_on_the_left = true}),
    mistake("wrong order, and rows not divided",
            "Two things: the last layer has to stand on the left of the product, and each row of M "
            "has to be divided by its sum.",
            {.shared = false, .first_on_the_left = true}),
    mistake("without the residual connection",
            "The weights alone were multiplied. A position also keeps what stood there before: add "
            "the identity, half and half.",
            {.residual = 0, .attention = 1}),
    mistake("rows not divided by their sums",
            "Where dropout took weights away, the rows do not sum to 1, and what is missing is "
            "lost again in each layer: divide each row of M by its sum.",
            {.shared = false}),
    mistake("neither identity nor division",
            "Two things: the identity is missing, which stands for the residual connection, and "
            "the rows are not divided by their sums.",
            {.residual = 0, .attention = 1, .shared = false}),
    mistake("identity added, nothing halved",
            "Each layer passes on A + I, whose rows sum to about 2, so the result doubles with "
            "each layer. Take half, and divide each row by its sum.",
            {.residual = 1, .attention = 1, .shared = false}),
    mistake("each head by itself",
            "Each head was followed through all layers by itself, and the mean was taken at the "
            "end. A layer adds what all its heads bring, and any head of the next reads that: take "
            "the mean in each layer.",
            {.each_head = true}),
    mistake("the last layer only",
            "This is M of the last layer. It says where the last layer looked, but what stood "
            "there had been mixed by the layers before: multiply.",
            {.last_only = true}),
};

NamedTensors inputs(Random& random, Index size) {
  const Index n = size + 1, heads = 2, count = size == 1 ? 2 : 2 + random.randint(2);
  NamedTensors layers;
  for (Index layer = 0; layer < count; ++layer) {
    Tensor weights = softmax(random.normal({heads, n, n}, 0, 2));  // (heads, n, n)
    // Dropout: in each head one weight, of a row and a column of its own.
    for (Index h = 0; h < heads; ++h) weights.set({h, h, random.randint(n)}, 0);
    layers.push_back({"layer " + std::to_string(layer), weights});
  }
  return layers;
}

}  // namespace

int main(int count, char** arguments) {
  return judge(
      {.inputs = inputs,
       .learner = rolled(learn::rolled_out),
       .right = {rolled(solution::rolled_out), by_products({}), by_rows({}),
                 rolled(
                     [](const std::vector<Tensor>& layers) { return attention_rollout(layers); })},
       .mistakes = mistakes,
       .hints = {"A loop over the layers with a matrix that begins as the identity.",
                 "In each layer: the mean of the heads, plus the identity, half of it, rows "
                 "divided by their sums; then multiply it from the left.",
                 "mixed = (mean(weights, 0) + Tensor::eye(n)) / 2; result = matmul(mixed / "
                 "sum(mixed, -1, true), result);"}},
      count, arguments);
}
