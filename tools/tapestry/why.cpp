// `tapestry why`: all the arithmetic of one attention weight, recomputed from the queries, keys and
// values of the model, and compared with the model's weight.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "commands.hpp"
#include "model_file.hpp"
#include "screen.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/unicode.hpp"

namespace tapestry::command {
namespace {

// At most 20 columns of a word.
std::string short_word(const std::string& word) {
  const std::string part = left(word, 20);
  return part.substr(0, part.find_last_not_of(' ') + 1);
}

// The tensors of one head.
struct Cell {
  const ModelFile& file;
  const Words& words;
  Index layer, head, query, key;
  Tensor q, k, v;                  // (length, width)
  Tensor scores, weights, output;  // (length, length) twice, (length, width)

  Index length() const { return q.size(0); }
  Index width() const { return q.size(1); }
  bool sees(Index other) const { return !file.model.options().is_causal || other <= query; }
  std::string word(Index place) const { return short_word(words[static_cast<std::size_t>(place)]); }
  std::string at(Index place) const { return word(place) + "@" + std::to_string(place); }
};

std::string all_places(const Words& words, const std::string& name) {
  std::string places;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] != name) continue;
    places += (places.empty() ? "" : ", ") + name + "@" + std::to_string(i);
  }
  return places;
}

// "sat", "the@4" or "4" -> the position in the text. `what` is --query or --key. A number that is a
// word of the vocabulary means that word, not a position.
Index place_of(const char* what, const Words& words, const Vocabulary& vocabulary,
               const std::string& given) {
  const std::string asked = printable(given);
  const auto count = std::count(words.begin(), words.end(), asked);
  if (count == 1) return std::find(words.begin(), words.end(), asked) - words.begin();
  const std::string start = std::string(what) + " " + in_quotes(asked);
  if (count > 1) {
    throw Error(start + " is at several positions; name one: " + all_places(words, asked) + ".");
  }
  const std::size_t at = asked.rfind('@');
  const std::string name = at == std::string::npos ? "" : asked.substr(0, at);
  const std::string digits = at == std::string::npos ? asked : asked.substr(at + 1);
  Index place = -1;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), place);
  const bool number = problem == std::errc() && end == digits.data() + digits.size();
  const bool inside = number && place >= 0 && place < static_cast<Index>(words.size());
  const bool bare = at == std::string::npos, word = bare && vocabulary.contains(given);
  if (inside && !word && (bare || words[static_cast<std::size_t>(place)] == name)) return place;
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    text += (i > 0 ? " " : "") + words[i] + "@" + std::to_string(i);
  }
  throw Error(start + " is not in the text, which is: " + text + ".");
}

double number(const Tensor& x, Index row, Index column) { return double{x.at({row, column})}; }

double product(const Cell& c) {
  print("1. The product of query and key, %lld numbers each\n\n",
        static_cast<long long>(c.width()));
  print("      i   q_i of %s   k_i of %s       q_i k_i\n", left(c.word(c.query), 10).c_str(),
        left(c.word(c.key), 10).c_str());
  double sum = 0;
  for (Index i = 0; i < c.width(); ++i) {
    const double q = number(c.q, c.query, i), k = number(c.k, c.key, i);
    sum += q * k;
    print("  %5lld   %17.4f   %17.4f   %11.4f\n", static_cast<long long>(i), q, k, q * k);
  }
  print("    sum   %17s   %17s   %11.4f = q · k\n\n", "", "", sum);
  return sum;
}

void scale_and_mask(const Cell& c, double dot) {
  const double root = std::sqrt(static_cast<double>(c.width()));
  print("2. Scale: %.4f / √%lld = %.4f, the score (the model's: %.4f)\n\n", dot,
        static_cast<long long>(c.width()), dot / root, number(c.scores, c.query, c.key));
  const bool causal = c.file.model.options().is_causal;
  print("3. Mask: %s\n\n", !causal ? "none; an encoder sees all words"
                           : c.sees(c.key)
                               ? "allowed; a decoder sees earlier words and the word itself"
                               : "masked; a decoder does not see later words. The weight is 0");
}

