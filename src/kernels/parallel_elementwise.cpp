#include <algorithm>

#include "kernels/parallel.hpp"
#include "kernels/parallel_all.hpp"
#include "kernels/walk.hpp"

namespace tapestry::kernels {
namespace {

constexpr Index chunk = 1024;  // numbers of a strided run that are gathered at a time (4 KB)

// One operand of an elementwise run: either read by the kernel itself (steps 0 and 1), or gathered
// chunk by chunk into a small buffer.
struct Run {
  const real* data;
  Index step;
  real buffer[chunk];

  // The operand from element `begin` on, `n` <= chunk elements, with step 0 or 1.
  const real* part(Index begin, Index n) {
    if (step == 0) return data;
    if (step == 1) return data + begin;
    for (Index i = 0; i < n; ++i) buffer[i] = data[(begin + i) * step];
    return buffer;
  }
  Index kernel_step() const { return step == 0 ? 0 : 1; }
};

// Runs body(begin, end, position) over parts of the walk. A walk of one long run is divided within
// it; any other between runs.
template <class Body>
void parallel_runs(const Walk& w, Body body) {
  const Index outer = w.outer(), n = w.size[w.rank - 1];
  if (outer == 1) {
    parallel_parts(n, parallel_grain,
                   [=](Index begin, Index end) { body(begin, end, Position(w, 0)); });
    return;
  }
  parallel_parts(outer, row_grain(n), [=](Index first, Index last) {
    Position p(w, first);
    for (Index i = first; i < last; ++i, p.next()) body(Index(0), n, p);
  });
}

// Strides of a contiguous array of these sizes.
struct Contiguous {
  Index stride[max_ndim] = {};

  explicit Contiguous(const Sizes& sizes) {
    Index step = 1;
    for (int d = sizes.rank - 1; d >= 0; --d) {
      stride[d] = step;
      step *= sizes.size[d];
    }
  }
};

bool plain(Index step) { return step == 0 || step == 1; }

}  // namespace

void unary(Unary kernel, const real* x, real* y, Index n) {
  parallel_parts(n, parallel_grain,
                 [=](Index begin, Index end) { kernel(x + begin, y + begin, end - begin); });
}

void unary_backward(UnaryBackward kernel, const real* dy, const real* saved, real* dx, Index n) {
  parallel_parts(n, parallel_grain, [=](Index begin, Index end) {
    kernel(dy + begin, saved + begin, dx + begin, end - begin);
  });
}

void binary(Binary kernel, const Sizes& sizes, const real* a, const Index* a_strides, const real* b,
            const Index* b_strides, real* y) {
  if (sizes.numel() == 0) return;
  const Contiguous y_strides(sizes);
  const Index* strides[] = {a_strides, b_strides, y_strides.stride};
  const Walk w(sizes, 3, strides);
  const Index a_step = w.stride[0][w.rank - 1], b_step = w.stride[1][w.rank - 1];
  if (plain(a_step) && plain(b_step)) {
    parallel_runs(w, [=](Index begin, Index end, const Position& p) {
      kernel(a + p.offset[0] + begin * a_step, a_step, b + p.offset[1] + begin * b_step, b_step,
             y + p.offset[2] + begin, end - begin);
    });
    return;
  }
  parallel_runs(w, [=](Index begin, Index end, const Position& p) {
    Run left{a + p.offset[0], a_step, {}}, right{b + p.offset[1], b_step, {}};
    for (Index i = begin; i < end; i += chunk) {
      const Index n = std::min(chunk, end - i);
      kernel(left.part(i, n), left.kernel_step(), right.part(i, n), right.kernel_step(),
             y + p.offset[2] + i, n);
    }
  });
}

void select(const Sizes& sizes, const real* condition, const Index* condition_strides,
            const real* a, const Index* a_strides, const real* b, const Index* b_strides, real* y) {
  if (sizes.numel() == 0) return;
  const Contiguous y_strides(sizes);
  const Index* strides[] = {condition_strides, a_strides, b_strides, y_strides.stride};
  const Walk w(sizes, 4, strides);
  const int last = w.rank - 1;
  const Index condition_step = w.stride[0][last];
  const Index a_step = w.stride[1][last], b_step = w.stride[2][last];
  const Table& t = active();
  parallel_runs(w, [=, &t](Index begin, Index end, const Position& p) {
    Run which{condition + p.offset[0], condition_step, {}};
    Run left{a + p.offset[1], a_step, {}}, right{b + p.offset[2], b_step, {}};
    for (Index i = begin; i < end; i += chunk) {
      const Index n = std::min(chunk, end - i);
      t.select(which.part(i, n), which.kernel_step(), left.part(i, n), left.kernel_step(),
               right.part(i, n), right.kernel_step(), y + p.offset[3] + i, n);
    }
  });
}

void dropout(const real* x, real* y, Index n, const RandomBlocks& random, std::uint32_t limit,
             real scale) {
  const Table& t = active();
  constexpr Index size = DropoutGroup::numbers;
  parallel_parts((n + size - 1) / size, parallel_grain / size, [=, &t](Index group, Index end) {
    const Index begin = group * size, count = std::min(end * size, n) - begin;
    const auto first = random.first + static_cast<std::uint64_t>(group * DropoutGroup::blocks);
    t.dropout(x + begin, y + begin, count, {random.seed, random.stream, first}, limit, scale);
  });
}

void sgd(real* weight, const real* gradient, real* velocity, const SgdStep& step, Index n) {
  const Table& t = active();
  parallel_parts(n, parallel_grain, [=, &t](Index begin, Index end) {
    t.sgd(weight + begin, gradient + begin, velocity + begin, step, end - begin);
  });
}

void adam(real* weight, const real* gradient, real* mean, real* square, const AdamStep& step,
          Index n) {
  const Table& t = active();
  parallel_parts(n, parallel_grain, [=, &t](Index begin, Index end) {
    t.adam(weight + begin, gradient + begin, mean + begin, square + begin, step, end - begin);
  });
}

}  // namespace tapestry::kernels
