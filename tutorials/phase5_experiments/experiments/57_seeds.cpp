// An experiment for step 57: does what it says of positions hold for ten seeds, and for eight times
// the training? Also the two questions that its lesson asks of the reader: the letter two places
// before, and a letter in the place of <bos>. Seeds 1 and 2 are those of the step.
// Takes about 4 minutes of processor time.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "course/order_runs.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/progress.hpp"

using namespace tapestry;

namespace {

constexpr std::uint64_t seeds = 10;
constexpr std::array budgets = {Index{250}, Index{2000}};  // steps; the first is the step's
constexpr std::array all_positions = {Positions::learned, Positions::sinusoidal, Positions::none};
constexpr OrderTask letter_before{1, true};

using Models = std::vector<Transformer>;  // one of each seed
using Numbers = std::vector<double>;      // likewise

Progress& progress() {
  static Progress shown("training", 280, "models");
  return shown;
}

Models train_ten(const OrderTask& task, Positions positions, Index layers, Index steps) {
  Models models;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    models.push_back(order_model(task.causal, positions, layers, seed));
    learn(models.back(), task, seed, steps);
    progress().step();
  }
  return models;
}

Numbers of_each(const Models& models, const std::function<double(const Transformer&)>& measure) {
  Numbers numbers;
  for (const Transformer& model : models) numbers.push_back(measure(model));
  return numbers;
}

Numbers shares_of(const Models& models, const OrderTask& task) {
  return of_each(models, [&](const Transformer& model) { return share_right(model, task); });
}

std::string spread_of(const Numbers& numbers) {
  double mean = 0;
  for (const double number : numbers) mean += number / static_cast<double>(numbers.size());
  const auto [least, most] = std::minmax_element(numbers.begin(), numbers.end());
  return formatted("%.2f (%.2f-%.2f)", mean, *least, *most);
}

// Of how many seeds the first number is above the second one.
int above(const Numbers& some, const Numbers& others) {
  int count = 0;
  for (std::size_t i = 0; i < some.size(); ++i) count += some[i] > others[i] ? 1 : 0;
  return count;
}

// Share right of each kind of positions. Returns the models without positions.
Models print_row(const OrderTask& task, Index steps) {
  std::printf("%s  %-13s", task.causal ? "decoder" : "encoder",
              task.back == 0 ? "smallest" : "letter before");
  std::vector<Numbers> shares;
  Models last;
  for (const Positions positions : all_positions) {
    last = train_ten(task, positions, 2, steps);
    shares.push_back(shares_of(last, task));
    std::printf("  %s", spread_of(shares.back()).c_str());
  }
  for (const Numbers& told : {shares[0], shares[1]}) {
    std::printf("  %4d, %d", above(shares[2], told), above(told, shares[2]));
  }
  std::printf("     %.2f\n", task.best_without_order());
  return last;
}

struct WithoutPositions {
  Models decoders, encoders;  // two layers, the letter before, the budget of the step
};

WithoutPositions compare_positions() {
  WithoutPositions kept;
  std::printf(
      "1. Share right, two layers: mean (least-most) of ten seeds; in how many of them none\n");
  std::printf("   is above, below learned and sinusoidal; and what can be had without order\n");
  for (const Index steps : budgets) {
    std::printf("%-22s  %-18s%-18s%-18s", formatted("after %d steps", int(steps)).c_str(),
                "learned", "sinusoidal", "none");
    std::printf("learned  sinusoidal\n");
    for (const Index back : {1, 0}) {
      for (const bool causal : {true, false}) {
        if (causal && steps > budgets[0]) continue;  // nearly all are right already
        Models models = print_row({back, causal}, steps);
        if (back == 1 && steps == budgets[0]) {
          (causal ? kept.decoders : kept.encoders) = std::move(models);
        }
      }
    }
  }
  return kept;
}

void compare_depths(const Models& two_layers) {
  std::printf(
      "\n2. Decoders without positions, the letter before; in how many the output changes\n");
  std::printf("   when two earlier letters change places\n");
  for (const Index layers : {1, 2, 3}) {
    const Models models =
        layers == 2 ? two_layers : train_ten(letter_before, Positions::none, layers, budgets[0]);
    const Numbers changes = of_each(models, change_by_swap);
    std::printf("layers %td  %s  %2d of %d\n", layers,
                spread_of(shares_of(models, letter_before)).c_str(),
                static_cast<int>(std::count_if(changes.begin(), changes.end(),
                                               [](double change) { return change >= 1e-4; })),
                static_cast<int>(seeds));
  }
}

// Prints how far off a probe's places are behind each layer, and the most weight of a head on the
// letter before. Returns the first: behind layer 0.
Numbers print_places(const char* name, const Models& models, const OrderTask& task) {
  std::array<Numbers, 2> off, weights;
  for (const Index layer : {0, 1}) {
    const auto at = static_cast<std::size_t>(layer);
    off[at] = of_each(models, [&](const Transformer& m) { return places_off(m, task, layer); });
    weights[at] = of_each(models, [&](const Transformer& m) { return on_letter_before(m, layer); });
  }
  std::printf("%-18s", name);
  for (const auto& numbers : {off[0], off[1], weights[0], weights[1]}) {
    std::printf("  %s", spread_of(numbers).c_str());
  }
  std::printf("\n");
  return off[0];
}

void probe_places(const WithoutPositions& trained) {
  Models untrained;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    untrained.push_back(order_model(true, Positions::none, 2, 76 + seed));
  }
  std::printf(
      "\n3. Without positions: places off, of a linear probe (saying the middle: 3.00), and\n");
  std::printf("   most weight of a head on the letter before\n");
  std::printf("%-18s  behind layer 0    layer 1           by layer 0        layer 1\n", "");
  const Numbers after = print_places("decoder", trained.decoders, letter_before);
  const Numbers before = print_places("decoder, untrained", untrained, letter_before);
  print_places("encoder", trained.encoders, {1, false});
  std::printf(
      "behind layer 0 the decoder's place is read better than any untrained one's: %d of %d\n",
      above(Numbers(seeds, *std::min_element(before.begin(), before.end())), after),
      static_cast<int>(seeds));
}

void ask_more() {
  std::printf("\n4. Two layers, other tasks: share right\n");
  for (const Index steps : budgets) {
    const auto print = [&](const char* name, const OrderTask& task, Positions positions) {
      const Models models = train_ten(task, positions, 2, steps);
      std::printf("%4td steps  %-30s  %s   %.2f", steps, name,
                  spread_of(shares_of(models, task)).c_str(), task.best_without_order());
      if (!task.has_bos) {
        const auto off = [&](const Transformer& model) { return places_off(model, task, 0); };
        std::printf("   places off %s", spread_of(of_each(models, off)).c_str());
      }
      std::printf("\n");
    };
    print("two before, decoder, learned", {2, true}, Positions::learned);
    print("two before, decoder, none", {2, true}, Positions::none);
    print("two before, encoder, none", {2, false}, Positions::none);
    print("no <bos>, decoder, none", {1, true, false}, Positions::none);
  }
}

}  // namespace

int main() try {
  const WithoutPositions kept = compare_positions();
  compare_depths(kept.decoders);
  probe_places(kept);
  ask_more();
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
