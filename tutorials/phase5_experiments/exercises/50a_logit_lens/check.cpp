#include <cmath>

#include "course/exercise.hpp"
#include "phase5.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::lens_logits) lens_logits;
decltype(learn::lens_ranks) lens_ranks;
}  // namespace solution

namespace {

using Logits = std::function<decltype(learn::lens_logits)>;
using Ranks = std::function<decltype(learn::lens_ranks)>;

Attempt both(const Logits& logits, const Ranks& ranks) {
  return [=](const NamedTensors& in) -> NamedTensors {
    const Tensor said = logits(in[0].value, in[1].value, in[2].value, in[3].value);
    Indices right;
    right.shape = in[4].value.shape();
    for (const real word : in[4].value.values()) right.values.push_back(std::int32_t(word));
    return {{"logits", said}, {"ranks", ranks(said, right)}};
  };
}

enum Kind { right, no_norm, no_gain, frozen, additions, shares, from_zero, least_first };

// Word by word, in double.
Logits by_numbers(Kind kind) {
  return [=](const Tensor& x, const Tensor& gain, const Tensor& bias, const Tensor& u) {
    const Index layers = x.size(0), n = x.size(1), d = x.size(2), words = u.size(1);
    Tensor result = Tensor::zeros({layers, n, words});  // (layers + 1, n, vocabulary)
    for (Index place = 0; place < layers * n; ++place) {
      const Index layer = place / n, i = place % n, of = kind == frozen ? layers - 1 : layer;
      const auto stream = [&](Index l, Index c) {
        const bool less = kind == additions && l > 0;
        return double{x.at({l, i, c})} - (less ? double{x.at({l - 1, i, c})} : 0);
      };
      double m = 0, square = 0;
      for (Index c = 0; c < d; ++c) m += stream(of, c) / double(d);
      for (Index c = 0; c < d; ++c) square += std::pow(stream(of, c) - m, 2) / double(d);
      for (Index word = 0; word < words; ++word) {
        double logit = 0;
        for (Index c = 0; c < d; ++c) {
          double z = (stream(layer, c) - m) / std::sqrt(square + 1e-5);
          if (kind != no_gain) z = z * double{gain.at({c})} + double{bias.at({c})};
          if (kind == no_norm) z = stream(layer, c);
          logit += z * double{u.at({c, word})};
        }
        result.set({layer, i, word}, logit);
      }
    }
    return kind == shares ? exp(result) / sum(exp(result), 2, true) : result;
  };
}

// All layers at once.
Logits by_tensors(Kind kind) {
  return [=](const Tensor& x, const Tensor& gain, const Tensor& bias, const Tensor& u) {
    const Index layers = x.size(0);
    Tensor streams = x;  // (layers + 1, n, d)
    if (kind == additions) {
      const Tensor added = slice(x, 0, 1, layers) - slice(x, 0, 0, layers - 1);  // (layers, n, d)
      streams = concat({slice(x, 0, 0, 1), added}, 0);
    }
    const Tensor of = kind == frozen ? slice(x, 0, layers - 1, layers) : streams;
    const Tensor z = (streams - mean(of, -1, true)) / sqrt(var(of, -1, true) + 1e-5);  // as streams
    Tensor normed = kind == no_gain ? z : z * gain + bias;                             // as streams
    if (kind == no_norm) normed = streams;
    const Tensor logits = matmul(normed, u);           // (layers + 1, n, vocabulary)
    return kind == shares ? softmax(logits) : logits;  // the same
  };
}

Ranks ranks_by_numbers(Kind kind) {
  return [=](const Tensor& logits, const Indices& right) {
    const std::vector<real> all = logits.values();
    const auto n = right.values.size(), words = std::size_t(logits.size(2));
    Tensor ranks = Tensor::zeros({logits.size(0), logits.size(1)});  // (layers + 1, n)
    for (std::size_t place = 0; place < all.size(); ++place) {
      const std::size_t row = place / words;
      const real own = all[row * words + std::size_t(right.values[row % n])];
      if (kind == least_first ? all[place] <= own : all[place] >= own) ranks.data()[row] += 1;
    }
    return kind == from_zero ? ranks - 1 : ranks;  // (layers + 1, n)
  };
}

Ranks ranks_by_tensors(Kind kind) {
  return [=](const Tensor& logits, const Indices& right) {
    Indices index;
    index.shape = {logits.size(0), logits.size(1), 1};
    for (Index layer = 0; layer < logits.size(0); ++layer) {
      index.values.insert(index.values.end(), right.values.begin(), right.values.end());
    }
    const Tensor own = gather(logits, 2, index);  // (layers + 1, n, 1)
    const Tensor before = kind == least_first ? logits < own : logits > own;
    return sum(before, 2) + double(kind != from_zero);  // (layers + 1, n)
  };
}

KnownMistake known(Kind logits, Kind ranks, const char* name, const char* sentence) {
  return {name, sentence, both(by_numbers(logits), ranks_by_numbers(ranks)),
          both(by_tensors(logits), ranks_by_tensors(ranks))};
}

KnownMistake known(Kind kind, const char* name, const char* sentence) {
  return known(kind, kind, name, sentence);
}

// Streams that grow from layer to layer, as real ones do.
NamedTensors inputs(Random& random, Index size) {
  const Index layers = 1 + size / 2, n = size, d = 3 + size / 2, words = size + 2;
  const Tensor added = random.normal({layers + 1, n, d}) + 0.5;  // (layers + 1, n, d)
  Tensor right = Tensor::zeros({n});                             // (n)
  for (Index i = 0; i < n; ++i) right.set({i}, double(random.randint(words)));
  return {{"streams", cumsum(added, 0)},
          {"gain", random.uniform({d}, 0.5, 2)},
          {"bias", random.normal({d})},
          {"unembedding", random.normal({d, words})},
          {"right", right}};
}

const std::vector<KnownMistake> mistakes = {
    known(no_norm, "the final norm forgotten",
          "The streams are multiplied by the unembedding as they are. The unembedding has learned "
          "to read what the final norm makes, and nothing else."),
    known(no_gain, "gain and bias forgotten",
          "The streams are normalised, but not multiplied by gain and shifted by bias. The "
          "unembedding expects both."),
    known(frozen, "the last layer's mean and variance",
          "All layers are normalised with mean and variance of the last stream. That is done when "
          "logits are split into what each layer contributes; the lens asks what the model would "
          "say here, and its norm would use this stream."),
    known(additions, "what a layer adds",
          "Each layer's own addition is shown, not the stream so far. The lens reads the whole "
          "stream: what all layers up to here have made of the word."),
    known(shares, "probabilities in place of logits",
          "Softmax was applied. Ranks do not change by that, but logits were asked for."),
    known(from_zero, "ranks from 0",
          "The logits are right. The ranks count the words with a greater logit, so that the best "
          "word has 0; it has rank 1."),
    known(least_first, "ranks from the wrong end",
          "The logits are right. The ranks count words with a smaller logit; rank 1 is the "
          "likeliest word."),
    known(no_norm, from_zero, "two: no final norm, and ranks from 0",
          "The streams are multiplied by the unembedding as they are: the final norm comes first. "
          "And the best word has rank 0; it has rank 1."),
    known(no_norm, least_first, "two: no final norm, and ranks from the wrong end",
          "The streams are multiplied by the unembedding as they are: the final norm comes first. "
          "And the ranks count words with a smaller logit; rank 1 is the likeliest word.")};

}  // namespace

int main(int count, char** arguments) {
  return judge({.inputs = inputs,
                .learner = both(learn::lens_logits, learn::lens_ranks),
                .right = {both(solution::lens_logits, solution::lens_ranks),
                          both(by_numbers(right), ranks_by_numbers(right)),
                          both(by_tensors(right), ranks_by_tensors(right))},
                .mistakes = mistakes,
                .hints = {"lens_logits is one line: the norm first, then a product of matrices. "
                          "lens_ranks counts, in three loops.",
                          "layer_norm(streams, gain, bias) has the shape of streams; matmul(that, "
                          "unembedding) has the logits of all layers.",
                          "For each layer and position: rank = 1; for each word, if its logit is "
                          "greater than that of right.values[i], ++rank."}},
               count, arguments);
}
