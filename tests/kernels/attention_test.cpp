// The attention kernels of every usable set against the plain loops: odd sizes, rows apart, guards,
// NaN, and the promise that a query's bits do not depend on how queries are split.
#include <algorithm>
#include <cfenv>

#include "kernels/kernel_test.hpp"

namespace tapestry::kernels {
namespace {

// Query i sees the keys up to i + 3, but none that is a multiple of 5.
BlockVisibility visible_in_block(const AttentionHead&, Index query, Index queries, Index key,
                                 Index keys, std::uint64_t* keep) {
  Index seen = 0;
  for (Index j = 0; j < keys; ++j) {
    keep[j] = 0;
    for (Index i = 0; i < queries; ++i) {
      const bool sees = key + j <= query + i + 3 && (key + j) % 5 != 0;
      keep[j] |= std::uint64_t{sees} << i;
    }
    if (keep[j] != 0) seen = j + 1;
  }
  return {seen, 0};
}

// Query i sees the keys up to i + 100, but none of 128 to 191. What `keep` holds for keys that all
// see must not count.
BlockVisibility look_far(const AttentionHead&, Index query, Index queries, Index key, Index keys,
                         std::uint64_t* keep) {
  BlockVisibility visible{0, 0};
  for (Index j = 0; j < keys; ++j) {
    const bool shown = (key + j) / 64 != 2;
    keep[j] = 0;
    for (Index i = 0; i < queries; ++i) {
      keep[j] |= std::uint64_t{shown && key + j <= query + i + 100} << i;
    }
    if (keep[j] != 0) visible.keys = j + 1;
    if (visible.clear < j || !shown || key + j > query + 100) continue;
    visible.clear = j + 1;
    keep[j] = 0;
  }
  return visible;
}

// A gradient (rows, n) to be written, with rows `row` apart and numbers between that must stay.
struct ApartRows {
  static constexpr real between = 7;
  Index rows, n, row;
  Guarded numbers;

  ApartRows(Index count, Index width, Index apart, Index offset)
      : rows(count),
        n(width),
        row(apart),
        numbers(std::vector<real>(std::size_t(count * apart), between), offset) {}

  void append_to(std::vector<real>& all) {
    REQUIRE(numbers.intact());
    bool kept = true;
    for (Index i = 0; i < rows; ++i) {
      const real* const at = numbers.data() + i * row;
      all.insert(all.end(), at, at + n);
      kept = kept && std::all_of(at + n, at + row, [](real x) { return x == between; });
    }
    REQUIRE(kept);
  }
};

// One head with its numbers; rows lie `gap` apart, the first one `offset` past a boundary.
struct Head {
  Index q_row, v_row;
  Guarded q, k, v, out, d_out, log_sum;
  AttentionHead head{};
  bool finite = false;  // what the kernel says of the output

