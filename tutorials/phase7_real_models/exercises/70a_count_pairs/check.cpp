#include <algorithm>

#include "phase7_check.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::pair_counts) pair_counts;
decltype(learn::pair_to_merge) pair_to_merge;
}  // namespace solution

namespace {

using Pieces = std::vector<CountedPiece>;
using Count = std::function<decltype(learn::pair_counts)>;
using Choose = std::function<decltype(learn::pair_to_merge)>;

Attempt both(const Count& count, const Choose& choose) {
  return [=](const NamedTensors& in) -> NamedTensors {
    Pieces pieces;
    for (Index i = 0; i < in[0].value.size(0); ++i) {
      pieces.push_back(
          {tokens_of(slice(in[0].value, 0, i, i + 1)), Index(std::lround(in[1].value.at({i})))});
    }
    const auto tokens = Index(std::lround(in[2].value.item()));
    const TokenPair pair = choose(pieces, tokens);
    return {{"counts", count(pieces, tokens)}, {"pair", tensor_of({pair.left, pair.right})}};
  };
}

enum Kind {
  right,
  pieces_once,
  no_overlap,
  across,
  unordered,
  exchanged,
  last_left_out,
  last_of_equal,
  right_first,
  first_seen
};

// ---- Place by place: what is added, in the order of the text

using Add = std::function<void(Index left, Index right, Index count)>;

void add_pairs(Kind kind, const TokenIds& tokens, Index count, const Add& add) {
  const std::size_t end = tokens.size() - std::min<std::size_t>(tokens.size(), 1);
  std::size_t run = 0;  // of equal tokens, so far
  for (std::size_t i = 0; i < end; ++i) {
    if (kind == last_left_out && i + 1 == end) continue;
    Index l = tokens[i], r = tokens[i + 1];
    run = l == r ? run + 1 : 0;
    if (kind == no_overlap && run > 0 && run % 2 == 0) continue;
    if (kind == unordered && l > r) std::swap(l, r);
    if (kind == exchanged) std::swap(l, r);
    add(l, r, kind == pieces_once ? 1 : count);
  }
}

void add_all(Kind kind, const Pieces& pieces, const Add& add) {
  const TokenIds* before = nullptr;
  for (const CountedPiece& piece : pieces) {
    add_pairs(kind, piece.tokens, piece.count, add);
    if (kind != across || piece.tokens.empty()) continue;
    if (before) add(before->back(), piece.tokens.front(), 1);
    if (piece.count > 1) add(piece.tokens.back(), piece.tokens.front(), piece.count - 1);
    before = &piece.tokens;
  }
}

Count counts_by_places(Kind kind) {
  return [=](const Pieces& pieces, Index tokens) {
    Tensor counts = Tensor::zeros({tokens, tokens});  // (tokens, tokens)
    add_all(kind, pieces, [&](Index l, Index r, Index count) {
      counts.set({l, r}, double{counts.at({l, r})} + double(count));
    });
    return counts;
  };
}

// A list of pairs in the order in which they are seen; of equal ones the list's first is kept,
// after it was sorted.
Choose choice_by_list(Kind kind) {
  return [=](const Pieces& pieces, Index) {
    std::vector<std::pair<TokenPair, Index>> list;
    add_all(kind, pieces, [&](Index l, Index r, Index count) {
      const auto is_it = [&](const auto& one) {
        return one.first.left == l && one.first.right == r;
      };
      const auto found = std::find_if(list.begin(), list.end(), is_it);
      if (found != list.end()) found->second += count;
      if (found == list.end()) list.push_back({{l, r}, count});
    });
    const auto before = [&](const auto& a, const auto& b) {
      const auto key = [&](const TokenPair& pair) {
        if (kind == right_first) return std::pair(pair.right, pair.left);
        return kind == last_of_equal ? std::pair(-pair.left, -pair.right)
                                     : std::pair(pair.left, pair.right);
      };
      if (a.second != b.second) return a.second > b.second;
      return kind != first_seen && key(a.first) < key(b.first);
    };
    std::stable_sort(list.begin(), list.end(), before);
    return list.empty() ? TokenPair{} : list.front().first;
  };
}

// ---- The whole text as one list, with borders; pair by pair

constexpr Index border = -1;

TokenIds whole_text(Kind kind, const Pieces& pieces) {
  TokenIds text;
  for (const CountedPiece& piece : pieces) {
    for (Index time = 0; time < (kind == pieces_once ? 1 : piece.count); ++time) {
      const auto less = std::ptrdiff_t(kind == last_left_out && !piece.tokens.empty());
      text.insert(text.end(), piece.tokens.begin(), piece.tokens.end() - less);
      if (kind != across) text.push_back(border);
    }
  }
  return text;
}

Index times_in(Kind kind, const TokenIds& text, Index l, Index r) {
  if (kind == exchanged) std::swap(l, r);
  if (kind == unordered && l > r) return 0;
  Index count = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_there =
        stands_at(text, i, l, r) || (kind == unordered && stands_at(text, i, r, l));
    if (is_there) ++count;
    if (is_there && kind == no_overlap) ++i;
  }
  return count;
}

