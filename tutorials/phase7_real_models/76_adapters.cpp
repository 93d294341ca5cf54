// Step 76. A trained model is to learn another kind of text. Must all its numbers change?
//
// New here: low-rank adapters (LoRA; Hu et al. 2021). The weights W of a model stay as they are,
// and beside them stand A (in, rank) and B (rank, out), which learn: x W + scale (x A) B. One such
// map by hand; then the same new text by the whole model and by adapters of rank 1 to 8: what they
// learn, what they forget, how many numbers that takes. And three controls: forgetting where both
// know the new text equally well; whether the whole model's change has a low rank; and whether that
// matters. What holds over ten seeds is in experiments/76_adapters.cpp.
// Writes out/plots/phase7_adapters.png; takes about 20 seconds.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "course/dialects.hpp"
#include "course/low_rank_change.hpp"
#include "tapestry/error.hpp"
#include "tapestry/io/adapter_file.hpp"
#include "tapestry/io/transformer_file.hpp"
#include "tapestry/nn/adapters.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/plot/charts.hpp"
#include "tapestry/plot/png.hpp"

using namespace tapestry;

namespace {

const std::vector<Index> ranks = {0, 1, 2, 4, 8};  // 0: the whole model
const std::vector<Dialect> dialects = {Dialect::exchanged, Dialect::backwards};

std::string name(Index rank) { return rank == 0 ? "whole" : "rank " + std::to_string(rank); }

// scale (x A) B, one number at a time.
Tensor by_hand(const Tensor& x, const Linear& map) {
  const Tensor& a = map.adapter->down;  // (in, rank)
  const Tensor& b = map.adapter->up;    // (rank, out)
  Tensor y = matmul(x, map.weight);     // (rows, out): what the map does without its adapter
  for (Index row = 0; row < x.size(0); ++row) {
    for (Index r = 0; r < a.size(1); ++r) {
      double within = 0;  // one number of x A: what this row is along one direction
      for (Index c = 0; c < x.size(1); ++c) within += double{x.at({row, c}) * a.at({c, r})};
      for (Index c = 0; c < b.size(1); ++c) {
        const double added = map.adapter->scale() * within * double{b.at({r, c})};
        y.set({row, c}, static_cast<real>(double{y.at({row, c})} + added));
      }
    }
  }
  return y;  // (rows, out)
}

const char* yes(bool truth) { return truth ? "yes" : "no"; }

void one_step() {
  Random random(1);
  Linear map(64, 64, random, {.bias = false});
  const Tensor x = random.normal({5, 64});  // (5, 64)
  const Tensor before = map(x);             // (5, 64)
  map.adapter.emplace(64, 64, 2, 4, random);
  std::printf("1. A map of %lld numbers; A and B of rank 2 have %lld; scale = 4 / 2\n",
              static_cast<long long>(map.weight.numel()),
              static_cast<long long>(map.adapter->num_parameters()));
  std::printf("B is 0, and nothing changes: %s\n", yes(map(x).values() == before.values()));
  map.adapter->up = random.normal({2, 64});  // (2, 64)
  std::printf("by hand and by the layer within 1e-4: %s\n",
              yes(largest_difference(by_hand(x, map), map(x)) < 1e-4));
  const Tensor one = matmul(x, map.merged());  // (5, 64)
  std::printf("x (W + scale A B) within 1e-4: %s\n", yes(largest_difference(one, map(x)) < 1e-4));
}

DialectRun run_of(Index rank) {
  return {.rank = rank, .rate = rank == 0 ? 3e-3 : 1e-2, .steps = 300, .every = 20};
}

std::uintmax_t bytes_of(const Learned& learned) {
  const char* const path = "out/weights/76_adapters.safetensors";
  if (has_adapters(learned.model)) {
    write_adapters(path, learned.model);
  } else {
    write_transformer(path, learned.model);
  }
  return std::filesystem::file_size(path);
}

std::vector<Learned> learn_all(const Transformer& model, Dialect dialect) {
  std::printf("\n%s                 loss after %lld steps\n", to_string(dialect).c_str(),
              static_cast<long long>(run_of(0).steps));
  std::printf("%-9s numbers  share    file    new    old\n", "");
  std::vector<Learned> all;
  for (const Index rank : ranks) {
    all.push_back(go_on(model, dialect, run_of(rank)));
    const Learned& one = all.back();
    std::printf("%-9s %7lld %4.0f %% %7llu %6.3f %6.3f\n", name(rank).c_str(),
                static_cast<long long>(one.numbers),
                100 * double(one.numbers) / double(model.num_parameters()),
                static_cast<unsigned long long>(bytes_of(one)), one.points.back().loss_of_new,
                one.points.back().loss_of_old);
  }
  return all;
}

void compare_forgetting(Dialect dialect, const std::vector<Learned>& all) {
  std::printf("%s\n", to_string(dialect).c_str());
  for (std::size_t i = 1; i < all.size(); ++i) {
    const DialectPoint& end = all[i].points.back();
    const double loss = std::max(end.loss_of_new, all[0].points.back().loss_of_new) + 0.02;
    std::printf("%s at new %5.3f: old %5.3f, whole model %5.3f\n", name(ranks[i]).c_str(), loss,
                loss_of_old_at(all[i], loss), loss_of_old_at(all[0], loss));
  }
}

void print_ranks(const Transformer& model, const std::vector<std::vector<Learned>>& all) {
  std::printf("\n4. The whole model's change of its maps: share of the first singular values,\n");
  std::printf("and the loss of the new text if only that part of the change is kept\n");
  std::printf("rank   random numbers    exchanged  loss    backwards  loss\n");
  for (const Index rank :
       {Index{0}, Index{1}, Index{2}, Index{4}, Index{8}, Index{16}, Index{64}}) {
    std::printf("%4lld   %6.0f %%", static_cast<long long>(rank),
                100 * share_of_random(model, rank));
    for (std::size_t i = 0; i < dialects.size(); ++i) {
      const Transformer& whole = all[i][0].model;
      std::printf("      %6.0f %%  %6.3f", 100 * share_of_change(model, whole, rank),
                  loss_in(dialects[i], with_rank(model, whole, rank)));
    }
    std::printf("\n");
  }
}

void print_merged(const Transformer& model, Learned learned) {
  Random random(9);
  const Indices ids = dialect_batch(Dialect::plain, 20, random).inputs;  // (20, 7)
  const Tensor beside = learned.model(ids);                              // (20, 7, vocab_size)
  Transformer merged = learned.model;
  merge_adapters(merged);
  std::printf("\n5. Merged: logits within 1e-3: %s; as many numbers as before: %s\n",
              yes(largest_difference(merged(ids), beside) < 1e-3),
              yes(merged.num_parameters() == model.num_parameters()));
  for (TransformerBlock& block : learned.model.blocks) {
    MultiHeadAttention& a = block.attention;
    for (Linear* map : {&a.query, &a.key, &a.value, &a.output}) map->adapter.reset();
    for (Linear* map : {&block.feed_forward->up, &block.feed_forward->down}) map->adapter.reset();
  }
  std::printf("Taken off: the old model, bit for bit: %s\n",
              yes(learned.model(ids).values() == model(ids).values()));
}

void draw(const std::vector<std::vector<Learned>>& all) {
  plot::Canvas canvas(1240, 470);
  canvas.text({24, 34},
              "Learning the new text, forgetting the old one (each line begins on the right)",
              {.size = 18, .bold = true});
  const plot::Rect rest{16, 50, canvas.width() - 32, canvas.height() - 66};
  const std::vector<plot::Rect> areas = plot::panels(rest, 1, 2);
  for (std::size_t i = 0; i < all.size(); ++i) {
    plot::LineChart chart;
    chart.title = to_string(dialects[i]);
    chart.x_axis = {.name = "loss of the new text above the least (nats a word)", .log = true};
    chart.y_axis = {.name = "loss of the old text"};
    for (std::size_t k = 0; k < ranks.size(); ++k) {
      plot::Series line{name(ranks[k]), {}, {}};
      for (const DialectPoint& point : all[i][k].points) {
        line.x.push_back(point.loss_of_new - Grammar().entropy() / 7);
        line.y.push_back(point.loss_of_old);
      }
      chart.series.push_back(line);
    }
    plot::draw(canvas, areas[i], chart);
  }
  plot::write_png(canvas, "out/plots/phase7_adapters.png");
}

}  // namespace

int main() try {
  std::printf("Step 76: adapters (takes about 20 seconds)\n\n");
  one_step();
  const Transformer model = learn_dialect(Dialect::plain, 600, 1);
  std::printf("\n2. A model of %lld numbers: loss %.3f in plain sentences; the least is %.3f\n",
              static_cast<long long>(model.num_parameters()), loss_in(Dialect::plain, model),
              Grammar().entropy() / 7);
  std::vector<std::vector<Learned>> all;
  for (const Dialect dialect : dialects) all.push_back(learn_all(model, dialect));
  std::printf("\n3. Forgotten where both know the new text equally well\n");
  for (std::size_t i = 0; i < dialects.size(); ++i) compare_forgetting(dialects[i], all[i]);
  print_ranks(model, all);
  print_merged(model, all[0].back());
  draw(all);
  std::printf("\nwrote out/plots/phase7_adapters.png\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
