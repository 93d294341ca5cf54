// Memory-bound work. No peers in this process: see the README for PyTorch.
#include <memory>

#include "ours.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/optim.hpp"
#include "tapestry/random.hpp"
#include "tapestry/tape.hpp"

namespace tapestry::bench {
namespace {

constexpr double block = 4096 * 512;  // elements of the usual activations here

Row simple_row(const std::string& name, double elements_moved, double flops,
               std::function<Contestant()> prepare) {
  return {"moving", name, flops, bytes_of(elements_moved),
          [=] { return std::vector<Contestant>{prepare()}; }};
}

void add_elementwise(std::vector<Row>& rows) {
  rows.push_back(simple_row("bias add 4096 x 512 + 512", 2 * block, block, [] {
    const Tensor x = numbers({4096, 512}), bias = numbers({512});
    return ours([=] { return x + bias; });
  }));
  rows.push_back(simple_row("dropout 4096 x 512", 2 * block, 2 * block, [] {
    const Tensor x = numbers({4096, 512});
    const auto random = std::make_shared<Random>(7);
    return ours([=] { return dropout(x, 0.1, *random); });
  }));
}

void add_reductions(std::vector<Row>& rows) {
  rows.push_back(simple_row("sum of rows 4096 x 512", block, block, [] {
    const Tensor x = numbers({4096, 512});
    return ours([=] { return sum(x, -1); });
  }));
  rows.push_back(simple_row("sum of columns 4096 x 512", block, block, [] {
    const Tensor x = numbers({4096, 512});
    return ours([=] { return sum(x, 0); });
  }));
  rows.push_back(simple_row("max of rows 4096 x 512", block, block, [] {
    const Tensor x = numbers({4096, 512});
    return ours([=] { return max(x, -1); });
  }));
  rows.push_back(simple_row("cumsum of rows 4096 x 512", 2 * block, block, [] {
    const Tensor x = numbers({4096, 512});
    return ours([=] { return cumsum(x, -1); });
  }));
  rows.push_back(simple_row("cumsum of columns 4096 x 512", 2 * block, block, [] {
    const Tensor x = numbers({4096, 512});
    return ours([=] { return cumsum(x, 0); });
  }));
  rows.push_back(simple_row("sum of 16777216", 1 << 24, 1 << 24, [] {
    const Tensor x = Tensor::ones({1 << 24});
    return ours([=] { return sum(x); });
  }));
}

Indices draw_ids(const Shape& shape, Index below) {
  Random random(3);
  std::vector<std::int32_t> ids;
  for (Index i = 0; i < shape.numel(); ++i) ids.push_back(std::int32_t(random.randint(below)));
  return Indices(shape, ids);
}

void add_lookups(std::vector<Row>& rows) {
  constexpr double logits_count = 2048.0 * 8192;
  rows.push_back(simple_row("cross entropy both ways 2048 x 8192", 2 * logits_count,
                            (2 * exp_flops + 5) * logits_count, [] {
                              const Tensor logits = numbers({2048, 8192});
                              const Indices targets = draw_ids({2048}, 8192);
                              return ours_both_ways(
                                  {logits}, [=] { return cross_entropy(logits, targets); },
                                  Tensor(1.0));
                            }));
  // dy and the gradient of the whole table
  rows.push_back(simple_row("embedding backward 4096 of 8192x512", block + 8192 * 512, block, [] {
    const Tensor table = numbers({8192, 512}), dy = numbers({4096, 512});
    const Indices ids = draw_ids({4096}, 8192);
    return ours_backward({table}, [=] { return embedding(table, ids); }, dy);
  }));
}

void add_adam(std::vector<Row>& rows) {
  constexpr Index weights = 1 << 22;
  // the weights, both running means and the gradient
  rows.push_back(simple_row("AdamW step of 4194304", 4.0 * weights, 15.0 * weights, [] {
    const Tensor weight = numbers({weights});
    Tape tape({weight});
    const auto gradients =
        std::make_shared<Gradients>(tape.backward(weight * 1.0, numbers({weights})));
    const auto adam =
        std::make_shared<AdamW>(Parameters{{"weight", weight}}, AdamWOptions{.weight_decay = 0.01});
    return Contestant{"Tapestry", [=] { adam->step(*gradients); }};
  }));
}

}  // namespace

void add_memory_rows(std::vector<Row>& rows) {
  add_elementwise(rows);
  add_reductions(rows);
  add_lookups(rows);
  add_adam(rows);
}

}  // namespace tapestry::bench