Count counts_by_text(Kind kind) {
  return [=](const Pieces& pieces, Index tokens) {
    const TokenIds text = whole_text(kind, pieces);
    Tensor counts = Tensor::zeros({tokens, tokens});  // (tokens, tokens)
    for (Index cell = 0; cell < tokens * tokens; ++cell) {
      const Index l = cell / tokens, r = cell % tokens;
      counts.set({l, r}, double(times_in(kind, text, l, r)));
    }
    return counts;
  };
}

// Of the cells of the counts, in the order in which the kind looks at them.
Choose choice_by_text(Kind kind) {
  return [=](const Pieces& pieces, Index tokens) {
    const Tensor counts = counts_by_text(kind)(pieces, tokens);  // (tokens, tokens)
    std::vector<TokenPair> order;
    for (Index cell = 0; cell < tokens * tokens; ++cell) {
      const Index outer = cell / tokens, inner = cell % tokens;
      order.push_back(kind == right_first ? TokenPair{inner, outer} : TokenPair{outer, inner});
    }
    if (kind == last_of_equal) std::reverse(order.begin(), order.end());
    if (kind == first_seen) {
      order.clear();
      const TokenIds text = whole_text(kind, pieces);
      for (std::size_t i = 1; i < text.size(); ++i) {
        if (text[i] != border && text[i - 1] != border) order.push_back({text[i - 1], text[i]});
      }
    }
    TokenPair best = order.empty() ? TokenPair{} : order.front();
    for (const TokenPair& one : order) {
      if (counts.at({one.left, one.right}) > counts.at({best.left, best.right})) best = one;
    }
    return best;
  };
}

KnownMistake known(Kind kind, const char* name, const char* sentence) {
  return {name, sentence, both(counts_by_places(kind), choice_by_list(kind)),
          both(counts_by_text(kind), choice_by_text(kind))};
}

// ---- Inputs

// Four pairs that stand equally often, and more often than all others. In the order of the text, of
// left ids, of right ids, and backwards, another of them comes first.
void plant_equal_pairs(Random& random, Pieces& pieces, Index tokens) {
  TokenIds ids = shuffled_ids(random, tokens);
  ids.resize(6);
  std::sort(ids.begin(), ids.end());
  const Tensor counts = solution::pair_counts(pieces, tokens);  // (tokens, tokens)
  const Index top = Index(std::lround(max(counts).item())) + 1 + random.randint(3);
  const std::vector<TokenPair> order = {
      {ids[3], ids[4]}, {ids[5], ids[2]}, {ids[2], ids[1]}, {ids[0], ids[4]}, {ids[0], ids[5]}};
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto [l, r] = order[i];
    const Index less = Index(std::lround(counts.at({l, r})));
    pieces.insert(pieces.begin() + std::ptrdiff_t(i), {{l, r}, top - less});
  }
}

