#include <algorithm>
#include <cstdlib>
#include <vector>

#include "course/exercise.hpp"
#include "phase8.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::zig_zag_owner) zig_zag_owner;
}

namespace {

using Owner = std::function<decltype(learn::zig_zag_owner)>;

Attempt of_all_tiles(const Owner& f) {
  return [=](const NamedTensors& in) -> NamedTensors {
    const auto ranks = Index(in[0].value.item()), tiles = Index(in[1].value.item());
    std::vector<real> owners;
    for (Index t = 0; t < tiles; ++t) owners.push_back(real(f(t, ranks)));
    return {{"rank of each tile", Tensor({tiles}, owners)}};  // (tiles)
  };
}

// The same from a list of ranks that repeats.
Attempt from_list(const std::function<std::vector<Index>(Index)>& list) {
  return of_all_tiles([=](Index t, Index ranks) {
    const std::vector<Index> turn = list(ranks);
    return turn[std::size_t(t) % turn.size()];
  });
}

std::vector<Index> up_and_down(Index ranks, Index from, Index last_back) {
  std::vector<Index> list;
  for (Index r = 0; r < ranks; ++r) list.push_back(r);
  for (Index r = from; r >= last_back; --r) list.push_back(r);
  return list;
}

// From 5 ranks and 4 rounds on, no two mistakes agree.
NamedTensors inputs(Random& random, Index size) {
  const Index ranks = size + 1;
  return {{"ranks", double(ranks)},
          {"tiles", double(size < 2 ? 2 * ranks + 1 : 4 * ranks + 1 + random.randint(ranks))}};
}

const std::vector<KnownMistake> mistakes = {
    {"round and round",
     "Tile t went to rank t mod R. Then rank R - 1 always has the later tile of each round, and "
     "more "
     "to do than rank 0. Every second round has to run back.",
     of_all_tiles([](Index t, Index ranks) { return t % ranks; }),
     from_list([](Index ranks) { return up_and_down(ranks, -1, 0); })},
    {"the ends have one tile only",
     "The order turns without giving the rank at the end a second tile: 0 1 2 1 0 1 2. Both ends "
     "take "
     "two in a row, and a turn has 2 R tiles.",
     of_all_tiles([](Index t, Index ranks) {
       return ranks - 1 - std::abs(t % (2 * ranks - 2) - (ranks - 1));
     }),
     from_list([](Index ranks) { return up_and_down(ranks, ranks - 2, 1); })},
    {"one too many on the way back",
     "On the way back the rank is 2 R - place, one too large: the first of these is R, a rank that "
     "does not exist. Tile 2 R - 1 belongs to rank 0.",
     of_all_tiles([](Index t, Index ranks) {
       const Index place = t % (2 * ranks);
       return std::min(place, 2 * ranks - place);
     }),
     from_list([](Index ranks) { return up_and_down(ranks, ranks, 1); })},
    {"begins at the other end",
     "Tile 0 went to rank R - 1. The work is balanced as well, but all ranks have to agree on one "
     "order, and it begins with rank 0.",
     of_all_tiles([](Index t, Index ranks) {
       const Index place = t % (2 * ranks);
       return place < ranks ? ranks - 1 - place : place - ranks;
     }),
     from_list([](Index ranks) {
       std::vector<Index> list = up_and_down(ranks, ranks - 1, 0);
       for (Index& r : list) r = ranks - 1 - r;
       return list;
     })},
    {"never begins again",
     "From tile 2 R on the result is negative: the turns repeat, so the tile's place is tile mod 2 "
     "R.",
     of_all_tiles([](Index t, Index ranks) { return std::min(t, 2 * ranks - 1 - t); }),
     of_all_tiles([](Index t, Index ranks) { return t < ranks ? t : ranks - (t - ranks + 1); })},
    {"pieces in a row",
     "Each rank got two tiles that stand side by side. The rank with the last ones then has most "
     "to "
     "do under a causal mask.",
     of_all_tiles([](Index t, Index ranks) { return t / 2 % ranks; }), from_list([](Index ranks) {
       std::vector<Index> list;
       for (Index r = 0; r < ranks; ++r) list.insert(list.end(), 2, r);
       return list;
     })}};

}  // namespace

int main(int count, char** arguments) {
  return judge(
      {.inputs = inputs,
       .learner = of_all_tiles(learn::zig_zag_owner),
       .right = {of_all_tiles(solution::zig_zag_owner), of_all_tiles([](Index t, Index ranks) {
                   return t / ranks % 2 == 0 ? t % ranks : ranks - 1 - t % ranks;
                 }),
                 from_list([](Index ranks) { return up_and_down(ranks, ranks - 1, 0); })},
       .mistakes = mistakes,
       .hints = {"The order repeats after 2 R tiles. What is the place of a tile within a turn?",
                 "place = tile % (2 * ranks). In the first half of a turn the rank is the place.",
                 "In the second half the rank is 2 * ranks - 1 - place: for place = ranks that is "
                 "ranks - 1, for the last place 0."}},
      count, arguments);
}
