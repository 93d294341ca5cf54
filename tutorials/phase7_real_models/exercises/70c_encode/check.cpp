#include <algorithm>

#include "phase7_check.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::encoded) encoded;
}

namespace {

using Encoding = std::function<decltype(learn::encoded)>;
using Merges = std::vector<TokenMerge>;

Attempt of_all(const Encoding& encode) {
  return [=](const NamedTensors& in) -> NamedTensors {
    Merges merges;
    for (Index i = 0; i < in[0].value.size(0); ++i) {
      const TokenIds ids = tokens_of(slice(in[0].value, 0, i, i + 1));
      merges.push_back({ids.at(0), ids.at(1), ids.at(2)});
    }
    NamedTensors results;
    for (std::size_t i = 1; i < in.size(); ++i) {
      const TokenIds ids = encode(tokens_of(in[i].value), merges);
      results.push_back({in[i].name + ", encoded", tensor_of(ids)});
    }
    return results;
  };
}

enum Kind { right, leftmost, latest, one_merge, not_again, first_place, longest };

// ---- Of all places that could be merged, one after the other

struct Found {
  std::size_t at = 0, merge = 0;
};

std::vector<Found> found_in(const TokenIds& tokens, const Merges& merges) {
  std::vector<Found> all;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    for (std::size_t m = 0; m < merges.size(); ++m) {
      if (stands_at(tokens, i, merges[m].left, merges[m].right)) all.push_back({i, m});
    }
  }
  return all;
}

// Which places may be merged at all: not those of tokens that were made before, or of merges that
// are done.
bool may_merge(Kind kind, const Found& one, const TokenIds& tokens, const Merges& merges,
               std::vector<std::size_t>& used) {
  const auto is_made = [&](Index id) {
    return std::any_of(merges.begin(), merges.end(), [&](const auto& m) { return m.made == id; });
  };
  if (kind == not_again) return !is_made(tokens[one.at]) && !is_made(tokens[one.at + 1]);
  if (kind == one_merge) return used.empty() || one.merge == used.front();
  if (kind == first_place) return std::find(used.begin(), used.end(), one.merge) == used.end();
  return true;
}

Encoding by_places(Kind kind) {
  return [=](TokenIds tokens, const Merges& merges) {
    std::vector<std::size_t> used;
    while (true) {
      std::vector<Found> all = found_in(tokens, merges);
      const auto refused = [&](const Found& f) {
        return !may_merge(kind, f, tokens, merges, used);
      };
      all.erase(std::remove_if(all.begin(), all.end(), refused), all.end());
      if (all.empty()) return tokens;
      const auto before = [&](const Found& x, const Found& y) {
        if (kind == leftmost || x.merge == y.merge) return x.at < y.at;
        return kind == latest ? x.merge > y.merge : x.merge < y.merge;
      };
      const Found first = *std::min_element(all.begin(), all.end(), before);
      tokens[first.at] = merges[first.merge].made;
      tokens.erase(tokens.begin() + static_cast<std::ptrdiff_t>(first.at) + 1);
      used.push_back(first.merge);
    }
  };
}

// ---- By merges, wherever they stand; by what tokens spell

TokenIds with(const TokenIds& tokens, const TokenMerge& merge, bool only_first = false) {
  TokenIds result;
  bool is_done = false;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const bool is_pair = !is_done && stands_at(tokens, i, merge.left, merge.right);
    result.push_back(is_pair ? merge.made : tokens[i]);
    if (is_pair) ++i;
    is_done = is_done || (is_pair && only_first);
  }
  return result;
}

// What a token spells, in tokens that no merge makes.
TokenIds spelled(Index id, const Merges& merges) {
  for (const TokenMerge& merge : merges) {
    if (merge.made != id) continue;
    TokenIds letters = spelled(merge.left, merges);
    const TokenIds rest = spelled(merge.right, merges);
    letters.insert(letters.end(), rest.begin(), rest.end());
    return letters;
  }
  return {id};
}

TokenIds by_longest(const TokenIds& tokens, const Merges& merges) {
  TokenIds result;
  for (std::size_t i = 0, size = 1; i < tokens.size(); i += size) {
    result.push_back(tokens[i]);
    size = 1;
    for (const TokenMerge& merge : merges) {
      const TokenIds letters = spelled(merge.made, merges);
      const auto begin = tokens.begin() + static_cast<std::ptrdiff_t>(i);
      const bool fits = letters.size() > size && letters.size() <= tokens.size() - i;
      if (!fits || !std::equal(letters.begin(), letters.end(), begin)) continue;
      result.back() = merge.made;
      size = letters.size();
    }
  }
  return result;
}

// The same from a table: at each place the lengths of all tokens that could stand there.
TokenIds by_longest_length(const TokenIds& tokens, const Merges& merges) {
  TokenIds result;
  std::size_t i = 0;
  while (i < tokens.size()) {
    Index best = tokens[i];
    std::size_t end = i + 1;
    for (std::size_t to = tokens.size(); to > end; --to) {
      const TokenIds part(tokens.begin() + static_cast<std::ptrdiff_t>(i),
                          tokens.begin() + static_cast<std::ptrdiff_t>(to));
      for (const TokenMerge& merge : merges) {
        if (spelled(merge.made, merges) == part) best = merge.made, end = to;
      }
    }
    result.push_back(best);
    i = end;
  }
  return result;
}