void softmax_row(const Cell& c) {
  print("4. Softmax over all keys that %s may see\n\n", c.word(c.query).c_str());
  print("  key                  score   exp(score - max)    weight   the model's\n");
  double highest = -HUGE_VAL, sum = 0;
  const double root = std::sqrt(static_cast<double>(c.width()));
  std::vector<double> scores;
  for (Index key = 0; key < c.length(); ++key) {
    double dot = 0;
    for (Index i = 0; i < c.width(); ++i) dot += number(c.q, c.query, i) * number(c.k, key, i);
    scores.push_back(dot / root);
    if (c.sees(key)) highest = std::max(highest, scores.back());
  }
  for (Index key = 0; key < c.length(); ++key) {
    if (c.sees(key)) sum += std::exp(scores[static_cast<std::size_t>(key)] - highest);
  }
  for (Index key = 0; key < c.length(); ++key) {
    const double score = scores[static_cast<std::size_t>(key)];
    const double up = c.sees(key) ? std::exp(score - highest) : 0;
    print("%s %s %9.4f   %16s  %8.4f      %8.4f\n", key == c.key ? ">" : " ",
          left(c.at(key), 14).c_str(), score, c.sees(key) ? std::to_string(up).c_str() : "masked",
          up / sum, number(c.weights, c.query, key));
  }
  print("  %-24s   %16.6f  %8.4f\n\n", "sum", sum, 1.0);
}

double norm(const Tensor& x) {
  double sum = 0;
  for (const real value : x.values()) sum += double{value} * double{value};
  return std::sqrt(sum);
}

Tensor row(const Tensor& x, Index place) { return squeeze(slice(x, 0, place, place + 1), 0); }

void value(const Cell& c) {
  const double weight = number(c.weights, c.query, c.key);
  print("5. What the value of %s adds to the output of %s: weight × v\n\n", c.word(c.key).c_str(),
        c.word(c.query).c_str());
  print("      i          v_i    %.4f v_i   sum of all keys\n", weight);
  for (Index i = 0; i < c.v.size(1); ++i) {
    const double v = number(c.v, c.key, i);
    print("  %5lld   %10.4f   %11.4f       %11.4f\n", static_cast<long long>(i), v, weight * v,
          number(c.output, c.query, i));
  }
  const Tensor added = row(c.v, c.key) * weight;
  print(" length   %10.4f   %11.4f       %11.4f\n\n", norm(row(c.v, c.key)), norm(added),
        norm(row(c.output, c.query)));
}

// The head's rows of W_O add that to the residual stream, which all later layers read. A single
// head has no residual stream.
void output(const Cell& c, const Capture& seen) {
  const Tensor added = row(c.v, c.key) * number(c.weights, c.query, c.key);
  const SingleHeadAttention head = c.file.model.attention(c.layer).head(c.head);
  const Tensor through = squeeze(head.output(unsqueeze(added, 0)), 0);
  const bool alone = c.file.model.is_one_head();
  const std::string block = "blocks." + std::to_string(c.layer - (alone ? 0 : 1));
  const Tensor beside = alone          ? squeeze(seen[block + ".attention.output"], 0)
                        : c.layer == 0 ? seen["embedding"]
                                       : seen[block + ".output"];
  print("6. W_O turns that into %lld numbers, which %s %s:\n", (long long)through.size(0),
        alone ? "are a part of the prediction at" : "are added to the residual stream at",
        c.word(c.query).c_str());
  print("   length %.4f, beside %.4f of %s\n\n", norm(through), norm(row(beside, c.query)),
        alone ? "all keys together" : "the stream before this layer");
}

}  // namespace

void why(const WhyOptions& options) {
  const ModelFile file = read_model(options.checkpoint);
  check_layer(file, options.layer);
  check_head(file, options.head);
  const Reading reading = read_text_for(file, options.text);
  const Index query = place_of("--query", reading.labels, file.vocabulary, options.query);
  const Index key = place_of("--key", reading.labels, file.vocabulary, options.key);
  const Capture seen;
  file.model(reading.ids, {.need_weights = true});
  const auto part = [&](const char* name) {
    const std::string full = "blocks." + std::to_string(options.layer) + ".attention." + name;
    return of_head(seen[full], options.head);
  };
  const Cell cell{
      file,          reading.labels, options.layer, options.head,   query,           key,
      part("query"), part("key"),    part("value"), part("scores"), part("weights"), part("heads")};
  print("%s\n", folded("text: " + reading.text, 6).c_str());
  print("layer %lld, head %lld: the attention of %s to %s\n\n", (long long)options.layer,
        (long long)options.head, cell.at(query).c_str(), cell.at(key).c_str());
  scale_and_mask(cell, product(cell));
  softmax_row(cell);
  value(cell);
  output(cell, seen);
  print("The weight of %s on %s is %.4f.\n", cell.at(query).c_str(), cell.at(key).c_str(),
        number(cell.weights, query, key));
}

}  // namespace tapestry::command
