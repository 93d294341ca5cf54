// `tapestry why`: all the arithmetic of one attention weight, recomputed from the queries, keys and
// values of the model, and compared with the model's weight.
#include <algorithm>
#include <cmath>

#include "commands.hpp"
#include "screen.hpp"
#include "subject.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/unicode.hpp"

namespace tapestry::command {
namespace {

// At most 20 columns of a word.
std::string short_word(const std::string& word) {
  const std::string part = left(word, 20);
  return part.substr(0, part.find_last_not_of(' ') + 1);
}

double number(const Tensor& x, Index row, Index column) { return double{x.at({row, column})}; }

// The tensors of one head.
struct Cell {
  const Subject& subject;
  const Words& words;
  Index layer, head, query, key;
  Tensor q, k, v;                  // (length, width)
  Tensor scores, weights, output;  // (length, length) twice, (length, width)

  Index length() const { return q.size(0); }
  Index width() const { return q.size(1); }
  const MultiHeadAttention& attention() const { return subject.model.attention(layer); }
  bool sees(Index other) const { return mask_of(attention()).allows(0, query, other); }

  double factor() const {
    return attention().scores.scale.value_or(1 / std::sqrt(static_cast<double>(width())));
  }
  double dot(Index other) const {
    double sum = 0;
    for (Index i = 0; i < width(); ++i) sum += double{q.at({query, i})} * double{k.at({other, i})};
    return sum;
  }
  // What the model adds for the distance of two positions: relative positions, or ALiBi.
  double bias(Index other) const {
    const bool has_bias = attention().positions == Positions::alibi || attention().relative;
    return has_bias && sees(other) ? number(scores, query, other) - capped(other) : 0;
  }
  double score(Index other) const { return capped(other) + bias(other); }
  double capped(Index other) const {
    const double cap = attention().scores.softcap, scaled = dot(other) * factor();
    return cap > 0 ? cap * std::tanh(scaled / cap) : scaled;
  }
  std::string word(Index place) const { return short_word(words[static_cast<std::size_t>(place)]); }
  std::string at(Index place) const { return word(place) + "@" + std::to_string(place); }
};

// A token is called by its letters, with the blank before them or without.
bool is_called(const std::string& word, const std::string& name) {
  return word == name || word == "␣" + name;
}

std::string all_places(const Words& words, const std::string& name) {
  std::string places;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!is_called(words[i], name)) continue;
    places += (places.empty() ? "" : ", ") + words[i] + "@" + std::to_string(i);
  }
  return places;
}

// "sat", "the@4" or "4" -> the position in the text. `what` is --query or --key. A number that is a
// word of the vocabulary means that word, not a position.
Index place_of(const char* what, const Subject& subject, const Words& words,
               const std::string& given) {
  const std::string asked = given.starts_with(' ') && given.size() > 1
                                ? "␣" + printable(given.substr(1))
                                : printable(given);
  const auto is_asked = [&](const std::string& word) { return is_called(word, asked); };
  const auto count = std::count_if(words.begin(), words.end(), is_asked);
  if (count == 1) return std::find_if(words.begin(), words.end(), is_asked) - words.begin();
  const std::string start = std::string(what) + " " + in_quotes(asked);
  if (count > 1) {
    throw Error(start + " is at several positions; name one: " + all_places(words, asked) + ".");
  }
  const std::size_t at = asked.rfind('@');
  const std::string name = at == std::string::npos ? "" : asked.substr(0, at);
  const std::string digits = at == std::string::npos ? asked : asked.substr(at + 1);
  Index place = -1;
  const bool number = read_number(digits, place);
  const bool inside = number && place >= 0 && place < static_cast<Index>(words.size());
  const bool bare = at == std::string::npos,
             word = bare && subject.unit != "tokens" && subject.id(given) >= 0;
  if (inside && !word && (bare || is_called(words[static_cast<std::size_t>(place)], name)))
    return place;
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    text += (i > 0 ? " " : "") + words[i] + "@" + std::to_string(i);
  }
  throw Error(start + " is not in the text, which is: " + text + ".");
}

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

// "/ √16", or "× 0.25".
std::string scaling(const Cell& c) {
  if (c.attention().scores.scale) return formatted("× %.4g", c.factor());
  return "/ √" + std::to_string(c.width());
}