// One piece has a token three times in a row.
Pieces random_pieces(Random& random, Index count, Index tokens) {
  Pieces pieces;
  for (Index i = 0; i < count; ++i) {
    CountedPiece piece{{}, 1 + random.randint(4)};
    const Index same = random.randint(tokens);
    for (Index j = 0; j < 3 + random.randint(2); ++j) {
      piece.tokens.push_back(i == 0 ? same : random.randint(tokens));
    }
    pieces.push_back(piece);
  }
  return pieces;
}

NamedTensors inputs(Random& random, Index size) {
  const Index tokens = size == 1 ? 2 : size == 2 ? 3 : 6 + random.randint(2);
  Pieces pieces = random_pieces(random, size, tokens);
  if (size > 2) plant_equal_pairs(random, pieces, tokens);
  std::size_t longest = 0;
  for (const CountedPiece& piece : pieces) longest = std::max(longest, piece.tokens.size());
  std::vector<Tensor> rows;
  TokenIds counts;
  for (CountedPiece& piece : pieces) {
    piece.tokens.resize(longest, -1);
    rows.push_back(tensor_of(piece.tokens));  // (longest)
    counts.push_back(piece.count);
  }
  return {{"tokens of the pieces (-1: none)", stack(rows, 0)},
          {"how often each stands", tensor_of(counts)},
          {"number of tokens", double(tokens)}};
}

const std::vector<KnownMistake> mistakes = {
    known(pieces_once, "each piece counted once",
          "The counts of the pieces are not used: a pair in \" the\" counts as much as one in a "
          "word that stands once. Add piece.count, not 1."),
    known(no_overlap, "a a a counted once",
          "In a a a the pair (a, a) is counted once, as if the pairs were cut out one after the "
          "other. It stands at two places. (Only one of them can be merged, but that is the next "
          "step.) Where runs are frequent, as of blanks, other pairs would be merged first."),
    known(across, "pairs across pieces",
          "The last token of a piece and the first one of the next are counted as a pair. Then "
          "tokens grow over the ends of words, and whether a word is one token depends on its "
          "neighbours."),
    known(unordered, "left and right as one",
          "The pairs (a, b) and (b, a) are counted as the same. They become different tokens, for "
          "they are different texts."),
    known(exchanged, "left and right exchanged",
          "The right token is the row and the left one the column. The left one is the row."),
    known(last_left_out, "the last pair left out",
          "The last pair of each piece is not counted: a piece of n tokens has n - 1 pairs, so the "
          "loop over left tokens goes to n - 2, inclusive."),
    known(last_of_equal, "of equal counts the last",
          "The counts are right. Of pairs that stand equally often, the one with the highest ids "
          "is taken. Such ties are frequent, and another choice gives other tokens from there on: "
          "compare by >, not by >=."),
    known(right_first, "of equal counts the lowest right id",
          "The counts are right. Of pairs that stand equally often, the one with the lowest right "
          "id is taken; the left id has to decide first."),
    known(first_seen, "of equal counts the first in the text",
          "The counts are right. Of pairs that stand equally often, the one that the text has "
          "first is taken. Then the same pieces in another order give other tokens; the ids have "
          "to decide.")};

}  // namespace

int main(int count, char** arguments) {
  return judge(
      {.inputs = inputs,
       .learner = both(learn::pair_counts, learn::pair_to_merge),
       .right = {both(solution::pair_counts, solution::pair_to_merge),
                 both(counts_by_places(right), choice_by_list(right)),
                 both(counts_by_text(right), choice_by_text(right))},
       .mistakes = mistakes,
       .hints =
           {"pair_counts: a loop over the pieces, in it one over neighbours. pair_to_merge: two "
            "loops over the cells of pair_counts(pieces, tokens).",
            "A piece has one pair fewer than tokens: begin the inner loop at i = 1, and take "
            "tokens[i - 1] and tokens[i]. Each adds piece.count to its cell.",
            "Rows outside, columns inside, and a new best only if counts.at({left, right}) > "
            "counts.at({best.left, best.right}): of equal ones the first stays."}},
      count, arguments);
}
