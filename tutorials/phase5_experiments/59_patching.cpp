// Step 59. Which head carries the answer, and at which word?
//
// New here: activation patching. Two sentences differ in one word, and so in what may end them:
// "the cat chased a small" (an insect), "the cat chewed a small" (a toy). While the model reads the
// second, one head's output at one word is replaced by what it was in the first. How much of the
// first sentence's answer comes back? Beside that the map of weights, and a control: the same
// patch from a third sentence, whose word there speaks for neither answer.
// Reads the model of step 43; writes out/plots/phase5_patching.png; takes about 2 seconds.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "course/grammar.hpp"
#include "tapestry/analysis/evidence.hpp"
#include "tapestry/analysis/faithfulness.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/error.hpp"
#include "tapestry/io/transformer_file.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/pictures.hpp"
#include "tapestry/plot/heatmap.hpp"
#include "tapestry/plot/png.hpp"

using namespace tapestry;

namespace {

constexpr int pairs = 200;
constexpr Index length = 6;  // <bos> and five words; the sixth is asked for
const Grammar grammar;
const Vocabulary vocabulary(grammar.words());

using Options = std::map<std::string, double>;  // what may come next, and how probable it is

struct Pairs {
  std::string name;
  Index changed;  // the place of the word that differs; <bos> is 0
  std::vector<Words> clean, corrupted, third, same_word;  // the last two: controls
  Tensor direction;  // (pairs, vocabulary): what clean makes probable minus what corrupted does
};

bool disjoint(const Options& a, const Options& b) {
  return std::none_of(a.begin(), a.end(), [&](const auto& one) { return b.contains(one.first); });
}

Words five_words(Role role, Random& random) {
  Sentence sentence = grammar.sentence(random);
  while (sentence.links[2].role != role) sentence = grammar.sentence(random);
  sentence.words.pop_back();
  return sentence.words;
}

// Another word in that place after which the sentence ends otherwise; empty if there is none.
Words with_other_word(const Words& clean, std::size_t place, Random& random) {
  std::vector<Words> found;
  const Words before(clean.begin(), clean.begin() + static_cast<std::ptrdiff_t>(place));
  for (const auto& [word, probability] : grammar.next_word(before)) {
    Words other = clean;
    other[place] = word;
    const Options options = grammar.next_word(other);
    if (!options.empty() && disjoint(options, grammar.next_word(clean))) found.push_back(other);
  }
  if (found.empty()) return {};
  return found[static_cast<std::size_t>(random.randint(static_cast<Index>(found.size())))];
}

Pairs draw_pairs(const std::string& name, Role role, Index changed) {
  Pairs result{name, changed, {}, {}, {}, {}, Tensor::zeros({pairs, vocabulary.size()})};
  Random random(11), more(12);
  const auto place = static_cast<std::size_t>(changed - 1);
  while (result.clean.size() < pairs) {
    const Words clean = five_words(role, random);
    const Words corrupted = with_other_word(clean, place, random);
    if (corrupted.empty()) continue;
    const Options right = grammar.next_word(clean), wrong = grammar.next_word(corrupted);
    Words other = five_words(role, random), third = clean;
    const auto related = [&](const Options& to) { return !disjoint(to, grammar.next_word(other)); };
    while (related(right) || related(wrong)) other = five_words(role, random);
    // Controls: a third word (a verb with its subject), and the corrupted one's among other words.
    for (auto i = role == Role::verb_object ? 0 : place; i <= place; ++i) third[i] = other[i];
    Words same_word = five_words(role, more);
    while (same_word[place] != corrupted[place]) same_word = five_words(role, more);
    const auto row = static_cast<Index>(result.clean.size());
    for (const auto& [word, p] : right) result.direction.set({row, vocabulary.id(word)}, p);
    for (const auto& [word, p] : wrong) result.direction.set({row, vocabulary.id(word)}, -p);
    result.clean.push_back(clean);
    result.corrupted.push_back(corrupted);
    result.third.push_back(third);
    result.same_word.push_back(same_word);
  }
  return result;
}

Indices read(const std::vector<Words>& texts) { return next_word_batch(vocabulary, texts).inputs; }

// The logit difference of each pair: how far the words that may end the clean sentence are above
// those that may end the corrupted one.
Tensor difference(const Transformer& model, const Indices& ids, const Pairs& list) {
  const Tensor last =
      squeeze(slice(model(ids, {}, {.need_weights = true}), 1, length - 1, length), 1);
  return sum(last * list.direction, -1);  // (pairs)
}

// What is measured of one list of pairs.
class Patching {
 public:
  Patching(const Transformer& model, const Pairs& list)
      : model_(model),
        list_(list),
        corrupted_(difference(model, read(list.corrupted), list)),
        gap_(difference(model, read(list.clean), list) - corrupted_) {}

