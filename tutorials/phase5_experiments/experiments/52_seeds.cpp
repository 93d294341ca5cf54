// An experiment for step 52: which layers are idle, and do deeper ones look farther? Ten trainings
// of each model, for three can be exceptions: models of two and of three layers guess hidden words,
// without and with the causal mask; and those of the tasks of step 26. Seeds 1 to 3 of three
// layers, and seed 1 of the tasks, are the models of the step.
// Takes about two minutes of processor time.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "course/head_distances.hpp"
#include "course/hidden_word_models.hpp"
#include "course/task_models.hpp"
#include "tapestry/analysis/evidence.hpp"
#include "tapestry/error.hpp"
#include "tapestry/progress.hpp"

using namespace tapestry;

namespace {

constexpr std::uint64_t seeds = 10;
constexpr double idle_below = 0.05;  // a layer is idle if made uniform it costs less, in nats
constexpr std::array tasks = {TaskKind::copy, TaskKind::reverse, TaskKind::sort,
                              TaskKind::induction};
const Vocabulary vocabulary(Grammar().words());

using Numbers = std::vector<double>;  // one of each seed

// Mean (least to most).
void print(const char* name, const Numbers& numbers, int decimals) {
  double sum = 0;
  for (const double one : numbers) sum += one;
  const auto [least, most] = std::minmax_element(numbers.begin(), numbers.end());
  std::printf("%s %.*f (%.*f to %.*f)", name, decimals, sum / double(numbers.size()), decimals,
              *least, decimals, *most);
}

// What is measured of the ten models of one kind.
struct Measured {
  std::vector<LayerControl> control;
  std::vector<Numbers> share;  // of each layer: mean of its heads, as a share of uniform attention
  Numbers loss, distance;      // distance: mean of all heads, in words
};

// What is above, of one more model.
void add(Measured& measured, const std::vector<Looks>& looks) {
  measured.share.resize(looks.size());
  double sum = 0;
  for (std::size_t layer = 0; layer < looks.size(); ++layer) {
    measured.share[layer].push_back(spread(looks[layer].share).mean);
    sum += spread(looks[layer].distance).mean;
  }
  measured.distance.push_back(sum / double(looks.size()));
}

Measured hidden_words(Index layers, bool causal, Progress& progress) {
  Random for_loss(77), for_looks(78);
  const auto texts = [](Index rows, Random& random) {
    return hidden_word_rows(vocabulary, hidden_word_sentences, rows, random);  // (rows, 18)
  };
  const Batch test = texts(500, for_loss), seen = texts(200, for_looks);
  Measured measured;
  measured.control.resize(static_cast<std::size_t>(layers));
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const Transformer model = hidden_word_model(vocabulary, layers, causal, seed);
    learn_hidden_words(model, vocabulary, seed);
    add(measured, look(model, seen.inputs));
    const double own = loss_on(model, test);
    measured.loss.push_back(own);
    for (Index layer = 0; layer < layers; ++layer) {
      LayerControl& control = measured.control[static_cast<std::size_t>(layer)];
      control.uniform.push_back(loss_with_uniform(model, test, layer) - own);
      control.cut.push_back(loss_without(model, test, layer) - own);
    }
    progress.step();
  }
  return measured;
}

Measured solved(TaskKind kind, Progress& progress) {
  const TinyTask task(kind, {.longest = 6}), longest(kind, {.shortest = 6, .longest = 6});
  Random random(42);
  const Indices texts = longest.batch(Part::held_out, 200, random).inputs;  // (200, places)
  const Index steps = kind == TaskKind::sort || kind == TaskKind::induction ? 1000 : 300;
  Measured measured;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    add(measured, look(trained_on(task, init::lecun_normal, seed, steps, ""), texts));
    progress.step();
  }
  return measured;
}

double without_minus(double rise) { return std::abs(rise) < 0.005 ? 0 : rise; }  // no "-0.00"

// A line for each layer.
void print_control(const Measured& measured) {
  for (std::size_t layer = 0; layer < measured.control.size(); ++layer) {
    const auto& [uniform, cut] = measured.control[layer];
    std::printf("layer %zu ", layer);
    for (const double rise : uniform) std::printf(" %5.2f", without_minus(rise));
    const auto idle =
        std::count_if(uniform.begin(), uniform.end(), [](double x) { return x < idle_below; });
    const auto [least, most] = std::minmax_element(cut.begin(), cut.end());
    std::printf("   idle in %2d   cut: %.2f to %.2f\n", static_cast<int>(idle),
                without_minus(*least), without_minus(*most));
  }
}

// In how many models each layer looks farther than the one before it, as a share of uniform
// attention.
void print_shares(const char* name, const Measured& measured) {
  std::printf("%-19s", name);
  int rises = 0;
  for (std::size_t seed = 0; seed < seeds; ++seed) {
    bool always = true;
    for (std::size_t layer = 1; layer < measured.share.size(); ++layer) {
      always = always && measured.share[layer][seed] > measured.share[layer - 1][seed];
    }
    rises += always;
  }
  for (const Numbers& share : measured.share) print("  ", share, 2);
  std::printf("   rises in %d\n", rises);
}

void print_mask(const Measured& open, const Measured& causal) {
  Numbers shorter, farther;
  for (std::size_t seed = 0; seed < seeds; ++seed) {
    shorter.push_back(100 * (1 - causal.distance[seed] / open.distance[seed]));
    farther.push_back(causal.share[0][seed] - open.share[0][seed]);
  }
  print("  mean distance shorter, in %:", shorter, 0);
  print("\n  share of layer 0 larger by:", farther, 2);
  const auto more = std::count_if(farther.begin(), farther.end(), [](double x) { return x > 0; });
  std::printf("; in %d of ten\n", static_cast<int>(more));
}

}  // namespace

int main() try {
  Progress progress("training", static_cast<Index>((4 + tasks.size()) * seeds), "models");
  std::vector<Measured> measured;
  std::printf(
      "How much the loss rises when one layer is made uniform, ten seeds; and when it is cut\n");
  for (const Index layers : {2, 3}) {
    for (const bool causal : {false, true}) {
      measured.push_back(hidden_words(layers, causal, progress));
      std::printf("%d layers, %s: ", int(layers), causal ? "causal" : "no mask");
      print("loss on new texts", measured.back().loss, 2);
      std::printf("\n");
      print_control(measured.back());
    }
  }
  std::printf("\nDistance as a share of uniform attention, by layer: mean (least to most)\n");
  print_shares("2 layers, no mask", measured[0]);
  print_shares("2 layers, causal", measured[1]);
  print_shares("3 layers, no mask", measured[2]);
  print_shares("3 layers, causal", measured[3]);
  for (const TaskKind kind : tasks) print_shares(to_string(kind).c_str(), solved(kind, progress));
  std::printf("\nThe causal mask makes in models of three layers\n");
  print_mask(measured[2], measured[3]);
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
