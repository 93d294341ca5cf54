// The drivers of fused attention: bands of queries in the forward pass, ranges of keys in the
// backward pass.
#include <algorithm>
#include <cmath>

#include "kernels/parallel.hpp"
#include "kernels/parallel_all.hpp"
#include "kernels/sets.hpp"

namespace tapestry::kernels {
namespace {

constexpr Index band = 128;            // queries of one task, a multiple of what kernels do at once
constexpr Index task_grain = 1 << 21;  // multiply-adds that justify one more thread
constexpr Index enough_heads = 16;     // tasks that keep the threads of common machines busy
constexpr Index most_parts = 4;        // into which the keys of few heads are cut
constexpr Index least_keys = 1024;     // of one part

const real* matrix_at(const Sizes& batch, const MatrixView& m, Index position) {
  return m.data + offset_of(batch, m.batch_strides, position);
}

AttentionHead head_at(const AttentionShape& s, Index position, const MatrixView& q,
                      const MatrixView& k, const MatrixView& v) {
  AttentionHead h{};
  h.queries = s.queries;
  h.keys = s.keys;
  h.width = s.width;
  h.value_width = s.value_width;
  h.q = matrix_at(s.batch, q, position);
  h.k = matrix_at(s.batch, k, position);
  h.v = matrix_at(s.batch, v, position);
  h.q_row = q.row;
  h.k_row = k.row;
  h.v_row = v.row;
  h.scale = s.scale;
  h.softcap = s.softcap;
  h.visible_in_block = s.visible_in_block;
  h.mask = s.mask;
  const Index sequences = s.batch.rank == 0 ? 1 : s.batch.size[0];
  const Index heads = s.batch.numel() / sequences;
  h.batch = position / heads;
  h.number = position % heads;
  return h;
}

void announce(RowsAhead& ahead, const real* data, Index row, Index width, Index rows) {
  ahead.add(data, row, width, rows);
}

void announce_rows(RowsAhead& ahead, const Sizes& batch, const MatrixView& m, Index position,
                   Index width, Index rows) {
  announce(ahead, matrix_at(batch, m, position), m.row, width, rows);
}

void announce_keys(RowsAhead& ahead, const AttentionHead& h) {
  announce(ahead, h.k, h.k_row, h.width, h.keys);
  announce(ahead, h.v, h.v_row, h.value_width, h.keys);
}

const Table& plain_loops() { return find("reference"); }

// False, too, for numbers whose squares are infinite.
bool small_rows(const real* x, Index row, Index rows, Index width) {
  for (Index i = 0; i < rows; ++i) {
    if (!std::isfinite(active().sum_squares(x + i * row, width))) return false;
  }
  return true;
}

bool finite_rows(const real* x, Index row, Index rows, Index width) {
  const auto is_finite = [](real number) { return std::isfinite(number); };
  for (Index i = 0; i < rows; ++i) {
    if (!std::all_of(x + i * row, x + i * row + width, is_finite)) return false;
  }
  return true;
}

// Of the matrix at this position, the rows from `row` on; null where there are none to write.
real* rows_at(const Sizes& batch, const MatrixRoom& to, Index position, Index row) {
  if (to.data == nullptr) return nullptr;
  return to.data + offset_of(batch, to.batch_strides, position) + row * to.row;
}

// A hint for the next task: it will write there.
void announce_room(RowsAhead& ahead, const Sizes& batch, const MatrixRoom& to, Index position,
                   Index width, Index rows) {
  announce(ahead, rows_at(batch, to, position, 0), to.row, width, rows);
}

}  // namespace

void attention(const AttentionShape& s, const MatrixView& q, const MatrixView& k,
               const MatrixView& v, const MatrixRoom& out, real* log_sum) {
  const Table& t = active();
  const Index bands = (s.queries + band - 1) / band;
  const Index work =
      std::max<Index>(1, std::min(band, s.queries) * s.keys * (s.width + s.value_width));
  const Index tasks = s.batch.numel() * bands;
  const auto band_from = [queries = s.queries](Index first) {
    return std::min(band, queries - first);
  };
  parallel_tasks(tasks, std::max<Index>(1, task_grain / work), [=, &t](Index i) {
    const Index position = i / bands, first = i % bands * band;
    AttentionHead h = head_at(s, position, q, k, v);
    RowsAhead ahead;
    if (i + 1 < tasks) {
      const Index start = (i + 1) % bands * band;
      const AttentionHead next = head_at(s, (i + 1) / bands, q, k, v);
      announce(ahead, next.q + start * next.q_row, next.q_row, s.width, band_from(start));
      if (start == 0) announce_keys(ahead, next);
    }
    h.ahead = &ahead;
    const auto attend = [&](const Table& with) {
      return with.attention(h, first, band_from(first), rows_at(s.batch, out, position, 0), out.row,
                            log_sum + position * s.queries);
    };
    if (attend(t) || h.visible_in_block == nullptr ||
        small_rows(h.v, h.v_row, h.keys, h.value_width))
      return;
    attend(plain_loops());  // a masked NaN or infinity may have changed rows
  });
}

Index attention_parts(const AttentionShape& s) {
  const Index heads = std::max<Index>(1, s.batch.numel());
  return std::clamp<Index>(enough_heads / heads, 1,
                           std::clamp<Index>(s.keys / least_keys, 1, most_parts));
}

void attention_backward(const AttentionShape& s, const MatrixView& q, const MatrixView& k,
                        const MatrixView& v, const MatrixView& out, const MatrixView& d_out,
                        const real* log_sum, const AttentionRooms& rooms) {
  const Table& t = active();
  const Index heads = s.batch.numel(), parts = attention_parts(s);
  const Index blocks = (s.keys + visibility_block - 1) / visibility_block;
  const Index work =
      std::max<Index>(1, s.queries * s.keys / parts * (3 * s.width + 2 * s.value_width));
  parallel_tasks(heads * parts, std::max<Index>(1, task_grain / work), [=, &t](Index i) {
    const Index position = i / parts, part = i % parts;
    const Index first = blocks * part / parts * visibility_block;
    const Index last = std::min(s.keys, blocks * (part + 1) / parts * visibility_block);
    AttentionHead h = head_at(s, position, q, k, v);
    const Index keys = last - first;
    AttentionGradients to{rows_at(s.batch, rooms.q, position, 0),
                          rows_at(s.batch, rooms.k, position, first),
                          rows_at(s.batch, rooms.v, position, first),
                          rooms.q.row,
                          rooms.k.row,
                          rooms.v.row};
    if (to.q != nullptr) to.q += part * heads * s.queries * s.width;
    RowsAhead ahead;
    if (parts == 1) announce(ahead, to.q, to.q_row, s.width, s.queries);
    if (parts == 1 && i + 1 < heads) {
      announce_rows(ahead, s.batch, q, i + 1, s.width, s.queries);
      announce_rows(ahead, s.batch, d_out, i + 1, s.value_width, s.queries);
      if (out.row >= 0) announce_rows(ahead, s.batch, out, i + 1, s.value_width, s.queries);
      announce_keys(ahead, head_at(s, i + 1, q, k, v));
      announce_room(ahead, s.batch, rooms.k, i + 1, s.width, s.keys);
      announce_room(ahead, s.batch, rooms.v, i + 1, s.value_width, s.keys);
    }
    h.ahead = &ahead;
    const auto backward = [&](const Table& with, const AttentionGradients& asked) {
      return with.attention_backward(h, matrix_at(s.batch, out, position), out.row,
                                     matrix_at(s.batch, d_out, position), d_out.row,
                                     log_sum + position * s.queries, first, keys, asked);
    };
    if (backward(t, to) || h.visible_in_block == nullptr) return;
    // One by one, so that the bits of a gradient do not depend on which others were asked for.
    if (to.q != nullptr && !finite_rows(to.q, to.q_row, s.queries, s.width)) {
      backward(plain_loops(), {to.q, nullptr, nullptr, to.q_row, 0, 0});
    }
    if (to.k != nullptr && !(finite_rows(to.k, to.k_row, keys, s.width) &&
                             finite_rows(to.v, to.v_row, keys, s.value_width))) {
      backward(plain_loops(), {nullptr, to.k, to.v, 0, to.k_row, to.v_row});
    }
  });
}

}  // namespace tapestry::kernels
