// How attention is divided among threads.
#include <atomic>

#include "kernels/kernel_test.hpp"
#include "kernels/parallel_all.hpp"
#include "threads.hpp"

namespace tapestry::kernels {

TEST_CASE("the keys of few heads are cut into ranges by the shape alone", "[phase1][kernels]") {
  const auto parts = [](Index heads, Index keys) {
    AttentionShape shape{{}, 10, keys, 4, 4, real(1)};
    shape.batch.rank = 1;
    shape.batch.size[0] = heads;
    return attention_parts(shape);
  };
  CHECK(parts(1, 2047) == 1);
  CHECK(parts(1, 2048) == 2);
  CHECK(parts(1, 4096) == 4);
  CHECK(parts(1, 100'000) == 4);
  CHECK(parts(4, 100'000) == 4);
  CHECK(parts(5, 100'000) == 3);
  CHECK(parts(8, 100'000) == 2);
  CHECK(parts(9, 100'000) == 1);
  CHECK(parts(100, 100'000) == 1);
  CHECK(parts(0, 100'000) == 4);
  CHECK(parts(1, 0) == 1);
}

// Head `number` of a sequence sees the keys up to i + number, in the second one only even ones.
BlockVisibility see_by_head(const AttentionHead& h, Index query, Index queries, Index key,
                            Index keys, std::uint64_t* keep) {
  for (Index j = 0; j < keys; ++j) {
    keep[j] = 0;
    for (Index i = 0; i < queries; ++i) {
      const bool sees = key + j <= query + i + h.number && (h.batch == 0 || (key + j) % 2 == 0);
      keep[j] |= std::uint64_t{sees && h.mask != nullptr} << i;
    }
  }
  return {keys, 0};
}

TEST_CASE("attention drives every query and key of every head", "[phase1][kernels]") {
  constexpr Index batch = 3, heads = 2, queries = 131, keys = 65, width = 4, value_width = 5;
  constexpr Index all = batch * heads, of_q = queries * width, of_k = keys * width,
                  of_v = keys * value_width, of_out = queries * value_width;
  const int mask = 0;
  AttentionShape shape{{}, queries, keys, width, value_width, real(0.5), see_by_head, &mask, 2};
  shape.batch.rank = 2;
  shape.batch.size[0] = batch;
  shape.batch.size[1] = heads;
  Numbers numbers(9);
  const auto q = numbers.some(all * of_q), k = numbers.some(all * of_k);
  const auto v = numbers.some(all * of_v), d_out = numbers.some(all * of_out);
  const auto view = [](const std::vector<real>& x, const Index* strides, Index row) {
    return MatrixView{x.data(), strides, row, 1};
  };
  const Index q_strides[] = {heads * of_q, of_q}, k_strides[] = {heads * of_k, of_k};
  const Index v_strides[] = {heads * of_v, of_v}, out_strides[] = {heads * of_out, of_out};
  // Gradients of all heads stand side by side in wide rows, (batch, rows, heads, width).
  const Index wide_q[] = {heads * of_q, width}, wide_k[] = {heads * of_k, width};
  const Index wide_v[] = {heads * of_v, value_width};
  const MatrixView to_q = view(q, q_strides, width), to_k = view(k, k_strides, width);
  const MatrixView to_v = view(v, v_strides, value_width),
                   to_d = view(d_out, out_strides, value_width);
  for (const Table* set : usable_sets()) {
    const Using scope(*set);
    Guarded out(all * of_out, 0), log_sum(all * queries, 1);
    Guarded d_q(all * of_q, 0), d_k(all * of_k, 1), d_v(all * of_v, 2);
    attention(shape, to_q, to_k, to_v, {out.data(), out_strides, value_width}, log_sum.data());
    attention_backward(shape, to_q, to_k, to_v, {out.data(), out_strides, value_width, 1}, to_d,
                       log_sum.data(),
                       {{d_q.data(), wide_q, heads * width},
                        {d_k.data(), wide_k, heads * width},
                        {d_v.data(), wide_v, heads * value_width}});
    REQUIRE((out.intact() && log_sum.intact()));
    REQUIRE((d_q.intact() && d_k.intact() && d_v.intact()));
    for (Index i = 0; i < all; ++i) {
      AttentionHead h{};
      h.queries = queries, h.keys = keys, h.width = width, h.value_width = value_width;
      h.q = q.data() + i * of_q, h.k = k.data() + i * of_k, h.v = v.data() + i * of_v;
      h.q_row = h.k_row = width, h.v_row = value_width;
      h.scale = real(0.5), h.softcap = 2;
      h.visible_in_block = see_by_head, h.mask = &mask;
      h.batch = i / heads, h.number = i % heads;
      std::vector<real> want(std::size_t{of_out}), sums(std::size_t{queries});
      std::vector<real> want_q(std::size_t{of_q}), want_k(std::size_t{of_k});
      std::vector<real> want_v(std::size_t{of_v});
      reference_set().attention(h, 0, queries, want.data(), value_width, sums.data());
      reference_set().attention_backward(
          h, want.data(), value_width, d_out.data() + i * of_out, value_width, sums.data(), 0, keys,
          {want_q.data(), want_k.data(), want_v.data(), width, width, value_width});
      const auto right = [](const real* got, const std::vector<real>& expected) {
        return first_apart({got, got + expected.size()}, expected, 1e-4, 1e-5) == -1;
      };
      CAPTURE(set->name, i);
      CHECK((right(out.data() + i * of_out, want) && right(log_sum.data() + i * queries, sums)));
      const auto right_in_wide = [&](Guarded& got, const std::vector<real>& expected, Index n) {
        const Index matrix = Index(expected.size());
        const real* row = got.data() + i / heads * heads * matrix + i % heads * n;
        std::vector<real> own;
        for (; Index(own.size()) < matrix; row += heads * n) own.insert(own.end(), row, row + n);
        return first_apart(own, expected, 1e-4, 1e-5) == -1;
      };
      CHECK(right_in_wide(d_q, want_q, width));
      CHECK((right_in_wide(d_k, want_k, width) && right_in_wide(d_v, want_v, value_width)));
    }
  }
}

TEST_CASE("attention_backward adds up to the same for keys in ranges", "[phase1][kernels]") {
  constexpr Index heads = 2, queries = 3, keys = 3 * 1024 + 70, width = 4, value_width = 5;
  AttentionShape shape{{}, queries, keys, width, value_width, real(0.5)};
  shape.batch.rank = 1;
  shape.batch.size[0] = heads;
  const Index parts = attention_parts(shape);
  REQUIRE(parts == 3);
  Numbers numbers(9);
  const auto q = numbers.some(heads * queries * width), k = numbers.some(heads * keys * width);
  const auto v = numbers.some(heads * keys * value_width);
  const auto d_out = numbers.some(heads * queries * value_width);
  const Index of_q = queries * width, of_k = keys * width, of_v = keys * value_width;
  const Index of_out = queries * value_width;
  for (const Table* set : usable_sets()) {
    const Using scope(*set);
    CAPTURE(set->name);
    Guarded out(heads * of_out, 0), log_sum(heads * queries, 0), d_q(parts * heads * of_q, 0);
    Guarded d_k(heads * of_k, 0), d_v(heads * of_v, 0);
    const MatrixView q_view{q.data(), &of_q, width, 1}, k_view{k.data(), &of_k, width, 1};
    const MatrixView v_view{v.data(), &of_v, value_width, 1};
    const MatrixView out_view{out.data(), &of_out, value_width, 1};
    const MatrixView d_out_view{d_out.data(), &of_out, value_width, 1};
    attention(shape, q_view, k_view, v_view, {out.data(), &of_out, value_width}, log_sum.data());
    attention_backward(
        shape, q_view, k_view, v_view, out_view, d_out_view, log_sum.data(),
        {{d_q.data(), &of_q, width}, {d_k.data(), &of_k, width}, {d_v.data(), &of_v, value_width}});
    REQUIRE((out.intact() && log_sum.intact()));
    REQUIRE((d_q.intact() && d_k.intact() && d_v.intact()));
    for (Index head = 0; head < heads; ++head) {  // at once, as plain loops
      AttentionHead one{};
      one = {queries,
             keys,
             width,
             value_width,
             q.data() + head * of_q,
             k.data() + head * of_k,
             v.data() + head * of_v,
             width,
             width,
             value_width,
             real(0.5),
             nullptr,
             nullptr,
             0};
      std::vector<real> to_q(std::size_t{of_q}), to_k(std::size_t{of_k}), to_v(std::size_t{of_v});
      reference_set().attention_backward(
          one, out.data() + head * of_out, value_width, d_out.data() + head * of_out, value_width,
          log_sum.data() + head * queries, 0, keys,
          {to_q.data(), to_k.data(), to_v.data(), width, width, value_width});
      std::vector<real> sum(to_q.size(), real(0));
      for (Index part = 0; part < parts; ++part) {
        for (Index i = 0; i < of_q; ++i) {
          sum[std::size_t(i)] += d_q.data()[(part * heads + head) * of_q + i];
        }
      }
      CHECK(first_apart(sum, to_q, 1e-4, 1e-5) == -1);
      const real *at_k = d_k.data() + head * of_k, *at_v = d_v.data() + head * of_v;
      CHECK(first_apart({at_k, at_k + of_k}, to_k, 1e-4, 1e-7) == -1);
      CHECK(first_apart({at_v, at_v + of_v}, to_v, 1e-4, 1e-7) == -1);
    }
  }
}

}  // namespace tapestry::kernels