void scale(const Cell& c, double dot) {
  const double cap = c.attention().scores.softcap, bias = c.bias(c.key);
  std::string text = formatted("%.4f %s = %.4f", dot, scaling(c).c_str(), dot * c.factor());
  if (cap > 0)
    text += formatted(", capped: %.4g tanh(it / %.4g) = %.4f", cap, cap, c.capped(c.key));
  if (bias != 0) text += formatted(", plus %.4f for the distance = %.4f", bias, c.score(c.key));
  text += formatted(", the score (the model's: %.4f)", number(c.scores, c.query, c.key));
  print("%s\n\n", folded("2. Scale: " + text, 3).c_str());
}

void mask(const Cell& c) {
  const bool causal = c.subject.model.options().is_causal;
  const Index window = c.attention().window;
  const std::string limit =
      window > 0 ? formatted(" This layer has a window of %lld.", (long long)window) : "";
  if (!c.sees(c.key)) {
    print("%s\n\n", folded(std::string("3. Mask: masked; ") +
                               (causal && c.key > c.query ? "a decoder does not see later words."
                                                          : "the key is outside of the window.") +
                               " The weight is 0." + limit,
                           3)
                        .c_str());
    return;
  }
  print("%s\n\n", folded(std::string("3. Mask: ") +
                             (causal ? "allowed; a decoder sees earlier words and the word itself."
                                     : "none; an encoder sees all words.") +
                             limit,
                         3)
                      .c_str());
}

void softmax_row(const Cell& c) {
  print("4. Softmax over all keys that %s may see\n\n", c.word(c.query).c_str());
  print("  key                  score   exp(score - max)    weight   the model's\n");
  double highest = -HUGE_VAL, sum = 0;
  std::vector<double> scores;
  for (Index key = 0; key < c.length(); ++key) {
    scores.push_back(c.score(key));
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
  const Index first = c.head * c.v.size(1);  // of the head's rows of W_O
  const Tensor rows = slice(c.attention().output.merged(), 0, first, first + c.v.size(1));
  const Tensor through = squeeze(matmul(unsqueeze(added, 0), rows), 0);  // (d_model)
  const bool alone = c.subject.model.is_one_head();
  const std::string block = "blocks." + std::to_string(c.layer - (alone ? 0 : 1));
  const Tensor beside = alone          ? squeeze(seen[block + ".attention.output"], 0)
                        : c.layer == 0 ? seen["embedding"]
                                       : seen[block + ".output"];
  const std::string text =
      formatted("6. W_O turns that into %lld numbers, which %s %s: length %.4f, beside %.4f of %s",
                (long long)through.size(0),
                alone ? "are a part of the prediction at" : "are added to the residual stream at",
                c.word(c.query).c_str(), norm(through), norm(row(beside, c.query)),
                alone ? "all keys together" : "the stream before this layer");
  print("%s\n\n", folded(text, 3).c_str());
}

}  // namespace

void why(const WhyOptions& options) {
  const Subject subject = read_subject(options);
  check_layer(subject, options.layer);
  check_head(subject, options.head);
  const Reading reading = read_text_for(subject, options.text);
  const Index query = place_of("--query", subject, reading.labels, options.query);
  const Index key = place_of("--key", subject, reading.labels, options.key);
  const Capture seen;
  subject.model(reading.ids, {.need_weights = true});
  const auto part = [&](const std::string& name) {
    const Tensor& all = seen["blocks." + std::to_string(options.layer) + ".attention." + name];
    const bool shared = name == "key" || name == "value";  // by some heads
    return of_head(shared ? subject.model.attention(options.layer).by_heads(all) : all,
                   options.head);
  };
  const Cell cell{
      subject,       reading.labels, options.layer, options.head,   query,           key,
      part("query"), part("key"),    part("value"), part("scores"), part("weights"), part("heads")};
  print("%s\n", folded("text: " + reading.text, 6).c_str());
  print("layer %lld, head %lld: the attention of %s to %s\n\n", (long long)options.layer,
        (long long)options.head, cell.at(query).c_str(), cell.at(key).c_str());
  scale(cell, product(cell));
  mask(cell);
  softmax_row(cell);
  value(cell);
  output(cell, seen);
  print("The weight of %s on %s is %.4f.\n", cell.at(query).c_str(), cell.at(key).c_str(),
        number(cell.weights, query, key));
}

}  // namespace tapestry::command
