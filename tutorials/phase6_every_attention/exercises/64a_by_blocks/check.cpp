#include <algorithm>
#include <cmath>

#include "course/exercise.hpp"
#include "phase6.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::mixture_by_blocks) mixture_by_blocks;
}

namespace {

using Mixture = std::function<decltype(learn::mixture_by_blocks)>;

Attempt twice(const Mixture& f) {
  return [=](const NamedTensors& in) -> NamedTensors {
    const auto block = Index(in[3].value.item());
    return {{"output of high scores", f(in[0].value, in[2].value, block)},
            {"output of low scores", f(in[1].value, in[2].value, block)}};
  };
}

enum Kind {
  right,
  sum_kept,
  mixed_kept,
  both_kept,
  upside_down,
  each_block,
  no_top,
  from_zero,
  part,
  too_late
};

bool keeps_sum(Kind kind) { return kind == sum_kept || kind == both_kept || kind == too_late; }
bool keeps_mixed(Kind kind) { return kind == mixed_kept || kind == both_kept || kind == too_late; }

// Number by number.
Mixture by_numbers(Kind kind) {
  return [=](const Tensor& scores, const Tensor& values, Index block) {
    const Index n = values.size(0), d = values.size(1);
    double top = kind == from_zero || kind == no_top ? 0 : -INFINITY, total = 0;
    Tensor mixed = Tensor::zeros({d});  // (d)
    for (Index begin = 0; begin < n - (kind == part ? n % block : 0); begin += block) {
      const Index end = std::min(begin + block, n);
      const double before = top;
      for (Index j = begin; j < end && kind != no_top; ++j) {
        top = std::max(top, double{scores.at({j})});
      }
      double down = std::exp(before - top);
      if (kind == upside_down && begin > 0) down = 1 / down;
      if (!keeps_sum(kind)) total *= down;
      if (!keeps_mixed(kind)) mixed = mixed * down;  // (d)
      for (Index j = begin; j < end; ++j) {
        const double term = std::exp(double{scores.at({j})} - top);
        total += term;
        for (Index c = 0; c < d; ++c) {
          mixed.set({c}, double{mixed.at({c})} + term * double{values.at({j, c})});
        }
      }
      if (kind == too_late) total *= down, mixed = mixed * down;  // (d)
    }
    return mixed / total;  // (d)
  };
}

// The wrong results as a formula: what each block contributes to sum and mixture.
Mixture by_tensors(Kind kind) {
  return [=](const Tensor& scores, const Tensor& values, Index block) -> Tensor {
    const Index n = values.size(0);
    if (kind == right) return squeeze(matmul(unsqueeze(softmax(scores), 0), values), 0);
    if (kind == no_top) {
      const Tensor e = exp(scores);  // (n)
      return squeeze(matmul(unsqueeze(e / sum(e), 0), values), 0);
    }
    Tensor top = kind == from_zero ? 0.0 : -INFINITY, total = 0.0;  // () each
    Tensor mixed = Tensor::zeros({values.size(1)});                 // (d)
    for (Index j = 0; j < n; j += block) {
      if (kind == part && j + block > n) break;
      const Index end = std::min(j + block, n);
      const Tensor s = slice(scores, 0, j, end), now = maximum(top, max(s));          // (count), ()
      const Tensor terms = exp(s - now);                                              // (count)
      const Tensor m = sum(unsqueeze(terms, 1) * slice(values, 0, j, end), 0);        // (d)
      const Tensor down = exp(kind == upside_down && j > 0 ? now - top : top - now);  // ()
      const Tensor last = kind == too_late ? down : 1.0;                              // ()
      total = ((keeps_sum(kind) ? total : total * down) + sum(terms)) * last;         // ()
      mixed = ((keeps_mixed(kind) ? mixed : mixed * down) + m) * last;                // (d)
      top = now;
    }
    return mixed / total;  // (d)
  };
}

// Each block's own softmax, with the mean over blocks.
Mixture mean_of_blocks(bool by_library) {
  return [=](const Tensor& scores, const Tensor& values, Index block) {
    const Index n = values.size(0);
    std::vector<Tensor> outputs;
    for (Index j = 0; j < n; j += block) {
      const Tensor s = slice(scores, 0, j, std::min(j + block, n));  // (count)
      const Tensor v = slice(values, 0, j, std::min(j + block, n));  // (count, d)
      const Tensor e = exp(s - max(s));                              // (count)
      const Tensor weights = by_library ? softmax(s) : e / sum(e);   // (count)
      outputs.push_back(sum(unsqueeze(weights, 1) * v, 0));          // (d)
    }
    if (by_library) return mean(stack(outputs, 0), 0);
    Tensor all = outputs[0];  // (d)
    for (std::size_t i = 1; i < outputs.size(); ++i) all = all + outputs[i];
    return all / double(outputs.size());  // (d)
  };
}

KnownMistake known(Kind kind, const char* name, const char* sentence) {
  if (kind == each_block) {
    return {name, sentence, twice(mean_of_blocks(true)), twice(mean_of_blocks(false))};
  }
  return {name, sentence, twice(by_numbers(kind)), twice(by_tensors(kind))};
}

// The scores rise, so that the maximum does in every block.
NamedTensors inputs(Random& random, Index size) {
  const Index block = size < 2 ? 1 : 2 + random.randint(2),
              n = size < 2 ? 2 : block * (size - 1) + 1;
  const Tensor rise = Tensor::arange(n) * 0.5;  // (n)
  return {{"scores, high", 1000 + rise + random.normal({n}) * 0.1},
          {"scores, low", rise + random.normal({n}) * 0.1 - 1010},
          {"values", random.normal({n, 1 + size / 2})},
          {"block", double(block)}};
}

const std::vector<KnownMistake> mistakes = {
    known(sum_kept, "the sum is not corrected",
          "When the maximum rises, mixed is multiplied by exp(top - top'), but total is "
          "not. Its old terms still belong to the old maximum and count too much."),
    known(mixed_kept, "the mixture is not corrected",
          "When the maximum rises, total is multiplied by exp(top - top'), but mixed is "
          "not. The values of early blocks count too much."),
    known(both_kept, "nothing is corrected",
          "Neither total nor mixed is multiplied by exp(top - top') when the maximum "
          "rises: sums of terms that belong to different maxima mean nothing."),
    known(upside_down, "corrected the wrong way",
          "The correction is exp(top' - top), above 1. When the maximum rises, the old "
          "terms have to shrink: exp(top - top')."),
    known(too_late, "corrected too late",
          "total and mixed are multiplied by exp(top - top') after the block's terms were added. "
          "These belong to the new maximum already; the first block even becomes 0, and with one "
          "block nothing is left."),
    known(each_block, "a softmax for each block",
          "Each block got a softmax of its own, and the outputs were averaged. A block "
          "with low scores then counts as much as one with high scores."),
    known(no_top, "no maximum",
          "exp of the scores as they are: high ones become infinite, low ones 0, and the "
          "output is no number. That is what the maximum is for."),
    known(from_zero, "the maximum begins at 0",
          "The maximum begins at 0 and not at -infinity. Where all scores are far below 0, "
          "it stays 0, all terms become 0, and the output is 0 / 0."),
    known(part, "the last keys left out",
          "Keys that do not fill a block are left out. The last block ends at "
          "std::min(begin + block, n).")};

}  // namespace

int main(int count, char** arguments) {
  return judge(
      {.inputs = inputs,
       .learner = twice(learn::mixture_by_blocks),
       .right = {twice(solution::mixture_by_blocks), twice(by_numbers(right)),
                 twice(by_tensors(right))},
       .mistakes = mistakes,
       .hints =
           {"A loop over blocks: for (Index begin = 0; begin < n; begin += block). In it three "
            "steps: the new maximum, the correction, the block's own terms.",
            "Keep the old maximum: correction = std::exp(before - top). total and every number "
            "of mixed are multiplied by it before the block's terms are added.",
            "For each key of the block: term = std::exp(score - top); total += term; mixed[c] "
            "+= term * value[c]. After the last block: mixed[c] / total."}},
      count, arguments);
}
