#include <algorithm>
#include <vector>

#include "phase4_check.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::cached_attention) cached_attention;
}

namespace {

CachedHead head_of(const NamedTensors& in) {
  return {in.at(1).value, in.at(2).value, in.at(3).value, in.at(4).value};
}

// All words one after the other.
Attempt step_by_step(std::function<decltype(learn::cached_attention)> step) {
  return [=](const NamedTensors& in) -> NamedTensors {
    const CachedHead head = head_of(in);
    KeptWords kept;
    std::vector<Tensor> outputs;  // (d) each
    for (const Tensor& x : split(in.at(0).value, in.at(0).value.size(0), 0)) {
      outputs.push_back(step(head, squeeze(x, 0), kept));
    }
    return {{"outputs", stack(outputs, 0)}};
  };
}

// What is done; the defaults are right.
struct How {
  Index position = 0;                    // so many too far
  bool always_first = false;             // position 0 for every word
  Index first_key = 0;                   // the oldest key that is seen, counted from the first
  Index last_key = 0;                    // -1: the word before is the last that is seen
  Index window = 1000;                   // so many words are kept
  bool in_query = true, in_keys = true;  // where positions are added; keys: values, too
  bool scaled = true;
};

Index place(How how, Index t) {
  return how.always_first ? 0 : std::min(t, how.window) + how.position;
}

// With the whole text at once and a mask: (n, n) of which keys each word sees.
Attempt all_at_once(How how) {
  return [=](const NamedTensors& in) -> NamedTensors {
    const CachedHead head = head_of(in);
    const Tensor& x = in.at(0).value;  // (n, d)
    const Index n = x.size(0);
    std::vector<Tensor> places;  // (1, d) each
    for (Index t = 0; t < n; ++t) {
      places.push_back(slice(head.positions, 0, place(how, t), place(how, t) + 1));
    }
    const Tensor h = x + concat(places, 0);                                   // (n, d)
    const Tensor asks = how.in_query ? h : x, answers = how.in_keys ? h : x;  // (n, d)
    const Tensor i = unsqueeze(Tensor::arange(n), 1), j = Tensor::arange(n);  // (n, 1), (n)
    const Tensor seen = (j <= i + double(how.last_key)) * (i - double(how.window) < j);
    const double by = how.scaled ? std::sqrt(double(x.size(1))) : 1;
    const Tensor scores = matmul(matmul(asks, head.w_q), transpose(matmul(answers, head.w_k))) / by;
    const Tensor mask = seen * (j >= double(how.first_key));  // (n, n)
    const Tensor weights = softmax(masked_fill(scores, 1 - mask, -HUGE_VAL));
    return {{"outputs", matmul(weights, matmul(answers, head.w_v))}};
  };
}

// Word by word, with loops.
Attempt by_loops(How how) {
  return step_by_step([=](const CachedHead& head, const Tensor& x, KeptWords& kept) {
    const Index t = std::ssize(kept.keys), d = x.size(0);
    const auto product = [&](const Tensor& w, bool moved) {
      Tensor y = Tensor::zeros({d});  // (d)
      for (Index c = 0; c < d; ++c) {
        double sum = 0;
        for (Index r = 0; r < d; ++r) {
          const double at = moved ? double{head.positions.at({place(how, t), r})} : 0;
          sum += (double{x.at({r})} + at) * double{w.at({r, c})};
        }
        y.set({c}, sum);
      }
      return y;
    };
    const Tensor q = product(head.w_q, how.in_query);  // (d)
    kept.keys.push_back(product(head.w_k, how.in_keys));
    kept.values.push_back(product(head.w_v, how.in_keys));
    Tensor output = Tensor::zeros({d});  // (d)
    double all = 0;
    for (Index j = std::max(how.first_key, t - how.window + 1); j <= t + how.last_key; ++j) {
      const auto at = static_cast<std::size_t>(j);
      const double score = double{sum(q * kept.keys[at]).item()};
      const double power = std::exp(how.scaled ? score / std::sqrt(double(d)) : score);
      output = output + kept.values[at] * power;
      all += power;
    }
    return all > 0 ? output / all : output;
  });
}

KnownMistake mistake(const char* name, const char* sentence, How how) {
  return {name, sentence, all_at_once(how), by_loops(how)};
}

const std::vector<KnownMistake> mistakes = {
    mistake("attends before it keeps",
            "The new word attends to earlier words only: its key and value were kept too late. "
            "A word sees itself, too.",
            {.last_key = -1}),
    mistake("position 0 for every word",
            "Every word got the first position. A step is given one word, but that word stands "
            "behind all that are kept: its position is their number.",
            {.always_first = true}),
    mistake("position one too far",
            "The position is one too large: it was counted when the new word was kept already. "
            "The first word stands at position 0.",
            {.position = 1}),
    mistake("the first word is lost",
            "The oldest word is never looked at: the keys are counted from 0. With one word, "
            "nothing is left.",
            {.first_key = 1}),
    mistake("only the newest is kept",
            "The new key and value took the place of the old ones: each word sees itself only, "
            "and from the second on stands at position 1. Put them behind the others.",
            {.window = 1}),
    mistake("nothing is kept",
            "The key and value of the new word were used, and not kept. Each word is read as "
            "if it were the first.",
            {.always_first = true, .window = 1}),
    mistake("position in the query only",
            "The position was added for q, but not for k and v. Then no key says where it "
            "stands.",
            {.in_keys = false}),
    mistake("no position in the query",
            "The position was added for k and v, but q was made of the word alone. Then the "
            "query does not know where it stands.",
            {.in_query = false}),
    mistake("no position",
            "Positions were not added at all. Then the words that are kept are a set: in another "
            "order they give the same output.",
            {.in_query = false, .in_keys = false}),
    mistake("not divided", "The scores are not divided by sqrt(d).", {.scaled = false})};

NamedTensors inputs(Random& random, Index size) {
  const Index n = size + 1, d = size + 1;
  NamedTensors in = {{"words", random.normal({n, d})}, {"positions", random.normal({n + 1, d})}};
  for (const char* name : {"w_q", "w_k", "w_v"}) {
    in.push_back({name, random.normal({d, d}, 0, 1 / std::sqrt(double(d)))});
  }
  return in;
}

}  // namespace

int main(int count, char** arguments) {
  return judge(
      {.inputs = inputs,
       .learner = step_by_step(learn::cached_attention),
       .right = {step_by_step(solution::cached_attention), all_at_once({}), by_loops({})},
       .mistakes = mistakes,
       .hints = {"First find t: how many keys are kept before this word? Then h, then q, k and v.",
                 "Put k and v behind the others with push_back, then attend to all that is kept. "
                 "There is no mask: what is not kept cannot be seen.",
                 "kept.keys.push_back(squeeze(matmul(h, head.w_k), 0)), the same for values; then "
                 "softmax(matmul(q, transpose(stack(kept.keys, 0))) / std::sqrt(d)) times "
                 "stack(kept.values, 0)."}},
      count, arguments);
}
