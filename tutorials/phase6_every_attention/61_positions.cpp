// Step 61. What happens beyond the length that a model was trained on?
//
// New here: six ways to tell positions are trained on texts of 16 words and tested on up to 64, on
// two tasks (course/beyond_length.hpp): one asks for a distance, the other for what is nearest.
// Beside them stands what can be had without order (step 57). At the end three schemes are asked
// again: what harms beyond 16 words?
// Writes out/plots/phase6_positions.png; takes about 15 seconds.
#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "course/beyond_length.hpp"
#include "course/position_pictures.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/pictures.hpp"
#include "tapestry/plot/png.hpp"

using namespace tapestry;
using namespace tapestry::beyond_length;

namespace {

constexpr Index width = 32, seeds = 3, steps = 300;

// One for each seed.
std::vector<Transformer> train_all(Task task, Positions positions) {
  std::vector<Transformer> models;
  for (Index seed = 0; seed < seeds; ++seed) {
    models.push_back(trained_model(task, positions, seed, steps));
  }
  return models;
}

// Shares of right answers, one for each seed and length, if words see only what `mask` allows.
Tensor measure(Task task, const std::vector<Transformer>& models, const Mask& mask = {}) {
  Tensor shares = Tensor::zeros({seeds, static_cast<Index>(lengths.size())});  // (seeds, lengths)
  for (Index i = 0; i < shares.size(1); ++i) {
    const Index length = lengths[static_cast<std::size_t>(i)];
    for (Index seed = 0; seed < seeds; ++seed) {
      const Transformer& model = models[static_cast<std::size_t>(seed)];
      shares.set({seed, i}, share_right(model, task, length, mask));
    }
  }
  return shares;
}

// Texts of 16 words have places and distances 0 to 15: rows and buckets above stay untrained.
void zero_untrained(Transformer& model) {
  const auto set = [](Tensor& table, Index first) {
    for (Index row = first; row < table.size(0); ++row) {
      for (Index i = 0; i < table.size(1); ++i) table.set({row, i}, 0);
    }
  };
  if (model.position_embedding) set(model.position_embedding->weight, trained);
  for (TransformerBlock& block : model.blocks) {
    if (!block.attention.relative) continue;
    set(block.attention.relative->table.weight, relative_position_bucket(1 - trained, true) + 1);
  }
}

// Asks trained models again, with something changed. Returns the lines, to be printed later.
std::string with_changes(Task task, Positions positions, std::vector<Transformer>& models) {
  std::string text;
  const auto ask = [&](const NamedMask& seen) {
    text += formatted("%-11s%-23s", schemes[std::size_t(positions)].c_str(), seen.name.c_str());
    for (const double share : doubles(mean(measure(task, models, seen.mask), 0))) {
      text += formatted("  %4.2f", share);
    }
    text += std::string("   ") + task_names[task] + "\n";
  };
  const bool has_table = positions == Positions::learned || positions == Positions::relative;
  const bool has_waves = positions == Positions::rotary || positions == Positions::sinusoidal;
  if (!has_table && !has_waves) return text;
  const std::vector<NamedMask> fewer = masks();
  ask(fewer[0]);
  if (has_table) {
    for (Transformer& model : models) zero_untrained(model);
    ask({"untrained numbers are 0", {}});
  } else if (positions == Positions::rotary) {
    ask(fewer[1]);
    ask(fewer[2]);
  }
  return text;
}

// The best that can be done if one knows which words a place sees, and which is its own, but not
// their order: its own where that is right, else the most frequent of those that can be right.
double best_without_order(Task task, Index length) {
  Random random{1001, static_cast<std::uint64_t>(length)};
  const Texts drawn = texts(task, 2000, length, random);  // (2000, length)
  const std::vector<std::int32_t>& words = drawn.words.values;
  double right = 0, asked = 0;
  for (std::size_t begin = 0; begin < words.size(); begin += std::size_t(length)) {
    std::array<int, letters> count{};
    for (std::size_t i = 0; i < std::size_t(length); ++i) {
      const std::int32_t own = words[begin + i], answer = drawn.answers.values[begin + i];
      if (answer >= 0 && static_cast<Index>(i) >= length - last) {
        const bool says_own = task == latest && own < 4;
        const auto most = std::max_element(count.begin(), count.end()) - count.begin();
        right += answer == (says_own ? own : most);
        asked += 1;
      }
      if (task == three_back || own < 4) ++count[std::size_t(own)];
    }
  }
  return right / asked;
}

void print_shares(const std::string& name, const std::vector<double>& shares) {
  std::printf("%-13s", name.c_str());
  for (const double share : shares) std::printf("  %5.2f", share);
}

// What came out of one task.
struct Outcome {
  plot::LineChart chart;
  std::vector<Index> furthest;  // up to how many words each scheme is right four times of five
  std::string again;            // the lines of with_changes()
};

// Trains all, and prints a table.
Outcome compare(Task task, double chance) {
  Outcome found;
  std::printf("\n%s: share of right answers at the last %d words\n", task_names[task],
              static_cast<int>(last));
  std::printf("%-13s      16     24     32     48     64 words   seeds differ by   0.8 up to\n",
              "");
  std::vector<Tensor> all;  // for each scheme (seeds, lengths)
  for (std::size_t s = 0; s < schemes.size(); ++s) {
    std::vector<Transformer> models = train_all(task, static_cast<Positions>(s));
    const Tensor shares = measure(task, models);                 // (seeds, lengths)
    const std::vector<double> means = doubles(mean(shares, 0));  // (lengths)
    found.again += with_changes(task, static_cast<Positions>(s), models);
    all.push_back(shares);
    std::size_t holds = 0;  // at how many lengths, from the shortest on
    while (holds < lengths.size() && means[holds] >= 0.8) ++holds;
    found.furthest.push_back(holds == 0 ? 0 : lengths[holds - 1]);
    print_shares(schemes[s], means);
    std::printf("             %5.2f         %2d\n",
                double{max(max(shares, 0) - min(shares, 0)).item()}, int(found.furthest.back()));
  }
  std::vector<double> without_order;
  for (const Index length : lengths) without_order.push_back(best_without_order(task, length));
  print_shares("without order", without_order);
  std::printf("\n%-13s  %5.2f\n", "guessing", chance);
  found.chart = shares_chart(std::string("Say ") + task_names[task], all, without_order, chance);
  return found;
}

}  // namespace

