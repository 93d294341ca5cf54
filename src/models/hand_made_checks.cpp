#include "models/hand_made_checks.hpp"

#include <algorithm>
#include <cmath>

#include "tapestry/error.hpp"
#include "tapestry/format.hpp"

namespace tapestry {
namespace {

constexpr Index most = 64;  // layers, and heads of each

void check_range(const char* name, double value) {
  constexpr double highest = 1000;
  if (value >= 0 && value <= highest) return;
  throw Error("hand-made model: " + std::string(name) + " is " + exact_text(value) +
              ", but must be from 0 to 1000.");
}

void check_numbers(const HandMadeHead& head) {
  for (const Index number : {head.layer, head.head}) {
    if (number >= 0 && number < most) continue;
    throw Error(name_of(head) + ": layers and heads are counted from 0, up to " +
                std::to_string(most - 1) + ".");
  }
}

void check_once(const std::vector<HandMadeHead>& heads, const HandMadeHead& head) {
  const auto same = [&](const HandMadeHead& other) {
    return other.layer == head.layer && other.head == head.head;
  };
  if (std::count_if(heads.begin(), heads.end(), same) == 1) return;
  throw Error(name_of(head) + " is named twice: give one of them another number.");
}

void check_layer_before(const std::vector<HandMadeHead>& heads, const HandMadeHead& head) {
  const auto before = [&](const HandMadeHead& other) { return other.layer == head.layer - 1; };
  if (head.layer == 0 || std::any_of(heads.begin(), heads.end(), before)) return;
  throw Error(name_of(head) + ": layer " + std::to_string(head.layer - 1) +
              " has no head. Number the layers from 0, without gaps.");
}

// Its keys ask for the words before them, which an earlier layer must have written.
void check_composition(const std::vector<HandMadeHead>& heads, const HandMadeHead& head) {
  if (head.phrase != Phrase::what_followed || head.matrices.key.defined()) return;
  const auto writes = [&](const HandMadeHead& other) {
    return other.phrase == Phrase::previous_word && other.layer < head.layer;
  };
  if (std::any_of(heads.begin(), heads.end(), writes)) return;
  const std::string way_out =
      head.layer == 0 ? "Make it 1.0, and add 0.0 'previous word'." : "Add 0.0 'previous word'.";
  throw Error(name_of(head) +
              ": 'what followed the same word' reads what a head 'previous word' of an earlier "
              "layer wrote, and there is none. " +
              way_out);
}

void check_one(const HandMadeHead& head, const char* name, const Tensor& matrix, bool fits,
               const std::string& rule) {
  if (!matrix.defined()) {
    throw Error(name_of(head) + ": its " + name + " is missing: give a phrase, or this matrix.");
  }
  const std::string what = name_of(head) + ": its " + name + " is " + to_string(matrix.shape());
  if (matrix.ndim() != 2 || matrix.numel() == 0 || !fits) {
    throw Error(what + ", but must be " + rule + ".");
  }
  for (const real number : matrix.values()) {
    if (std::isfinite(number)) continue;
    throw Error(what + " and has a number that is " + exact_text(double{number}) +
                ": all must be finite.");
  }
}

}  // namespace

std::string name_of(const HandMadeHead& head) {
  return "hand-made head " + std::to_string(head.layer) + "." + std::to_string(head.head);
}

void check_hand_made(const HandMadeOptions& o) {
  if (o.vocab_size < 1 || o.max_length < 1) {
    throw Error("hand-made model: " + std::to_string(o.vocab_size) + " words and " +
                std::to_string(o.max_length) + " positions, but there must be one of each.");
  }
  check_hand_made_size(o, 1, 1, o.vocab_size);
  check_range("sharpness", o.sharpness);
  check_range("certainty", o.certainty);
  if (o.bos >= -1 && o.bos < o.vocab_size) return;
  throw Error("hand-made model: texts begin with word " + std::to_string(o.bos) +
              ", but the words are 0 to " + std::to_string(o.vocab_size - 1) + ", or -1 for none.");
}

void check_hand_made(const std::vector<HandMadeHead>& heads) {
  if (heads.empty()) {
    throw Error("hand-made model: there are no heads: give one, such as 0.0 'previous word'.");
  }
  for (const HandMadeHead& head : heads) check_numbers(head);
  for (const HandMadeHead& head : heads) check_once(heads, head);
  for (const HandMadeHead& head : heads) check_layer_before(heads, head);
  for (const HandMadeHead& head : heads) check_composition(heads, head);
}

void check_matrices(const HandMadeHead& head, const HandMadeMatrices& m, Index d_model) {
  const auto rows = [&](const Tensor& matrix) {
    return matrix.defined() && matrix.ndim() == 2 && matrix.size(0) == d_model;
  };
  const std::string width = "(" + std::to_string(d_model) + ", k)";
  check_one(head, "query", m.query, rows(m.query), width + ", with a row for each column of x");
  check_one(head, "key", m.key, rows(m.key) && m.key.size(1) == m.query.size(1),
            "like the query, " + to_string(m.query.shape()));
  check_one(head, "value", m.value, rows(m.value), width);
  const Index v = m.value.size(1);
  const bool fits = m.output.defined() && m.output.shape() == Shape{v, d_model};
  check_one(head, "output", m.output, fits,
            "(" + std::to_string(v) + ", " + std::to_string(d_model) +
                "): a row for each column of the value");
}

void check_hand_made_size(const HandMadeOptions& o, Index layers, Index heads, Index d_k) {
  constexpr double highest = 20e6;
  const auto words = static_cast<double>(o.vocab_size), length = static_cast<double>(o.max_length);
  const double d_model = 5 * words + length + 1;
  const double maps = 4 * static_cast<double>(layers * heads) * static_cast<double>(d_k);
  const double numbers = d_model * (maps + 2 * words + length);
  if (numbers <= highest) return;
  throw Error("hand-made model: " + std::to_string(o.vocab_size) + " words and " +
              std::to_string(o.max_length) + " positions make a model of " +
              formatted("%.1f", numbers / 1e6) +
              " million numbers; at most 20 million are built. Take fewer of them, or of heads.");
}

}  // namespace tapestry
