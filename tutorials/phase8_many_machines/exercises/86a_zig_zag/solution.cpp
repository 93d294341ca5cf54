#include "phase8.hpp"

namespace learn {

Index zig_zag_owner(Index tile, Index ranks) {
  const Index place = tile % (2 * ranks);
  return place < ranks ? place : 2 * ranks - 1 - place;
}

}  // namespace learn
