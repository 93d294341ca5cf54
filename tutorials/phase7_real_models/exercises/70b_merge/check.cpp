#include <algorithm>

#include "phase7_check.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::merged) merged;
}

namespace {

using Merging = std::function<decltype(learn::merged)>;

TokenMerge merge_of(const Tensor& x) {
  const TokenIds ids = tokens_of(x);
  return {ids.at(0), ids.at(1), ids.at(2)};
}

// Two texts with a merge each: of different tokens, and of equal ones. The result of a text has as
// many ids as come out; whether that number is right is judged, too.
Attempt both(const Merging& merge) {
  return [=](const NamedTensors& in) -> NamedTensors {
    NamedTensors results;
    for (std::size_t i = 0; i < in.size(); i += 2) {
      const TokenIds ids = merge(tokens_of(in[i].value), merge_of(in[i + 1].value));
      results.push_back({in[i].name + ", merged", tensor_of(ids)});
    }
    return results;
  };
}

enum Kind {
  right,
  overlaps,
  right_stays,
  from_behind,
  first_only,
  both_orders,
  lost_end,
  lost_next
};

// Which places begin a pair that is merged.
std::vector<bool> places_of(Kind kind, const TokenIds& tokens, const TokenMerge& merge) {
  std::vector<bool> begins(tokens.size() + 1);
  const auto size = tokens.size();
  for (std::size_t step = 0; step < size; ++step) {
    const std::size_t i = kind == from_behind ? size - 1 - step : step;
    bool is_pair = stands_at(tokens, i, merge.left, merge.right);
    if (kind == both_orders) is_pair = is_pair || stands_at(tokens, i, merge.right, merge.left);
    const bool is_used = (i > 0 && begins[i - 1]) || begins[i + 1];
    const bool is_free = kind == overlaps || kind == right_stays || !is_used;
    const bool is_first = std::find(begins.begin(), begins.end(), true) == begins.end();
    begins[i] = is_pair && is_free && (kind != first_only || is_first);
    if (kind == lost_next && i > 1 && begins[i - 2]) begins[i] = false;
  }
  return begins;
}

// First the places, then the tokens.
Merging by_places(Kind kind) {
  return [=](const TokenIds& tokens, const TokenMerge& merge) {
    const std::vector<bool> begins = places_of(kind, tokens, merge);
    TokenIds result;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const bool is_used = i > 0 && begins[i - 1] && kind != right_stays;
      const bool is_lost = (kind == lost_next && i > 1 && begins[i - 2]) ||
                           (kind == lost_end && i + 1 == tokens.size());
      if (begins[i]) result.push_back(merge.made);
      if (!begins[i] && !is_used && !is_lost) result.push_back(tokens[i]);
    }
    return result;
  };
}

// Both tokens in the list are erased, and the new one inserted.
TokenIds in_the_list(Kind kind, TokenIds tokens, const TokenMerge& merge) {
  const auto at = [&](std::size_t i) { return tokens.begin() + static_cast<std::ptrdiff_t>(i); };
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    const bool is_there = stands_at(tokens, i, merge.left, merge.right) ||
                          (kind == both_orders && stands_at(tokens, i, merge.right, merge.left));
    if (!is_there) continue;
    const bool is_shared = kind == overlaps && stands_at(tokens, i + 1, merge.left, merge.right);
    tokens[i] = merge.made;
    if (kind != right_stays && !is_shared) tokens.erase(at(i + 1));
    if (kind == lost_next && i + 1 < tokens.size()) tokens.erase(at(i + 1));
    if (kind == first_only) break;
  }
  return tokens;
}

Merging by_erasing(Kind kind) {
  return [=](const TokenIds& tokens, const TokenMerge& merge) {
    if (kind == from_behind) {
      TokenIds backwards(tokens.rbegin(), tokens.rend());
      backwards = in_the_list(right, backwards, {merge.right, merge.left, merge.made});
      return TokenIds(backwards.rbegin(), backwards.rend());
    }
    TokenIds result = in_the_list(kind, tokens, merge);
    const bool ends_merged = !result.empty() && result.back() == merge.made;
    if (kind == lost_end && !result.empty() && !ends_merged) result.pop_back();
    return result;
  };
}

