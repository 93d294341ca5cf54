#include "course/exercise.hpp"
#include "phase5.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::with_patch) with_patch;
decltype(learn::restored_shares) restored_shares;
}  // namespace solution

namespace {

using Patch = std::function<decltype(learn::with_patch)>;
using Shares = std::function<decltype(learn::restored_shares)>;

// A head says at a word tanh of the mean of all words so far, times a matrix of its own; the answer
// is a sum over what the heads say together, and over the words themselves.
OpenModel model_of(const Tensor& maps, const Tensor& readout) {
  OpenModel model;
  model.heads = [=](const Tensor& text) {
    const Tensor so_far = unsqueeze(Tensor::arange(text.size(0)) + 1, 1);  // (n, 1)
    return tanh(matmul(unsqueeze(cumsum(text, 0) / so_far, 0), maps));     // (heads, n, d)
  };
  model.answer = [=](const Tensor& text, const Tensor& heads) {
    return double{sum(readout * tanh(sum(heads, 0) + 0.3 * text)).item()};
  };
  return model;
}

Attempt both(const Patch& patch, const Shares& shares) {
  return [=](const NamedTensors& in) -> NamedTensors {
    const Tensor &clean = in[0].value, &corrupted = in[1].value;  // (n, d) each
    const OpenModel model = model_of(in[2].value, in[3].value);
    const Tensor to = model.heads(corrupted), from = model.heads(clean);  // (heads, n, d) each
    const Index head = to.size(0) - 1, position = to.size(1) - 1;
    return {{"with_patch", patch(to, from, head, position)},
            {"restored_shares", shares(model, clean, corrupted)}};
  };
}

enum Kind {
  right,
  whole_head,
  all_heads,
  piled_up,
  other_way,
  sign,
  not_divided,
  by_clean,
  from_clean,
  clean_text
};

Patch patch_by_numbers(Kind kind) {
  return [=](const Tensor& to, const Tensor& from, Index head, Index position) {
    Tensor result = to.clone();  // (heads, n, d)
    const Index n = to.size(1), d = to.size(2);
    for (Index place = 0; place < to.numel(); ++place) {
      const Index h = place / (n * d), i = place / d % n, c = place % d;
      const bool is_head = kind == all_heads || h == head;
      const bool is_position = kind == whole_head || i == position;
      if (is_head && is_position) result.set({h, i, c}, double{from.at({h, i, c})});
    }
    return result;
  };
}

Patch patch_by_tensors(Kind kind) {
  return [=](const Tensor& to, const Tensor& from, Index head, Index position) {
    const Index heads = to.size(0), n = to.size(1);
    Tensor h = reshape(Tensor::arange(heads), {heads, 1, 1}) == double(head);  // (heads, 1, 1)
    Tensor i = reshape(Tensor::arange(n), {1, n, 1}) == double(position);      // (1, n, 1)
    if (kind == all_heads) h = Tensor::ones({heads, 1, 1});
    if (kind == whole_head) i = Tensor::ones({1, n, 1});
    return where(h * i, from, to);  // (heads, n, d)
  };
}

// The share of a cell, from the three answers.
double share_of(Kind kind, double clean, double corrupted, double patched) {
  if (kind == not_divided) return patched - corrupted;
  if (kind == by_clean) return (patched - corrupted) / clean;
  if (kind == from_clean) return (patched - clean) / (clean - corrupted);
  if (kind == other_way) return (clean - patched) / (clean - corrupted);
  return (patched - corrupted) / (kind == sign ? corrupted - clean : clean - corrupted);
}

Shares shares_by(Kind kind, const Patch& patch) {
  return [=](const OpenModel& model, const Tensor& clean, const Tensor& corrupted) {
    const Tensor &read = kind == other_way ? clean : corrupted,
                 &other = kind == other_way ? corrupted : clean;  // (n, d) each
    Tensor to = model.heads(read);                                // (heads, n, d)
    const Tensor from = model.heads(other);                       // (heads, n, d)
    const double a = model.answer(clean, model.heads(clean));
    const double b = model.answer(corrupted, model.heads(corrupted));
    const Tensor& text = kind == clean_text ? clean : read;   // (n, d)
    Tensor shares = Tensor::zeros({to.size(0), to.size(1)});  // (heads, n)
    for (Index cell = 0; cell < shares.numel(); ++cell) {
      const Index head = cell / to.size(1), i = cell % to.size(1);
      const Tensor patched = patch(to, from, head, i);  // (heads, n, d)
      if (kind == piled_up) to = patched;
      shares.set({head, i}, share_of(kind, a, b, model.answer(text, patched)));
    }
    return shares;
  };
}

template <class F>
Attempt with(F patch, Kind kind) {
  return both(patch(kind), shares_by(kind, patch(kind)));
}

KnownMistake known(Kind kind, const char* name, const char* sentence) {
  return {name, sentence, with(patch_by_numbers, kind), with(patch_by_tensors, kind)};
}

// The texts differ in one word, which moves every head; both answers are far apart.
NamedTensors inputs(Random& random, Index size) {
  const Index heads = size < 2 ? 1 : 2 + random.randint(2), n = size + 1, d = 1 + size / 2;
  const Tensor clean = random.normal({n, d}) * 0.5 + 0.2, corrupted = clean.clone();  // (n, d) each
  const Index changed = random.randint(n - 1);
  for (Index c = 0; c < d; ++c) {
    clean.data()[changed * d + c] = real(1 + random.uniform());
    corrupted.data()[changed * d + c] = real(-1 - random.uniform());
  }
  return {{"clean", clean},
          {"corrupted", corrupted},
          {"maps of the heads", random.uniform({heads, d, d}, 0.3, 1)},
          {"readout", random.uniform({n, d}, 0.5, 1.5)}};
}

const std::vector<KnownMistake> mistakes = {
    known(whole_head, "a head at all words",
          "The patch replaces what the head says at every word. Then you learn which head "
          "matters, but not where."),
    known(all_heads, "all heads at a word",
          "The patch replaces what all heads say at this word. Then you learn which word "
          "matters, but not by which head."),
    known(
        piled_up, "patches that pile up",
        "Each run keeps the patches of the runs before. A cell has to be patched alone, in a copy "
        "of what the heads say in the corrupted text. (Tensor a = b shares the numbers; "
        "b.clone() does not.)"),
    known(other_way, "patched the other way",
          "The clean text is read, and cells are replaced by those of the corrupted one; the share "
          "says how much each destroys. That is another question: what is enough to restore an "
          "answer, and what is needed for it, can be different cells."),
    known(clean_text, "the clean text is read",
          "The heads are those of the corrupted text, with the patch, but the text that the answer "
          "reads is the clean one. Then part of the answer is clean before anything is patched."),
    known(sign, "the wrong sign",
          "The gap is corrupted minus clean. A patch that brings the clean answer back has to get "
          "a share above 0."),
    known(not_divided, "not divided by the gap",
          "This is how much the answer moves, in logits. Divide by the gap between the two "
          "answers: pairs of texts with a large gap would otherwise outweigh the others."),
    known(by_clean, "divided by the clean answer",
          "The change is divided by the clean answer, and not by the gap. A patch that restores "
          "everything would not get 1."),
    known(from_clean, "measured from the clean answer",
          "The clean answer is subtracted from the patched one, so that nothing restored gives -1 "
          "and everything 0. Count from the corrupted answer.")};

}  // namespace

int main(int count, char** arguments) {
  return judge(
      {.inputs = inputs,
       .learner = both(learn::with_patch, learn::restored_shares),
       .right = {both(solution::with_patch, solution::restored_shares),
                 with(patch_by_numbers, right), with(patch_by_tensors, right)},
       .mistakes = mistakes,
       .hints = {"First run both texts without a patch: what the heads say, and the answers. Then "
                 "two loops, over heads and positions, with one run each.",
                 "patched = model.answer(corrupted, with_patch(corrupted_heads, clean_heads, head, "
                 "position)).",
                 "shares.set({head, i}, (patched - corrupted_answer) / (clean_answer - "
                 "corrupted_answer));"}},
      count, arguments);
}