  double gap() const { return double{mean(gap_).item()}; }

  // Where `cells` is 1, what stands under `name` comes from `source`: the share of the gap that is
  // restored, of each pair. cells broadcasts to what is filed.
  Tensor restored(const std::string& name, const Tensor& cells,
                  const std::vector<Words>& source) const {
    Capture seen;
    model_(read(source), {}, {.need_weights = true});
    const Tensor from = seen[name];  // (pairs, ...)
    seen.replace(name, [&](const Tensor& to) { return where(cells, from, to); });
    return (difference(model_, read(list_.corrupted), list_) - corrupted_) / gap_;  // (pairs)
  }

 private:
  const Transformer& model_;
  const Pairs& list_;
  Tensor corrupted_, gap_;  // (pairs) each
};

// The two places where a layer can be patched head by head, and where its weights are filed.
const Words layer_heads = {"blocks.0.attention.heads", "blocks.1.attention.heads"};
const Words layer_weights = {"blocks.0.attention.weights", "blocks.1.attention.weights"};
// What the model has made of a word so far, as a whole: before, within and after each layer.
const Words places = {"embedding", "blocks.0.middle", "blocks.0.output", "blocks.1.middle",
                      "blocks.1.output"};
const Words place_names = {"embedding", "layer 0, attention", "layer 0, whole",
                           "layer 1, attention", "layer 1, whole"};
constexpr Index heads = 4, all_heads = -1;

// 1 for one head, or all of them, at one position.
Tensor cell(Index head, Index position) {
  Tensor result = Tensor::zeros({heads, length, 1});  // (heads, length, 1)
  for (Index h = 0; h < heads; ++h) {
    if (head == all_heads || h == head) result.set({h, position, 0}, 1);
  }
  return result;
}

double mean_of(const Tensor& shares) { return double{mean(shares).item()}; }

// As a number to print: what would be -0.00 is 0.00.
double shown(double value) { return std::abs(value) < 0.005 ? 0 : value; }

struct Findings {
  Tensor by_place;   // (places, length): restored
  Tensor by_head;    // (all heads, length): restored
  Tensor deviation;  // (all heads): of the last column of by_head, over the pairs
  Tensor third;      // (all heads): that column, patched from sentences with a third word
  Tensor weights;    // (all heads, length): those of the last word
};

Findings findings(const Transformer& model, const Patching& patching, const Pairs& list) {
  const Index all = 2 * heads, last = length - 1, count = static_cast<Index>(places.size());
  Findings f{Tensor::zeros({count, length}), Tensor::zeros({all, length}), Tensor::zeros({all}),
             Tensor::zeros({all}), Tensor()};
  for (Index at = 0; at < length; ++at) {
    for (Index place = 0; place < count; ++place) {
      const Tensor one = squeeze(slice(cell(0, at), 0, 0, 1), 0);  // (length, 1)
      const std::string& name = places[static_cast<std::size_t>(place)];
      f.by_place.set({place, at}, mean_of(patching.restored(name, one, list.clean)));
    }
    for (Index i = 0; i < all; ++i) {
      const std::string& name = layer_heads[static_cast<std::size_t>(i / heads)];
      const Tensor shares = patching.restored(name, cell(i % heads, at), list.clean);  // (pairs)
      f.by_head.set({i, at}, mean_of(shares));
      if (at < last) continue;
      f.deviation.set({i}, spread(shares).deviation);
      f.third.set({i}, mean_of(patching.restored(name, cell(i % heads, at), list.third)));
    }
  }
  const Capture seen;
  model(read(list.clean), {}, {.need_weights = true});
  const Tensor weights = concat({seen[layer_weights[0]], seen[layer_weights[1]]}, 1);
  f.weights = squeeze(slice(mean(weights, 0), 1, last, length), 1);  // (all, length)
  return f;
}

std::string head_name(Index i) {
  return std::to_string(i / heads) + "." + std::to_string(i % heads);
}

void print_places(const Findings& f, const Pairs& list) {
  std::printf("restored, by place      <bos>");
  for (const std::string& word : list.clean.front()) std::printf(" %8s", word.c_str());
  std::printf("\n");
  for (Index place = 0; place < f.by_place.size(0); ++place) {
    std::printf("%-20s", place_names[static_cast<std::size_t>(place)].c_str());
    for (Index at = 0; at < length; ++at)
      std::printf(" %8.2f", shown(double{f.by_place.at({place, at})}));
    std::printf("\n");
  }
}

void print_heads(const Findings& f, const Pairs& list) {
  std::printf("head   restored at the last word   elsewhere at most   third word   weight\n");
  for (Index i = 0; i < f.by_head.size(0); ++i) {
    double elsewhere = 0;
    for (Index at = 0; at < length - 1; ++at)
      elsewhere = std::max(elsewhere, std::abs(double{f.by_head.at({i, at})}));
    std::printf("%s %18.2f +- %.2f %19.2f %12.2f %8.2f\n", head_name(i).c_str(),
                shown(double{f.by_head.at({i, length - 1})}), double{f.deviation.at({i})},
                elsewhere, shown(double{f.third.at({i})}), double{f.weights.at({i, list.changed})});
  }
}

// All heads of a layer at once; and whether the weights put heads in the order of what they carry.
void print_together(const Findings& f, const Patching& patching, const Pairs& list) {
  const Tensor carried = squeeze(slice(f.by_head, 1, length - 1, length), 1);             // (8)
  const Tensor looked = squeeze(slice(f.weights, 1, list.changed, list.changed + 1), 1);  // (8)
  for (Index layer = 0; layer < 2; ++layer) {
    const auto from = [&](const std::vector<Words>& source) {
      const std::string& name = layer_heads[static_cast<std::size_t>(layer)];
      return shown(mean_of(patching.restored(name, cell(all_heads, length - 1), source)));
    };
    std::printf(
        "layer %d, all heads %.2f, added one by one %.2f; third word %.2f, same word %.2f\n",
        static_cast<int>(layer), from(list.clean),
        double{sum(slice(carried, 0, layer * heads, (layer + 1) * heads)).item()}, from(list.third),
        from(list.same_word));
  }
  std::printf("rank agreement of weight and restored share, over heads: %.2f\n",
              double{rank_agreement(unsqueeze(carried, 0), unsqueeze(looked, 0)).item()});
}

plot::Heatmap heatmap(const Tensor& values, const Words& rows, const Pairs& list,
                      const std::string& title, const std::string& subtitle) {
  Words columns = {"<bos>"};
  columns.insert(columns.end(), list.clean.front().begin(), list.clean.front().end());
  columns[static_cast<std::size_t>(list.changed)] += "*";
  plot::Heatmap map = attention_heatmap(values, rows, columns, title);
  for (double& value : map.values) value = shown(value);
  map.subtitle = subtitle;
  map.row_axis = "";
  map.column_axis = "*: the word that differs";
  map.colour_bar = false;
  return map;
}

void draw(plot::Canvas& canvas, plot::Rect area, const Findings& f, const Pairs& list) {
  Words names;
  for (Index i = 0; i < 2 * heads; ++i) names.push_back(head_name(i));
  const std::vector<plot::Rect> areas = plot::panels(area, 1, 3);
  plot::draw(canvas, areas[0],
             heatmap(f.by_place, place_names, list, "Another " + list.name + ": restored",
                     "by all that was made of one word so far"));
  plot::draw(canvas, areas[1],
             heatmap(f.by_head, names, list, "Restored by one head",
                     "layer.head, its output at one word"));
  plot::draw(canvas, areas[2],
             heatmap(f.weights, names, list, "Weights of the last word",
                     "where each head looks, mean of the pairs"));
}

}  // namespace

