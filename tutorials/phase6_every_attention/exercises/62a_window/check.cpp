#include <algorithm>

#include "course/exercise.hpp"
#include "phase6.hpp"
#include "tapestry/mask.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::window_mask) window_mask;
}

namespace {

using Window = std::function<decltype(learn::window_mask)>;

Attempt both(const Window& f) {
  return [=](const NamedTensors& in) -> NamedTensors {
    const auto length = Index(in[0].value.item()), width = Index(in[1].value.item());
    return {{"both sides", f(length, width, false)}, {"causal", f(length, width, true)}};
  };
}

enum Kind { right, half_open, first_out, in_all, with_itself, never_causal, later_only, hides };

// Row by row, between two bounds.
Window by_bounds(Kind kind) {
  return [=](Index length, Index width, bool causal) {
    const Index reach = kind == in_all ? width / 2 : kind == with_itself ? width - 1 : width;
    Tensor result = Tensor::full({length, length}, kind == hides);  // (length, length)
    for (Index i = 0; i < length; ++i) {
      Index begin = i - reach + (kind == first_out), end = i + reach + (kind != half_open);
      if (causal && kind == later_only) begin = i;
      if (causal && kind != later_only && kind != never_causal) end = i + 1;
      for (Index j = std::max<Index>(begin, 0); j < std::min(end, length); ++j) {
        result.set({i, j}, kind != hides);
      }
    }
    return result;
  };
}

// By the library's masks, or comparisons of the distances of all pairs.
Window by_tensors(Kind kind) {
  return [=](Index length, Index width, bool causal) {
    const Tensor at = Tensor::arange(length);                 // (length)
    const Tensor back = unsqueeze(at, 1) - unsqueeze(at, 0);  // (length, length)
    const Index reach = kind == in_all ? width / 2 : kind == with_itself ? width - 1 : width;
    Tensor sees = Mask::local(reach).tensor(back.shape());  // (length, length)
    if (kind == half_open) sees = sees * (back > -double(width));
    if (kind == first_out) sees = sees * (back < double(width));
    if (causal && kind == later_only) sees = sees * (back <= 0);
    if (causal && kind != later_only && kind != never_causal) sees = sees * (back >= 0);
    return kind == hides ? 1 - sees : sees;  // (length, length)
  };
}

KnownMistake known(Kind kind, const char* name, const char* sentence) {
  return {name, sentence, both(by_bounds(kind)), both(by_tensors(kind))};
}

NamedTensors inputs(Random& random, Index size) {
  const Index width = size < 3 ? size : 3 + random.randint(2);
  return {{"length", double(width + 1 + size / 2 + random.randint(2))}, {"width", double(width)}};
}

const std::vector<KnownMistake> mistakes = {
    known(half_open, "the last word left out",
          "The window ends before i + width; that word belongs to it. So a word sees one "
          "word more before it than after it, and i sees j although j does not see i."),
    known(first_out, "the first word left out",
          "The window begins behind i - width; that word belongs to it. A causal word then sees "
          "one word less than it could."),
    known(in_all, "the width of both sides together",
          "Each side got width / 2. Here width is how far a word sees on one side."),
    known(with_itself, "the word itself counted",
          "Each side has one word too few: |i - j| < width in place of <=. The word itself "
          "is at distance 0 and does not count."),
    known(never_causal, "causal or not, the same",
          "The causal mask shows later words, too: `causal` was not used. A model that "
          "says the next word would read it off."),
    known(later_only, "the wrong side",
          "The causal mask shows what comes later and hides what came before."),
    known(hides, "hidden and seen exchanged",
          "1 stands where the key is hidden. Here, as in Mask, 1 means: may see.")};

}  // namespace

int main(int count, char** arguments) {
  return judge(
      {.inputs = inputs,
       .learner = both(learn::window_mask),
       .right = {both(solution::window_mask), both(by_bounds(right)), both(by_tensors(right))},
       .mistakes = mistakes,
       .hints = {"For each query i the keys that it sees are neighbours: find the first and the "
                 "last of them.",
                 "They reach from max(0, i - width) to min(length - 1, i + width), both included; "
                 "causal: to i.",
                 "for (Index j = begin; j <= last; ++j) result.set({i, j}, 1);"}},
      count, arguments);
}
