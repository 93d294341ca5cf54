#include "kernels/strided.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "kernels/parallel.hpp"
#include "kernels/table.hpp"
#include "kernels/walk.hpp"

namespace tapestry::kernels {
namespace {

// Asks memory for a row, if any, that will be read soon.
void prefetch(const real* row, Index width) {
  for (Index j = 0; row != nullptr && j < width; j += 16) __builtin_prefetch(row + j);
}

// The order of dimensions that writes `to` as sequentially as possible.
struct WriteOrder {
  Sizes sizes;
  Index from[max_ndim] = {};
  Index to[max_ndim] = {};

  WriteOrder(const Sizes& s, const Index* from_strides, const Index* to_strides) {
    int order[max_ndim] = {0, 1, 2, 3, 4, 5};
    std::stable_sort(order, order + s.rank, [&](int a, int b) {
      return std::abs(to_strides[a]) > std::abs(to_strides[b]);
    });
    sizes.rank = s.rank;
    for (int d = 0; d < s.rank; ++d) {
      sizes.size[d] = s.size[order[d]];
      from[d] = from_strides[order[d]];
      to[d] = to_strides[order[d]];
    }
  }
};

void copy_run(const real* from, Index from_step, real* to, Index to_step, Index n) {
  if (from_step == 1 && to_step == 1) {
    std::memcpy(to, from, std::size_t(n) * sizeof(real));
  } else {
    for (Index i = 0; i < n; ++i) to[i * to_step] = from[i * from_step];
  }
}

// to[r * to_row + c] = from[r + c * from_column], in squares small enough that the cache lines of
// both sides stay in the first-level cache.
void transpose_block(const real* from, Index from_column, real* to, Index to_row, Index rows,
                     Index columns) {
  constexpr Index square = 16;
  for (Index r0 = 0; r0 < rows; r0 += square) {
    const Index r1 = std::min(rows, r0 + square);
    for (Index c0 = 0; c0 < columns; c0 += square) {
      const Index c1 = std::min(columns, c0 + square);
      for (Index r = r0; r < r1; ++r) {
        for (Index c = c0; c < c1; ++c) to[r * to_row + c] = from[r + c * from_column];
      }
    }
  }
}

void copy_transposed(Walk w, int across, const real* from, real* to) {
  const int last = w.rank - 1;
  for (int d = across; d + 1 < last; ++d) {  // bring `across` next to the last dimension
    std::swap(w.size[d], w.size[d + 1]);
    for (int o = 0; o < 2; ++o) std::swap(w.stride[o][d], w.stride[o][d + 1]);
  }
  const Index rows = w.size[last - 1], columns = w.size[last];
  const Index to_row = w.stride[1][last - 1], from_column = w.stride[0][last];
  constexpr Index band = 16;  // rows of one call; bands are what threads share
  const Index bands = (rows + band - 1) / band;
  w.size[last - 1] = bands;  // the walk steps over bands of rows
  w.stride[0][last - 1] = band;
  w.stride[1][last - 1] = band * to_row;
  parallel_parts(w.outer(), row_grain(band * columns), [=](Index begin, Index end) {
    Position p(w, begin);
    for (Index i = begin; i < end; ++i, p.next()) {
      const Index height = std::min(band, rows - p.at[last - 1] * band);
      transpose_block(from + p.offset[0], from_column, to + p.offset[1], to_row, height, columns);
    }
  });
}

}  // namespace

Index Sizes::numel() const {
  Index n = 1;
  for (int d = 0; d < rank; ++d) n *= size[d];
  return n;
}

void copy(const Sizes& sizes, const real* from, const Index* from_strides, real* to,
          const Index* to_strides) {
  if (sizes.numel() == 0) return;
  const WriteOrder order(sizes, from_strides, to_strides);
  const Index* strides[] = {order.from, order.to};
  const Walk w(order.sizes, 2, strides);
  if (const int across = w.transposed(); across != -1) {
    copy_transposed(w, across, from, to);
    return;
  }
  const Index n = w.size[w.rank - 1];
  const Index from_step = w.stride[0][w.rank - 1], to_step = w.stride[1][w.rank - 1];
  parallel_parts(w.outer(), row_grain(n), [=](Index begin, Index end) {
    Position p(w, begin);
    for (Index i = begin; i < end; ++i, p.next()) {
      copy_run(from + p.offset[0], from_step, to + p.offset[1], to_step, n);
    }
  });
}

void gather_rows(const real* table, const std::int32_t* ids, Index count, Index width, real* y) {
  if (width == 0) return;
  parallel_parts(count, row_grain(width), [=](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      std::memcpy(y + i * width, table + ids[i] * width, std::size_t(width) * sizeof(real));
    }
  });
}

void scatter_sum_rows(const real* dy, const std::int32_t* ids, Index count, Index width,
                      real* d_table, Index rows) {
  // The places in ids, sorted by id (counting sort): places[starts[r]] to places[starts[r + 1] - 1]
  // hold r. So rows of d_table are written one after another, and one stays in the first cache
  // while it is summed.
  std::vector<Index> start_of(static_cast<std::size_t>(rows) + 1);
  std::vector<Index> sorted(static_cast<std::size_t>(count));
  Index *const starts = start_of.data(), *const places = sorted.data();
  for (Index i = 0; i < count; ++i) ++starts[ids[i]];
  std::partial_sum(start_of.begin(), start_of.end(), starts);
  for (Index i = count; i-- > 0;) places[--starts[ids[i]]] = i;
  const Table& t = active();
  parallel_parts(rows, row_grain(width), [=, &t](Index begin, Index end) {
    const real zero = 0;
    for (Index r = begin; r < end; ++r) {
      real* const row = d_table + r * width;
      const Index first = starts[r], last = starts[r + 1];
      if (first == last) std::fill_n(row, width, zero);
      for (Index k = first; k < last; ++k) {
        prefetch(k + 2 < count ? dy + places[k + 2] * width : nullptr, width);
        const real* const before = k == first ? &zero : row;
        t.of<Add>()(before, k == first ? 0 : 1, dy + places[k] * width, 1, row, width);
      }
    }
  });
}

void gather(const real* x, Index outer, Index length, Index inner, const std::int32_t* index,
            Index picks, real* y) {
  const Index block = picks * inner;
  parallel_parts(outer, row_grain(block), [=](Index begin, Index end) {
    for (Index o = begin; o < end; ++o) {
      for (Index e = 0; e < block; ++e) {
        const Index from = (o * length + index[o * block + e]) * inner + e % inner;
        y[o * block + e] = x[from];
      }
    }
  });
}

void scatter_add(const real* dy, Index outer, Index length, Index inner, const std::int32_t* index,
                 Index picks, real* dx) {
  const Index block = picks * inner;
  parallel_parts(outer, row_grain(block), [=](Index begin, Index end) {
    for (Index o = begin; o < end; ++o) {
      for (Index e = 0; e < block; ++e) {
        const Index to = (o * length + index[o * block + e]) * inner + e % inner;
        dx[to] += dy[o * block + e];
      }
    }
  });
}

}  // namespace tapestry::kernels