int main() try {
  std::printf("Step 59: patching (takes about 2 seconds)\n");
  const Transformer model = read_transformer("out/checkpoints/causal_model.safetensors",
                                             "step 43 trains and saves it. Type: make run-43");
  Random random(1);
  const Transformer untrained(model.options, random);
  plot::Canvas canvas(1720, 1000, 1);
  const std::vector<plot::Rect> rows = plot::panels(canvas.area().inset(16), 2, 1);
  const Pairs lists[] = {draw_pairs("verb", Role::verb_object, 3),
                         draw_pairs("preposition", Role::preposition_place, 4)};
  for (std::size_t i = 0; i < 2; ++i) {
    const Pairs& list = lists[i];
    const Patching patching(model, list);
    std::printf("\n%zu. Another %s: %d pairs, the first \"%s\" / \"%s\"\n", i + 1,
                list.name.c_str(), pairs, Sentence{list.clean.front(), {}}.text().c_str(),
                Sentence{list.corrupted.front(), {}}.text().c_str());
    std::printf("logit difference, clean minus corrupted: %.1f; untrained model: %.1f\n",
                patching.gap(), Patching(untrained, list).gap());
    const Findings f = findings(model, patching, list);
    print_places(f, list);
    print_heads(f, list);
    print_together(f, patching, list);
    draw(canvas, rows[i], f, list);
  }
  plot::write_png(canvas, "out/plots/phase5_patching.png");
  std::printf("\nwrote out/plots/phase5_patching.png\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