int main() try {
  std::printf("Step 61: positions beyond the length of training (takes about 15 seconds)\n\n");
  try {
    Random random(1);
    const Transformer model({.vocab_size = letters, .max_length = trained}, random);
    model(Indices({17}, std::vector<std::int32_t>(17, 0)));
  } catch (const Error& error) {
    std::printf("17 words for a model with 16 learned positions:\n%s\n", error.what());
  }
  const Outcome first = compare(three_back, 1.0 / letters), second = compare(latest, 0.25);
  for (const Index length : {16, 32, 64}) {
    std::string right;
    for (std::size_t i = 0; i < schemes.size(); ++i) {
      if (std::min(first.furthest[i], second.furthest[i]) >= length) right += " " + schemes[i];
    }
    std::printf("ANSWER: 0.8 or more on both tasks up to %d words:%s\n", static_cast<int>(length),
                right.empty() ? " nobody" : right.c_str());
  }
  std::printf("\nThe trained models are asked again, with something changed:\n");
  std::printf("                                      16    24    32    48    64 words\n%s%s",
              first.again.c_str(), second.again.c_str());
  const Tensor p = sinusoidal_positions(65, width);  // (65, width)
  std::map<Index, Tensor> alike;                     // by m: p(m) · p(n) of all n, (65, 1)
  for (const Index m : {0, 20, 50}) alike[m] = matmul(p, transpose(slice(p, 0, m, m + 1)));
  plot::write_png(positions_picture(p, alike, first.chart, second.chart),
                  "out/plots/phase6_positions.png");
  std::printf("\nWrote out/plots/phase6_positions.png\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
