#include "heads.hpp"

#include <cmath>

#include "measures.hpp"
#include "screen.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/pictures.hpp"
#include "tapestry/plot/ascii.hpp"

namespace tapestry::command {
namespace {

std::string pattern_text(const Evidence& one) {
  return to_string(one.pattern) + (one.offset == 0 ? "" : " " + std::to_string(one.offset));
}

void print_score(const std::string& name, const Evidence& one) {
  print("%s %5s  %s  %s  %s", left(name, 22).c_str(), score_text(one.score).c_str(),
        left(score_text(one.untrained), 10).c_str(), left(score_text(one.shuffled), 10).c_str(),
        std::isnan(one.uniform) ? "   -" : score_text({one.uniform, 0, 1}).c_str());
}

// The pattern that was asked for, or else the one that the name is about; of a head without a name
// the one that comes closest.
const Evidence& shown_pattern(const std::vector<Evidence>& scores, const std::string& name,
                              const std::string& asked) {
  for (const Evidence& one : scores) {
    if (to_string(one.pattern) == asked) return one;
    if (!asked.empty()) continue;
    const bool by_place = name == "by place" && one.pattern == Pattern::induction;
    if (by_place || name == pattern_text(one)) return one;
  }
  return best_pattern(scores);
}

// "cat 0.31, dog 0.22, ...": the five likeliest by logits (length, vocabulary) at a position.
std::string likeliest(const Subject& subject, const Tensor& logits, Index place) {
  const Tensor shares = softmax(squeeze(slice(logits, 0, place, place + 1), 0));
  std::string text;
  for (const Link& link : strongest_links(unsqueeze(shares, 0), 5, false)) {
    text += (text.empty() ? "" : ", ") + subject.word(static_cast<std::int32_t>(link.key)) +
            formatted(" %.2f", link.weight);
  }
  return text;
}

}  // namespace

std::vector<Head> heads_of(const Subject& subject, const Capture& seen, Index layer, Index head) {
  const TransformerOptions& o = subject.model.options();
  constexpr Index most = 64;  // shown in one picture
  if ((layer < 0 && o.num_layers > most) || (head < 0 && o.num_heads > most)) {
    throw Error(subject.description +
                ": too many for one picture; choose with --layer and --head.");
  }
  std::vector<Head> heads;
  for (Index l = layer < 0 ? 0 : layer; l < (layer < 0 ? o.num_layers : layer + 1); ++l) {
    const Tensor all = seen["blocks." + std::to_string(l) + ".attention.weights"];
    const Mask mask = mask_of(subject.model.attention(l));
    for (Index h = head < 0 ? 0 : head; h < (head < 0 ? o.num_heads : head + 1); ++h) {
      heads.push_back({l, h, of_head(all, h).contiguous(), mask});
    }
  }
  return heads;
}

std::string score_text(const Spread& s) {
  if (s.count == 0) return "-";  // no row counts for the pattern
  if (s.count == 1) return formatted("%.2f", s.mean);
  return formatted("%.2f ±%.2f", s.mean, s.deviation);
}

void print_detectors(const Detected& found, const std::vector<Head>& heads, const Cuts& cuts,
                     const std::string& asked) {
  const bool several = heads.size() > 1, has_cuts = several && !cuts.word.empty();
  if (several && !asked.empty()) {
    print("scores of the pattern \"%s\", and the name of each head\n", asked.c_str());
  }
  print("layer head   %s  text  untrained   shuffled    even%s\n",
        left(several ? asked.empty() ? "name (best pattern)" : "name" : "pattern", 22).c_str(),
        has_cuts ? "     cut" : "");
  for (const Head& head : heads) {
    const auto layer = std::size_t(head.layer), number = std::size_t(head.number);
    const std::vector<Evidence>& scores = found[layer][number];
    const std::string name = head_name(scores);
    for (const Evidence& one : scores) {
      if (several && &one != &shown_pattern(scores, name, asked)) continue;
      const std::string text = pattern_text(one);
      print("%5zu %4zu   ", layer, number);
      const bool both = several && asked.empty() && name != text;
      print_score(both ? name + " (" + text + ")" : several ? name : text, one);
      print("%s\n",
            has_cuts
                ? formatted("  %6.2f", double{cuts.heads.at({head.layer, head.number})}).c_str()
                : "");
    }
  }
  print("\n");
}

void print_legend(int baselines) {
  print("%s\n\n",
        folded(formatted("Scores from 0 to 1. untrained: %d models of this size with random "
                         "weights. shuffled: this model, the first words in %d random orders. "
                         "even: equal weights. A name takes one half, and %.1f above untrained and "
                         "even; else \"none\". One text is little evidence: see `make run-33`.",
                         baselines, baselines, naming_margin),
               0)
            .c_str());
}

void print_map(const Head& head, const Words& words) {
  print("%s: each row a query, each column a key\n%s\n", head.name().c_str(),
        plot::matrix_with_words(doubles(head.weights), words, words).c_str());
}

void print_guesses(const Subject& subject, const Reading& reading, const Tensor& logits) {
  const Index length = reading.ids.shape[0];
  const Guess guess = subject.guess;
  for (Index place = 0; place < length; ++place) {
    const bool hidden =
        guess == Guess::hidden_word && reading.ids.values[std::size_t(place)] == Vocabulary::mask;
    const bool next = guess == Guess::next_word && place + 1 == length;
    if (!hidden && !next) continue;
    const std::string what = next ? "next: " : "<mask>@" + std::to_string(place) + ": ";
    print("%s\n\n", folded(what + likeliest(subject, logits, place), 7).c_str());
  }
}

}  // namespace tapestry::command