KnownMistake known(Kind kind, const char* name, const char* sentence) {
  return {name, sentence, both(by_places(kind)), both(by_erasing(kind))};
}

constexpr Index a = 0, b = 1, c = 2, made = 9;  // a to d are named anew in each input

// The parts, with random tokens between them.
TokenIds text_of(Random& random, Index size, const std::vector<TokenIds>& parts) {
  TokenIds text;
  for (const TokenIds& part : parts) {
    if (size > 1 && !text.empty()) {
      for (Index i = 0; i < random.randint(2 * size); ++i) text.push_back(random.randint(4));
    }
    text.insert(text.end(), part.begin(), part.end());
  }
  return text;
}

// What each mistake needs: a pair, the pair the other way round, a pair directly behind one, an end
// that is no pair; a run of odd length.
NamedTensors inputs(Random& random, Index size) {
  const bool is_small = size == 1;
  TokenIds unequal = text_of(random, size, {is_small ? TokenIds{a, b} : TokenIds{a, b, a, b}});
  TokenIds equal = text_of(random, size, {is_small ? TokenIds{a, a, a} : TokenIds{c, a, a, b}});
  if (!is_small) {
    unequal = text_of(random, size, {unequal, {c, b, a, c, a, b, a, b, c, c}, {a, b, b, a, c}});
    equal = text_of(random, size, {equal, {b, a, a, a, a, a, b, c}, {c, a, a, a}});
  }
  const TokenIds names = shuffled_ids(random, 4);
  for (TokenIds* ids : {&unequal, &equal}) {
    for (Index& id : *ids) id = names[std::size_t(id)];
  }
  const Index left = names[0], right = names[1];
  NamedTensors in = {{"a text", tensor_of(unequal)}, {"a merge", tensor_of({left, right, made})}};
  if (is_small) return in;
  const auto append = [&](const char* text, TokenIds tokens, const char* merge, TokenIds ids) {
    in.push_back({text, tensor_of(tokens)});
    in.push_back({merge, tensor_of(ids)});
  };
  append("another text", equal, "a merge of equal tokens", {left, left, made});
  append("a text of one token", {left}, "its merge", {left, right, made});
  append("no text", {}, "the merge of none", {left, right, made});
  return in;
}

const std::vector<KnownMistake> mistakes = {
    known(overlaps, "tokens used twice",
          "A token belongs to two merges: a a a becomes two tokens made of a a, which spell a a a "
          "a. Go on behind both tokens of a pair."),
    known(right_stays, "the right token stays",
          "The left token becomes the new one, and the right one is still there: a b becomes made "
          "b, which spells a b b. Both are replaced."),
    known(from_behind, "from right to left",
          "Merged from the end. For a pair of equal tokens that differs: a a a has to become made "
          "a, not a made."),
    known(first_only, "only the first pair",
          "Only the first pair is merged. One merge replaces the pair wherever it stands."),
    known(both_orders, "the pair in both orders",
          "Right before left was merged, too. The new token spells left, right; it would replace "
          "another text."),
    known(lost_end, "the last token is lost",
          "A last token that is in no pair is missing from the result: a loop over pairs does not "
          "reach it. A text of one token comes out empty."),
    known(lost_next, "the token behind a pair is lost",
          "After a merge, one token too many is left out: a pair has two tokens, so the place "
          "moves by 2, not by 2 and then by the loop's own 1.")};

}  // namespace

int main(int count, char** arguments) {
  return judge(
      {.inputs = inputs,
       .learner = both(learn::merged),
       .right = {both(solution::merged), both(by_places(right)), both(by_erasing(right))},
       .mistakes = mistakes,
       .hints = {"A loop over places, not a for loop with ++i: after a merge the place moves by 2.",
                 "At place i there is a pair if i + 1 is still within the text, tokens[i] is left "
                 "and tokens[i + 1] is right. Else the token is copied.",
                 "while (i < tokens.size()): if there is a pair, result.push_back(merge.made) and "
                 "i += 2; otherwise result.push_back(tokens[i]) and i += 1."}},
      count, arguments);
}
