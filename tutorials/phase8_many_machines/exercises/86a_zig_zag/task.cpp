// 86a. Tiles in zig-zag order
//
// Under a causal mask the queries of the last tile see most keys, those of the first fewest. So the
// last tile has most to do. Tiles are dealt to ranks like this: tile 0 to rank 0, tile 1 to rank 1,
// ... tile R - 1 to rank R - 1, and then back: tile R to rank R - 1, ... tile 2 R - 1 to rank 0;
// from tile 2 R on all begins again. For R = 3:
//
//   tile   0 1 2 3 4 5 6 7 8 ...
//   rank   0 1 2 2 1 0 0 1 2 ...
//
//   tile    0 or more
//   ranks   R, 1 or more
//   ->      the rank that has this tile
//
// Lesson: tutorials/phase8_many_machines/README.md, "86 Who has how much to do"
#include "phase8.hpp"

namespace learn {

Index zig_zag_owner(Index tile, Index ranks) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
