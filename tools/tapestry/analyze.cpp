// `tapestry analyze`: attention weights and patterns of a model on a text.
#include <algorithm>
#include <cmath>

#include "commands.hpp"
#include "detectors.hpp"
#include "measures.hpp"
#include "model_file.hpp"
#include "screen.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/pictures.hpp"
#include "tapestry/plot/ascii.hpp"
#include "tapestry/plot/flow.hpp"
#include "tapestry/plot/heatmap_grid.hpp"
#include "tapestry/plot/svg.hpp"

namespace tapestry::command {
namespace {

struct Head {
  Index layer, number;
  Tensor weights;  // (queries, keys)

  std::string name() const {
    return "layer " + std::to_string(layer) + ", head " + std::to_string(number);
  }
};

std::vector<Head> heads_asked_for(const ModelFile& file, const Capture& seen, Index layer,
                                  Index head) {
  const TransformerOptions& o = file.model.options();
  constexpr Index most = 64;  // shown in one picture
  if ((layer < 0 && o.num_layers > most) || (head < 0 && o.num_heads > most)) {
    throw Error(description(file) + ": too many for one picture; choose with --layer and --head.");
  }
  std::vector<Head> heads;
  for (Index l = layer < 0 ? 0 : layer; l < (layer < 0 ? o.num_layers : layer + 1); ++l) {
    const Tensor all = seen["blocks." + std::to_string(l) + ".attention.weights"];
    for (Index h = head < 0 ? 0 : head; h < (head < 0 ? o.num_heads : head + 1); ++h) {
      heads.push_back({l, h, of_head(all, h).contiguous()});
    }
  }
  return heads;
}

std::string link_text(const Link& link, const Words& words) {
  const auto word = [&](Index place) {
    return words[static_cast<std::size_t>(place)] + "@" + std::to_string(place);
  };
  return word(link.query) + " → " + word(link.key);
}

void print_introduction(const ModelFile& file, const Reading& reading) {
  print("%s\n", folded("model: " + file.path.string(), 7).c_str());
  print("       %s\n", folded(description(file), 7).c_str());
  print("text:  %s\n\n", folded(reading.text, 7).c_str());
}

// One line for each head.
void print_summary(const std::vector<Head>& heads, const Words& words, bool causal) {
  print("             entropy          distance\n");
  print("layer head   (nats)  even   (words)  even   strongest link\n");
  for (const Head& head : heads) {
    const Measures m = measure(head.weights, causal);
    print("%5lld %4lld   %6.2f %5.2f   %7.2f %5.2f   ", (long long)head.layer,
          (long long)head.number, m.entropy, m.even_entropy, m.distance, m.even_distance);
    for (const Link& link : strongest_links(head.weights, 1, causal)) {
      print("%s %4.2f", left(link_text(link, words), 30).c_str(), link.weight);
    }
    print("\n");
  }
  print("\neven: for equal weights. Entropy 0: all weight on one word.\n\n");
}

std::string score_text(const Spread& s) {
  if (s.count == 0) return "-";  // no row counts for the pattern
  if (s.count == 1) return formatted("%.2f", s.mean);
  return formatted("%.2f ±%.2f", s.mean, s.deviation);
}

void print_score(const Evidence& one) {
  std::string pattern = to_string(one.pattern);
  if (one.offset != 0) pattern += " " + std::to_string(one.offset);
  print("%s %9s  %s  %s  %s\n", left(pattern, 17).c_str(), score_text(one.score).c_str(),
        left(score_text(one.untrained), 11).c_str(), left(score_text(one.shuffled), 11).c_str(),
        std::isnan(one.uniform) ? "   -" : score_text({one.uniform, 0, 1}).c_str());
}

// All patterns of one head; of several heads the best one each.
void print_detectors(const Detected& found, const std::vector<Head>& heads) {
  print("patterns     %s this text  untrained    shuffled     uniform\n", left("", 17).c_str());
  for (const Head& head : heads) {
    const auto& scores = found[std::size_t(head.layer)][std::size_t(head.number)];
    for (const Evidence& one : scores) {
      if (heads.size() > 1 && &one != &best_pattern(scores)) continue;
      print("%5lld %4lld   ", (long long)head.layer, (long long)head.number);
      print_score(one);
    }
  }
  std::string legend = "Scores from 0 to 1. untrained: " + std::to_string(baselines) +
                       " models of this size with random weights. shuffled: this model, the "
                       "words in random order. ";
  if (heads.size() > 1) legend += "Of each head the pattern furthest above its baselines. ";
  legend += "One text is no evidence for a head's name: see `make run-33`.";
  print("\n%s\n\n", folded(legend, 0).c_str());
}

void print_map(const Head& head, const Words& words) {
  print("%s: each row a query, each column a key\n%s\n", head.name().c_str(),
        plot::matrix_with_words(doubles(head.weights), words, words).c_str());
}

void print_links(const std::vector<Head>& heads, const Words& words, bool causal) {
  struct Found {
    const Head* head;
    Link link;
  };
  std::vector<Found> all;
  for (const Head& head : heads) {
    for (const Link& link : strongest_links(head.weights, 10, causal)) all.push_back({&head, link});
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Found& a, const Found& b) { return a.link.weight > b.link.weight; });
  print("strongest links (query → key)\n");
  for (std::size_t i = 0; i < std::min<std::size_t>(all.size(), 10); ++i) {
    print("  %s  %4.2f   %s\n", left(link_text(all[i].link, words), 40).c_str(), all[i].link.weight,
          all[i].head->name().c_str());
  }
  print("\n");
}

// "cat 0.31, dog 0.22, ...": the five likeliest by logits (length, vocabulary) at a position.
std::string likeliest(const ModelFile& file, const Tensor& logits, Index place) {
  const Tensor shares = softmax(squeeze(slice(logits, 0, place, place + 1), 0));
  std::string text;
  for (const Link& link : strongest_links(unsqueeze(shares, 0), 5, false)) {
    text += (text.empty() ? "" : ", ") +
            printable(file.vocabulary.word(static_cast<std::int32_t>(link.key))) +
            formatted(" %.2f", link.weight);
  }
  return text;
}

// The model's prediction after the text, or for each <mask>, as it was trained.
void print_guesses(const ModelFile& file, const Reading& reading, const Tensor& logits) {
  const Index length = reading.ids.shape[0];
  const Guess guess = file.feeding.guess;
  for (Index place = 0; place < length; ++place) {
    const bool hidden =
        guess == Guess::hidden_word && reading.ids.values[std::size_t(place)] == Vocabulary::mask;
    const bool next = guess == Guess::next_word && place + 1 == length;
    if (!hidden && !next) continue;
    const std::string what = next ? "next: " : "<mask>@" + std::to_string(place) + ": ";
    print("%s\n\n", folded(what + likeliest(file, logits, place), 7).c_str());
  }
}

Tensor mean_of(const std::vector<Head>& heads) {
  std::vector<Tensor> maps;
  for (const Head& head : heads) maps.push_back(head.weights);
  return mean(stack(maps, 0), 0);
}

// A decoder's query does not see later keys: these cells are crossed out.
plot::Heatmap map_of(const Tensor& weights, const Words& words, bool causal,
                     const std::string& title) {
  plot::Heatmap map = attention_heatmap(weights, words, words, title);
  for (Index i = 0; causal && i < map.rows * map.columns; ++i) {
    map.masked.push_back(i % map.columns > i / map.columns);
  }
  return map;
}

plot::HeatmapGrid grid_of(const std::vector<Head>& heads, const Words& words, bool causal) {
  plot::HeatmapGrid grid;
  grid.title = "Who attends to whom";
  grid.columns = std::count_if(heads.begin(), heads.end(),
                               [&](const Head& head) { return head.layer == heads.front().layer; });
  for (const Head& head : heads) {
    grid.maps.push_back(map_of(head.weights, words, causal, head.name()));
  }
  return grid;
}

// The files that it wrote.
std::vector<Path> write_pictures(const std::vector<Head>& heads, const Words& words, bool causal,
                                 const PictureOptions& options) {
  const std::string title = heads.size() == 1
                                ? heads.front().name()
                                : "mean of " + std::to_string(heads.size()) + " heads";
  const std::vector<Path> files = {options.path("analyze_heatmap"), options.path("analyze_grid"),
                                   options.path("analyze_flow")};
  const Tensor weights = mean_of(heads);
  plot::write_picture(plot::render(map_of(weights, words, causal, title)), files[0]);
  plot::write_picture(plot::render(grid_of(heads, words, causal)), files[1]);
  plot::Flow flow{.queries = words, .keys = words, .weights = doubles(weights)};
  for (double& weight : flow.weights) weight = std::clamp(weight, 0.0, 1.0);  // rounding
  flow.title = title;
  plot::write_picture(plot::render(flow), files[2]);
  return files;
}

}  // namespace

void analyze(const AnalyzeOptions& options) {
  const ModelFile file = read_model(options.checkpoint);
  check_layer(file, std::max<Index>(options.layer, 0));
  check_head(file, std::max<Index>(options.head, 0));
  const Reading reading = read_text_for(file, options.text);
  const Detected detected = detect(file, reading.ids);
  const Capture seen;
  const Tensor logits = file.model(reading.ids, {.need_weights = true});
  const std::vector<Head> heads = heads_asked_for(file, seen, options.layer, options.head);
  const bool causal = file.model.options().is_causal;
  const auto written = write_pictures(heads, reading.labels, causal, options);
  print_introduction(file, reading);
  print_summary(heads, reading.labels, causal);
  print_detectors(detected, heads);
  if (heads.size() == 1) print_map(heads.front(), reading.labels);
  print_links(heads, reading.labels, causal);
  print_guesses(file, reading, logits);
  for (const Path& path : written) print("wrote %s\n", path.c_str());
}

}  // namespace tapestry::command