// A pass over the text: whatever pair stands next becomes one token; it is not looked at again.
TokenIds leftmost_of_all(TokenIds tokens, const Merges& merges) {
  for (std::size_t i = 0; i + 1 < tokens.size();) {
    const auto fits = [&](const TokenMerge& m) { return stands_at(tokens, i, m.left, m.right); };
    const auto found = std::find_if(merges.begin(), merges.end(), fits);
    if (found == merges.end()) {
      ++i;
      continue;
    }
    tokens = [&] {
      TokenIds next(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(i));
      next.push_back(found->made);
      next.insert(next.end(), tokens.begin() + static_cast<std::ptrdiff_t>(i) + 2, tokens.end());
      return next;
    }();
    i = 0;
  }
  return tokens;
}

Encoding by_merges(Kind kind) {
  return [=](TokenIds tokens, const Merges& merges) {
    if (kind == longest) return by_longest(tokens, merges);
    if (kind == leftmost) return leftmost_of_all(tokens, merges);
    if (kind == latest) {
      for (std::size_t m = merges.size(); m-- > 0;) {
        const TokenIds next = with(tokens, merges[m]);
        if (next != tokens) tokens = next, m = merges.size();
      }
      return tokens;
    }
    const auto is_made = [&](Index id) {
      return std::any_of(merges.begin(), merges.end(), [&](const auto& m) { return m.made == id; });
    };
    for (const TokenMerge& merge : merges) {
      if (kind == not_again && (is_made(merge.left) || is_made(merge.right))) continue;
      const TokenIds next = with(tokens, merge, kind == first_place);
      if (kind == one_merge && next != tokens) return next;
      tokens = next;
    }
    return tokens;
  };
}

KnownMistake known(Kind kind, const char* name, const char* sentence) {
  const Encoding other = kind == longest ? by_longest_length : by_places(kind);
  return {name, sentence, of_all(by_merges(kind)), of_all(other)};
}

// ---- Inputs: merges of the letters a, b, c, d, and texts in which their order counts

NamedTensors inputs(Random& random, Index size) {
  const Index letters = 5, a = 0, b = 1, c = 2, d = 3, e = 4;
  const Index bc = 5, cd = 6, ab = 7, abc = 8, abcd = 9, bcd = 10;
  Merges merges = {{b, c, bc}, {c, d, cd}, {a, b, ab}, {a, bc, abc}};
  if (size > 1) merges.insert(merges.end(), {{ab, cd, abcd}, {bc, d, bcd}});
  const TokenIds names = shuffled_ids(random, letters);
  const auto named = [&](Index id) { return id < letters ? names[std::size_t(id)] : id; };
  std::vector<Tensor> rows;
  for (const TokenMerge& m : merges) {
    rows.push_back(tensor_of({named(m.left), named(m.right), m.made}));  // (3)
  }
  std::vector<TokenIds> texts = {{a, b, c}};
  if (size > 1) texts = {{a, b, c, d}, {b, c, d, e, a, b}, {a, b, c, e, b, c, d}, {e}, {}};
  if (size > 2) {
    TokenIds random_text;
    for (Index i = 0; i < 4 * size; ++i) random_text.push_back(random.randint(letters));
    texts.push_back(random_text);
  }
  NamedTensors in = {{"merges: left, right, made", stack(rows, 0)}};
  for (std::size_t i = 0; i < texts.size(); ++i) {
    for (Index& id : texts[i]) id = named(id);
    in.push_back({"text " + std::to_string(i + 1), tensor_of(texts[i])});
  }
  return in;
}

const std::vector<KnownMistake> mistakes = {
    known(leftmost, "the pair that comes first in the text",
          "Merged from left to right, whatever pair stands next. The order of the merges decides, "
          "not that of the text: the merge that was learned first is the most frequent pair, and "
          "a model has learned from texts that were cut that way."),
    known(latest, "the merge that was learned last",
          "Of several merges the last one is taken. Later merges are made of earlier ones: begin "
          "with the first."),
    known(one_merge, "one merge only",
          "The merge that was learned first is done, and then nothing more. What it made has new "
          "neighbours: look again until no pair is left."),
    known(not_again, "made tokens are not merged again",
          "Tokens that a merge has made are left as they are, so that no token is longer than two. "
          "They are neighbours like all others."),
    known(first_place, "each merge at one place",
          "Each merge is done at the first place where its pair stands, and then never again."),
    known(longest, "the longest token first",
          "From left to right the longest token that fits is taken, as WordPiece does (BERT). "
          "Byte-pair encoding takes merges in the order in which they were learned, which may end "
          "with shorter tokens.")};

}  // namespace

int main(int count, char** arguments) {
  return judge(
      {.inputs = inputs,
       .learner = of_all(learn::encoded),
       .right = {of_all(solution::encoded), of_all(by_places(right)), of_all(by_merges(right))},
       .mistakes = mistakes,
       .hints = {"Copy the function of 70b, which does one merge wherever its pair stands.",
                 "In which order do the merges come? What a merge makes is in no pair that was "
                 "learned before it.",
                 "for (const TokenMerge& merge : merges) result = merged(result, merge); with "
                 "result = tokens before, and your function of 70b, under another name."}},
      count, arguments);
}