  Head(Index queries, Index keys, Index width, Index value_width, Index gap, Index offset,
       bool masked)
      : q_row(width + gap),
        v_row(value_width + gap),
        q(Numbers(1).some(queries * q_row, -2, 2), offset),
        k(Numbers(2).some(keys * q_row, -2, 2), offset),
        v(Numbers(3).some(keys * v_row), offset),
        out(queries * v_row, offset),
        d_out(Numbers(4).some(queries * v_row), offset),
        log_sum(queries, offset) {
    head = {queries,  keys,  width, value_width, q.data(),  k.data(),
            v.data(), q_row, q_row, v_row,       real(0.3), masked ? visible_in_block : nullptr,
            nullptr,  0};
  }
  std::vector<real> forward(const Table& set) {  // out, then log_sum
    poison_scratch(inf);
    finite = set.attention(head, 0, head.queries, out.data(), v_row, log_sum.data());
    std::vector<real> all;
    for (Index i = 0; i < head.queries; ++i) {
      all.insert(all.end(), out.data() + i * v_row, out.data() + i * v_row + head.value_width);
    }
    const std::vector<real> sums = log_sum.values();
    all.insert(all.end(), sums.begin(), sums.end());
    REQUIRE(out.intact());
    REQUIRE(log_sum.intact());
    return all;
  }
  // d_q, d_k and d_v of the keys [first, last), or all from first on; `forward` has run
  std::vector<real> backward(const Table& set, Index first, Index last = -1) {
    const Index count = (last < 0 ? head.keys : last) - first;
    poison_scratch(nan);
    // A gap of its own for each, so that no row can stand for another.
    const Index gap = q_row - head.width;
    ApartRows d_q(head.queries, head.width, head.width + gap, 1);
    ApartRows d_k(count, head.width, head.width + 2 * gap, 2);
    ApartRows d_v(count, head.value_width, head.value_width + 3 * gap, 3);
    set.attention_backward(
        head, out.data(), v_row, d_out.data(), v_row, log_sum.data(), first, count,
        {d_q.numbers.data(), d_k.numbers.data(), d_v.numbers.data(), d_q.row, d_k.row, d_v.row});
    std::vector<real> all;
    for (ApartRows* part : {&d_q, &d_k, &d_v}) part->append_to(all);
    return all;
  }
};

void check_head(Head& ours, Head& plain, const Table& set, double tolerance = 1e-5) {
  CAPTURE(set.name, ours.head.queries, ours.head.keys, ours.head.width, ours.head.value_width);
  CAPTURE(ours.head.visible_in_block != nullptr);
  REQUIRE(first_apart(ours.forward(set), plain.forward(reference_set()), tolerance,
                      tolerance / 5) == -1);
  REQUIRE((ours.finite && plain.finite));
  const Index keys = ours.head.keys;
  const Index ranges[][2] = {{0, keys}, {std::min<Index>(keys, 64), keys}, {keys / 5, keys / 2}};
  for (const auto& [first, last] : ranges) {
    const std::vector<real> d = ours.backward(set, first, last);
    REQUIRE(first_apart(d, plain.backward(reference_set(), first, last), 10 * tolerance,
                        3 * tolerance) == -1);
  }
}

}  // namespace

TEST_CASE("attention: a weight far below the largest keeps its digits in gradients",
          "[phase1][kernels]") {
  for (const Table* set : usable_sets()) {
    Head one(1, 2, 1, 3, 0, 0, false);
    one.q.data()[0] = 1;
    one.k.data()[0] = 0, one.k.data()[1] = -50;
    one.head.scale = 1;
    one.forward(*set);
    const std::vector<real> d = one.backward(*set, 0);  // of q, two keys and two values
    for (Index i = 0; i < 3; ++i) {
      CAPTURE(set->name, i, d[std::size_t(6 + i)]);
      CHECK(close(d[std::size_t(6 + i)], real(std::exp(-50.0) * double(one.d_out.data()[i])), 1e-4,
                  0));
    }
  }
}

TEST_CASE("attention: every set computes what the plain loops say", "[phase1][kernels]") {
  const Index widths[][2] = {{1, 1}, {5, 17}, {16, 16}, {33, 4}, {64, 64}};
  for (const Table* set : usable_sets()) {
    Index offset = 0;
    for (const Index queries : {0, 1, 3, 8, 17, 33, 67, 131}) {
      for (const Index keys : {0, 1, 2, 15, 64, 65, 130}) {
        const Index* w = widths[offset % 5];
        for (const bool masked : {false, true}) {
          Head ours(queries, keys, w[0], w[1], offset % 3, offset % 4, masked);
          Head plain(queries, keys, w[0], w[1], offset % 3, 0, masked);
          check_head(ours, plain, *set);
        }
        ++offset;
      }
    }
  }
}

// The gradients of the keys from 64 on, asked for one by one or with row sums instead of the
// output; without a mask by a call that has these keys alone, with the log sums of all.
void check_asked(Head& h, const Table& set) {
  h.forward(set);
  const std::vector<real> all = h.backward(set, 64);
  std::vector<real> sums;  // of d_out * out
  for (Index i = 0; i < h.head.queries; ++i) {
    double sum = 0;
    for (Index e = 0; e < h.head.value_width; ++e) {
      sum += double{h.out.data()[i * h.v_row + e]} * h.d_out.data()[i * h.v_row + e];
    }
    sums.push_back(real(sum));
  }
  AttentionHead last = h.head;
  const Index keys = h.head.keys - 64, first = last.visible_in_block == nullptr ? 0 : 64;
  if (first == 0) last.keys = keys, last.k += 64 * h.q_row, last.v += 64 * h.v_row;
  const auto backward = [&](const real* out, Index out_row, real* d_q, real* d_k, real* d_v) {
    set.attention_backward(last, out, out_row, h.d_out.data(), h.v_row, h.log_sum.data(), first,
                           keys, {d_q, d_k, d_v, last.width, last.width, last.value_width});
  };
  std::vector<real> parts(all.size(), real(7)), of_sums(all.size(), real(7));
  const Index d_k = h.head.queries * h.head.width, d_v = d_k + keys * h.head.width;
  backward(h.out.data(), h.v_row, parts.data(), nullptr, nullptr);
  backward(h.out.data(), h.v_row, nullptr, parts.data() + d_k, parts.data() + d_v);
  CHECK(first_apart(parts, all, 0, 0) == -1);
  backward(sums.data(), -1, of_sums.data(), of_sums.data() + d_k, of_sums.data() + d_v);
  CHECK(first_apart(of_sums, all, 1e-4, 1e-5) == -1);
}

TEST_CASE("attention: the backward pass gives what is asked for, from row sums, too",
          "[phase8][kernels]") {
  for (const Table* set : usable_sets()) {
    for (const bool masked : {false, true}) {
      for (const Index width : {5, 16}) {
        CAPTURE(set->name, masked, width);
        Head h(70, 130, width, width + 3, 1, 0, masked);
        check_asked(h, *set);
      }
    }
  }
}

TEST_CASE("attention: nothing beyond the last row is read", "[phase1][kernels]") {
  const Index widths[][2] = {{1, 1}, {7, 3}, {5, 17}, {16, 16}, {33, 4}};
  for (const Table* set : usable_sets()) {
    for (const auto& [width, value_width] : widths) {
      for (const auto& [queries, keys] :
           {std::pair<Index, Index>{7, 1}, {7, 2}, {7, 15}, {7, 64}, {16, 65}, {16, 130}}) {
        Head head(queries, keys, width, value_width, 0, 0, false);
        const AtTheEnd q(head.q.values()), k(head.k.values()), v(head.v.values());
        head.head.q = q.data();
        head.head.k = k.data();
        head.head.v = v.data();
        head.forward(*set);
        head.backward(*set, 0);
      }
    }
  }
}

TEST_CASE("attention: scores with a cap, small and large", "[phase1][kernels]") {
  for (const Table* set : usable_sets()) {
    for (const real softcap : {real(0.75), real(1), real(3)}) {
      for (const Index width : {5, 16}) {
        Head ours(35, 70, width, 7, 1, 1, true), plain(35, 70, width, 7, 1, 0, true);
        ours.head.softcap = plain.head.softcap = softcap;
        CAPTURE(softcap);
        check_head(ours, plain, *set);
      }
    }
  }
  Head one(1, 1, 2, 1, 0, 0, false);  // a single score
  one.head.softcap = real(0.75);
  const double product =
      double(one.q.data()[0]) * one.k.data()[0] + double(one.q.data()[1]) * one.k.data()[1];
  const double score = 0.75 * std::tanh(double(real(0.3)) * product / 0.75);
  for (const Table* set : usable_sets()) {
    CHECK(close(one.forward(*set)[1], real(score), 1e-5, 1e-6));
  }
}

// The first of 64 queries sees all keys, the others only those that are multiples of 64.
BlockVisibility look_as_first(const AttentionHead&, Index query, Index queries, Index key,
                              Index keys, std::uint64_t* keep) {
  for (Index j = 0; j < keys; ++j) {
    keep[j] = 0;
    for (Index i = 0; i < queries; ++i) {
      keep[j] |= std::uint64_t{(query + i) % 64 == 0 || (key + j) % 64 == 0} << i;
    }
  }
  return {keys, 0};
}

TEST_CASE("attention: keys that only the first query of a block sees", "[phase1][kernels]") {
  for (const Table* set : usable_sets()) {
    Head ours(70, 130, 8, 16, 0, 1, false), plain(70, 130, 8, 16, 0, 0, false);
    ours.head.visible_in_block = plain.head.visible_in_block = look_as_first;
    check_head(ours, plain, *set);
  }
}

TEST_CASE("attention: an infinite value counts, however small its weight", "[phase1][kernels]") {
  for (const Table* set : usable_sets()) {
    Head head(3, 20, 1, 2, 0, 0, false);
    for (Index i = 0; i < 3; ++i) head.q.data()[i] = 1;
    for (Index j = 0; j < 20; ++j) head.k.data()[j] = real(j == 4 ? -1e6 : 0);
    head.v.data()[4 * 2] = inf;
    const std::vector<real> y = head.forward(*set);
    CAPTURE(set->name);
    REQUIRE_FALSE(head.finite);
    for (std::size_t i = 0; i < 6; ++i) REQUIRE(std::isnan(y[i]) == (i % 2 == 0));  // 0 times it
  }
}

TEST_CASE("attention: scores that rise or fall over many blocks of keys", "[phase1][kernels]") {
  const auto tilt = [](Head& head, double step) {  // by 0.3 step a key, for three of four queries
    const real directions[] = {1, -1, 0, real(0.25)};
    for (Index i = 0; i < head.head.queries; ++i) head.q.data()[i * head.q_row] = directions[i % 4];
    for (Index j = 0; j < head.head.keys; ++j) {
      head.k.data()[j * head.q_row] = real(step * double(j));
    }
  };
  for (const Table* set : usable_sets()) {
    for (const double step : {0.1, 0.5, 4.0}) {  // of 2^8, a third, 1.7 and 14 a block of keys
      for (const auto sees : {AttentionHead{}.visible_in_block, &visible_in_block, &look_far}) {
        const Index wide = step > 0.4 ? 16 : 5;  // whole batches, or not
        Head ours(70, 330, 8, wide, 1, 1, false), plain(70, 330, 8, wide, 1, 0, false);
        for (Head* head : {&ours, &plain}) {
          tilt(*head, step);
          head->head.visible_in_block = sees;
        }
        CAPTURE(step, sees == &look_far);
        check_head(ours, plain, *set, 1e-5 * std::max(1.0, 10 * step));
      }
    }
  }
}

TEST_CASE("attention: one score far above the others, at any place; values large and small",
          "[phase1][kernels]") {
  for (const Table* set : usable_sets()) {
    for (const Index at : {0, 1, 2, 3, 63, 64, 65, 127, 143, 144, 148, 149}) {
      const Index keys = at / 2 == 72 ? 145 : 150;
      Head ours(9, keys, 4, 5, 0, 1, false), plain(9, keys, 4, 5, 0, 0, false);
      for (Head* head : {&ours, &plain}) {
        for (Index i = 0; i < 9; ++i) {
          head->q.data()[i * 4] = real(i + 1);
          for (Index p = 1; p < 4; ++p) head->q.data()[i * 4 + p] = 0;
        }
        for (Index j = 0; j < keys; ++j) head->k.data()[j * 4] = j == at ? real(150) : real(0);
        for (Index e = 0; e < keys * 5; ++e) head->v.data()[e] *= real(e % 5 == 1 ? 1e-30 : 1e30);
      }
      CAPTURE(at);
      ours.head.scale = plain.head.scale = 1;  // scores of 0 and 150 to 1350
      const auto y = ours.forward(*set), want = plain.forward(reference_set());
      CAPTURE(set->name);
      REQUIRE(first_apart(y, want, 1e-5, 1e-35) == -1);
    }
    Head ours(9, 150, 4, 5, 0, 1, false), plain(9, 150, 4, 5, 0, 0, false);
    for (Head* head : {&ours, &plain}) {  // a reference that lags behind by nearly 2^8
      for (Index i = 0; i < 9 * 4; ++i) head->q.data()[i] = i % 4 == 0 ? real(1) : real(0);
      for (Index j = 0; j < 150; ++j) head->k.data()[j * 4] = real(j < 64 ? 0 : j < 128 ? 18 : 36);
      for (Index e = 0; e < 150 * 5; ++e) head->v.data()[e] *= real(1e34);
    }
    REQUIRE(first_apart(ours.forward(*set), plain.forward(reference_set()), 1e-5, 1e29) == -1);
  }
}

TEST_CASE("attention: weights too small for a float pass no denormal on their way",
          "[phase1][kernels]") {
  for (const Table* set : usable_sets()) {
    Head head(20, 70, 1, 4, 0, 0, false);
    head.head.scale = 1;
    for (Index i = 0; i < 20; ++i) head.q.data()[i] = real(1 + 0.01 * double(i));
    for (Index j = 0; j < 70; ++j) head.k.data()[j] = j == 30 ? real(0) : real(-89);
    std::feclearexcept(FE_ALL_EXCEPT);
    const std::vector<real> y = head.forward(*set);
    const std::vector<real> d = head.backward(*set, 0);
    CAPTURE(set->name);
    if (set != &reference_set()) REQUIRE(std::fetestexcept(FE_UNDERFLOW) == 0);
    REQUIRE(y[0] == head.v.data()[30 * 4]);
    REQUIRE(std::abs(double(d[0])) < 1e-30);
  }
}

TEST_CASE("attention: queries all of whose scores are -inf give and get nothing",
          "[phase1][kernels]") {
  for (const Table* set : usable_sets()) {
    Head head(5, 70, 1, 4, 0, 0, false);
    for (Index i = 0; i < 5; ++i) head.q.data()[i] = 1;
    for (Index j = 0; j < 70; ++j) head.k.data()[j] = -inf;
    CAPTURE(set->name);
    const std::vector<real> y = head.forward(*set);
    for (std::size_t i = 0; i < 20; ++i) REQUIRE(y[i] == 0);
    for (std::size_t i = 20; i < 25; ++i) REQUIRE(y[i] == -inf);
    const std::vector<real> d = head.backward(*set, 0);  // d_q meets 0 times infinity
    for (std::size_t i = 5; i < d.size(); ++i) REQUIRE(d[i] == 0);
  }
}

TEST_CASE("attention: bits do not depend on how queries are split", "[phase1][kernels]") {
  for (const Table* set : usable_sets()) {
    Head head(300, 200, 16, 16, 0, 0, true);
    const std::vector<real> whole = head.forward(*set);
    Head parts(300, 200, 16, 16, 0, 0, true);
    for (const Index first : {128, 0, 256}) {
      set->attention(parts.head, first, std::min<Index>(128, 300 - first), parts.out.data(),
                     parts.v_row, parts.log_sum.data());
    }
    CAPTURE(set->name);
    REQUIRE(parts.out.values() == head.out.values());
    REQUIRE(parts.log_sum.values() == head.log_sum.values());
  }
}

TEST_CASE("attention: a NaN stays in the rows that see it; large scores do not overflow",
          "[phase1][kernels]") {
  for (const Table* set : usable_sets()) {
    for (const real poison : {nan, inf}) {
      Head head(80, 90, 8, 8, 0, 0, true);
      head.k.data()[42 * head.q_row] = poison;
      head.q.data()[0] = 1;
      for (Index i = 0; i < 80; ++i) head.q.data()[i * head.q_row] = 1;
      head.forward(*set);
      CAPTURE(set->name, poison);
      REQUIRE_FALSE(head.finite);
      for (Index i = 0; i < 80; ++i) {
        REQUIRE(std::isnan(head.out.data()[i * head.v_row]) == (i + 3 >= 42));
      }
    }
    Head head(20, 20, 4, 4, 0, 0, false);
    for (Index i = 0; i < 20 * 4; ++i) head.q.data()[i] *= real(1e4);
    for (const real value : head.forward(*set)) REQUIRE(std::isfinite(value));
    for (const real value : head.backward(*set, 0)) REQUIRE(std::isfinite(value));
  }
}

TEST_CASE("attention: a query that sees nothing gets zeros", "[phase1][kernels]") {
  for (const Table* set : usable_sets()) {
    Head head(5, 1, 4, 4, 0, 0, true);  // key 0 is a multiple of 5
    CAPTURE(set->name);
    const std::vector<real> y = head.forward(*set);
    for (std::size_t i = 0; i < 20; ++i) REQUIRE(y[i] == 0);
    for (std::size_t i = 20; i < 25; ++i) REQUIRE(y[i] == -inf);
    for (const real value : head.backward(*set, 0)) REQUIRE(value == 0);

    Head beside(20, 30, 4, 4, 0, 0, false);  // a value of the others is infinite
    beside.head.visible_in_block = [](const AttentionHead&, Index query, Index, Index, Index keys,
                                      std::uint64_t* keep) -> BlockVisibility {
      const Index bit = 3 - query;  // of the one that sees nothing
      std::fill(keep, keep + keys, bit < 0 ? ~std::uint64_t(0) : ~(std::uint64_t(1) << bit));
      return {keys, 0};
    };
    beside.v.data()[7 * beside.v_row] = inf;
    const std::vector<real> z = beside.forward(*set);
    for (std::size_t e = 12; e < 16; ++e) REQUIRE(z[e] == 0);
    REQUIRE(z[80 + 3] == -inf);
    REQUIRE(z[8] == inf);
  }
}

TEST_CASE("attention: nothing before or behind the operands counts", "[phase1][kernels]") {
  const auto all = [](const AttentionHead&, Index, Index, Index, Index keys, std::uint64_t* keep) {
    std::fill(keep, keep + keys, ~std::uint64_t(0));
    return BlockVisibility{keys, 0};
  };
  for (const Table* set : usable_sets()) {  // a score with what stands around is huge
    for (const real sign : {real(1), real(-1)}) {
      for (const auto sees : {AttentionHead{}.visible_in_block, +all}) {
        Head head(3, 70, 2, 3, 0, 0, false);
        head.head.visible_in_block = sees;
        for (Index i = 0; i < 3 * 2; ++i) head.q.data()[i] = sign;
        for (Index j = 0; j < 70 * 2; ++j) head.k.data()[j] = 0;
        for (Index j = 0; j < 70 * 3; ++j) head.v.data()[j] = real(2);
        const std::vector<real> y = head.forward(*set), d = head.backward(*set, 0);
        CAPTURE(set->name, sign, sees == nullptr);
        for (std::size_t i = 0; i < 9; ++i) REQUIRE(y[i] == Approx(2));
        for (std::size_t i = 9; i < 12; ++i) REQUIRE(y[i] == Approx(std::log(70.0)));
        for (std::size_t i = 0; i < 6; ++i) REQUIRE(d[i] == 0);  // keys of 0 say nothing of q
        for (Index e = 0; e < 3; ++e) {
          double sum = 0;  // each key has a weight of 1/70
          for (Index i = 0; i < 3; ++i) sum += double(head.d_out.data()[i * 3 + e]);
          REQUIRE(close(d[std::size_t(6 + 140 + e)], real(sum / 70), 1e-5, 1e-6));
          REQUIRE(close(d[std::size_t(6 + 140 + 69 * 3 + e)], real(sum / 70), 1e-5, 1e-6));
        }
      }
    }
  }
}

}  // namespace tapestry::kernels
