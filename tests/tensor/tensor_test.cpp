// Tensors: numbers, views, single elements, and what they look like as text.
#include "tapestry/tensor.hpp"

#include <cmath>
#include <functional>
#include <limits>
#include <sstream>
#include <vector>

#include "catch.hpp"
#include "ops/expect.hpp"
#include "tapestry/analysis/patterns.hpp"
#include "tapestry/generation.hpp"
#include "tapestry/io/npy.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/text/batch.hpp"
#include "tapestry/text/corpus.hpp"

using namespace tapestry;

TEST_CASE("a tensor is made from values in row-major order", "[phase0][tensor]") {
  const Tensor x({2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK(x.ndim() == 2);
  CHECK(x.numel() == 6);
  CHECK(x.size(-1) == 3);
  CHECK(x.at({0, 2}) == 3);
  CHECK(x.at({1, 0}) == 4);
  const std::vector<real> numbers = {7, 8};
  CHECK(difference(Tensor({2}, numbers), {2}, {7, 8}) == "");
  CHECK(difference(Tensor(1.5), {}, {1.5}) == "");
  CHECK(complaint([] { Tensor({2, 2}, {1, 2, 3}); }, {"3 values", "shape (2, 2)", "4 elements"}) ==
        "");
  CHECK(complaint([&] { Tensor({3}, numbers); }, {"2 values", "3 elements"}) == "");
}

TEST_CASE("tensors of one value, of counts, and the identity", "[phase0][tensor]") {
  CHECK(difference(Tensor::full({2, 2}, -3), {2, 2}, {-3, -3, -3, -3}) == "");
  CHECK(difference(Tensor::zeros({3}), {3}, {0, 0, 0}) == "");
  CHECK(difference(Tensor::ones({}), {}, {1}) == "");
  CHECK(difference(Tensor::arange(4), {4}, {0, 1, 2, 3}) == "");
  CHECK(difference(Tensor::arange(0), {0}, {}) == "");
  CHECK(difference(Tensor::eye(2), {2, 2}, {1, 0, 0, 1}) == "");
  CHECK(Tensor::eye(0).shape() == Shape{0, 0});
  CHECK(Tensor::empty({3, 0}).numel() == 0);
}

TEST_CASE("copies share the numbers, clones do not", "[phase0][tensor]") {
  const Tensor x({2}, {1, 2});
  Tensor copy = x;
  Tensor clone = x.clone();
  copy.set({0}, 9);
  CHECK(x.at({0}) == 9);
  CHECK(clone.at({0}) == 1);
  CHECK(copy.buffer() == x.buffer());
  CHECK(!(clone.buffer() == x.buffer()));
  CHECK(x.buffer().owners() == 2);
}

TEST_CASE("a view reads the same numbers with other strides", "[phase0][tensor]") {
  const Tensor x = Tensor::arange(6).as_strided({2, 3}, row_major({2, 3}), 0);
  const Tensor columns = x.as_strided({3, 2}, {1, 3}, 0);
  CHECK(difference(columns, {3, 2}, {0, 3, 1, 4, 2, 5}) == "");
  const Tensor every_other = x.as_strided({3}, {2}, 1);
  CHECK(difference(every_other, {3}, {1, 3, 5}) == "");
  CHECK(every_other.offset() == 1);
  CHECK(every_other.data() == x.data() + 1);
  CHECK(difference(x.as_strided({2, 3}, {0, 1}, 3), {2, 3}, {3, 4, 5, 3, 4, 5}) == "");
}

TEST_CASE("contiguous copies only when it must", "[phase0][tensor]") {
  const Tensor x = Tensor::arange(12).as_strided({3, 4}, row_major({3, 4}), 0);
  CHECK(x.contiguous().buffer() == x.buffer());
  const Tensor rows = slice(x, 0, 1, 3), columns = slice(x, 1, 1, 3);
  CHECK(rows.is_contiguous());
  CHECK(rows.contiguous().buffer() == x.buffer());
  CHECK(!columns.is_contiguous());
  const Tensor dense = columns.contiguous();
  CHECK(dense.is_contiguous());
  CHECK(!(dense.buffer() == x.buffer()));
  CHECK(difference(dense, {3, 2}, {1, 2, 5, 6, 9, 10}) == "");
  CHECK(transpose(Tensor::zeros({1, 5})).is_contiguous());  // strides of size 1 do not matter
  CHECK(transpose(Tensor::zeros({0, 5})).is_contiguous());
  CHECK(!expand(Tensor(1), {2}).is_contiguous());
}

TEST_CASE("a clone of any strided view is dense and equal", "[phase0][tensor]") {
  const Shape shape{3, 4, 5, 17};
  const Tensor x = random_tensor(shape);
  for (int a = 0; a < 4; ++a) {
    for (int b = 0; b < 4; ++b) {
      const Tensor view = slice(transpose(x, a, b), 1, 1, 3);
      const Tensor copy = view.clone();
      CHECK(copy.is_contiguous());
      CHECK(difference(copy, view.shape(), tabulate(view.shape(), [&](const Place& place) {
                         return element(view, place);
                       })) == "");
    }
  }
}

TEST_CASE("single elements can be read and written", "[phase0][tensor]") {
  Tensor x = Tensor::zeros({2, 2});
  x.set({1, 0}, 2.5);
  CHECK(x.at({1, 0}) == 2.5);
  CHECK(transpose(x).at({0, 1}) == 2.5);
  Tensor number(4);
  number.set({}, 5);
  CHECK(number.at({}) == 5);
  CHECK(number.item() == 5);
  CHECK(Tensor::ones({1, 1}).item() == 1);
}

TEST_CASE("positions outside are refused, and named", "[phase0][tensor]") {
  Tensor x = Tensor::zeros({2, 3});
  CHECK(complaint([&] { (void)x.at({2, 0}); }, {"position (2, 0)", "not inside shape (2, 3)"}) ==
        "");
  CHECK(complaint([&] { (void)x.at({0, -1}); }, {"position (0, -1)", "shape (2, 3)"}) == "");
  CHECK(complaint([&] { (void)x.at({0}); }, {"position (0)", "shape (2, 3)"}) == "");
  CHECK(complaint([&] { (void)x.at({0, 0, 0, 0, 0, 0, 0}); }, {"(0, 0, 0, 0, 0, 0, 0)"}) == "");
  CHECK(complaint([&] { x.set({5, 5}, 1); }, {"set: position (5, 5)", "shape (2, 3)"}) == "");
  constexpr Index most = std::numeric_limits<Index>::max();  // times the stride it overflows
  CHECK(complaint([&] { (void)x.at({most, 0}); }, {"at: position (9223372036854775807, 0)"}) == "");
  CHECK(complaint([&] { (void)x.item(); }, {"item", "(2, 3)", "exactly one", "at({"}) == "");
  CHECK(complaint([] { (void)Tensor::zeros({0}).item(); }, {"item", "(0)"}) == "");
}

TEST_CASE("no tensor at all is told apart and refused", "[phase0][tensor]") {
  const Tensor none;
  CHECK(!none.defined());
  CHECK(Tensor::zeros({0}).defined());
  CHECK(complaint([&] { (void)none.data(); }, {"undefined"}) == "");
  CHECK(complaint([&] { (void)none.item(); }, {"item", "undefined"}) == "");
  CHECK(complaint([&] { (void)none.values(); }, {"undefined"}) == "");
  CHECK(complaint([&] { (void)(none + 1); }, {"undefined"}) == "");
  CHECK(complaint([&] { (void)exp(none); }, {"undefined"}) == "");
  CHECK(to_string(none) == "(undefined)");
  CHECK(summary(none) == "(undefined)");
}

TEST_CASE("the largest difference knows NaN and infinity", "[phase0][tensor]") {
  const Tensor x({3}, {1, 2, infinity});
  CHECK(largest_difference(x, x) == 0);
  CHECK(largest_difference(x, Tensor({3}, {1, 2.5, infinity})) == 0.5);
  CHECK(largest_difference(Tensor({3}, {1, 2, 3}), Tensor({3}, {5, 2, 4})) == 4);
  CHECK(largest_difference(x, Tensor({3}, {1, 2, -infinity})) == infinity);
  CHECK(std::isnan(largest_difference(x, Tensor({3}, {1, NAN, infinity}))));
  CHECK(largest_difference(Tensor::zeros({0}), Tensor::zeros({0})) == 0);
  CHECK(largest_difference(transpose(Tensor({1, 2}, {1, 2})), Tensor({2, 1}, {1, 4})) == 2);
  CHECK(complaint([&] { largest_difference(x, Tensor({1, 3}, {1, 2, 3})); },
                  {"largest_difference", "(3)", "(1, 3)", "equal"}) == "");
}

TEST_CASE("indices need as many numbers as their shape has places", "[phase0][tensor]") {
  const Indices ids({2, 2}, {1, 2, 3, 4});
  CHECK(ids.shape == Shape{2, 2});
  CHECK(complaint([] { Indices({3}, {1, 2}); }, {"2 values", "(3)", "3 elements"}) == "");
}

// ---------------------------------------------------------------- as text

TEST_CASE("small tensors print every number, aligned", "[phase0][tensor]") {
  CHECK(to_string(Tensor(3)) == "() 3");
  CHECK(to_string(Tensor(2.5)) == "() 2.5000");
  CHECK(to_string(Tensor({3}, {1, 2, 3})) == "(3) [1 2 3]");
  CHECK(to_string(Tensor({2, 2}, {1, -2.5, 3, 100})) ==
        "(2, 2)\n"
        "[[  1.0000  -2.5000]\n"
        " [  3.0000 100.0000]]");
  CHECK(to_string(Tensor({2, 1, 2}, {1, 2, 3, 4})) ==
        "(2, 1, 2)\n"
        "[[[1 2]]\n"
        " [[3 4]]]");
  CHECK(to_string(Tensor({2}, {0.125, 12.5}), 2) == "(2) [ 0.12 12.50]");
}

TEST_CASE("a view prints in its own order", "[phase0][tensor]") {
  CHECK(to_string(transpose(Tensor({2, 3}, {1, 2, 3, 4, 5, 6}))) ==
        "(3, 2)\n"
        "[[1 4]\n"
        " [2 5]\n"
        " [3 6]]");
}

TEST_CASE("empty tensors print their brackets", "[phase0][tensor]") {
  CHECK(to_string(Tensor::zeros({0})) == "(0) []");
  CHECK(to_string(Tensor::zeros({0, 3})) == "(0, 3)\n[]");
  CHECK(to_string(Tensor::zeros({2, 0})) == "(2, 0)\n[[]\n []]");
}

TEST_CASE("numbers that are not finite print as words", "[phase0][tensor]") {
  CHECK(to_string(Tensor({4}, {NAN, infinity, -infinity, 1.5})) ==
        "(4) [   nan    inf   -inf 1.5000]");
  CHECK(to_string(Tensor({2}, {NAN, 1})) == "(2) [nan   1]");
  CHECK(to_string(Tensor({2}, {std::copysign(NAN, -1.0), NAN})) == "(2) [nan nan]");
}

TEST_CASE("very large and very small numbers print with an exponent", "[phase0][tensor]") {
  CHECK(to_string(Tensor({2}, {1e-6, 2e-6})) == "(2) [1.0000e-06 2.0000e-06]");
  CHECK(to_string(Tensor({2}, {1e7, 2.5})) == "(2) [1.0000e+07 2.5000e+00]");
  CHECK(to_string(Tensor({1}, {1e6})) == "(1) [1.0000e+06]");
  CHECK(to_string(Tensor({2}, {0.5, -100.5}), 17) ==
        "(2) [   0.50000000000000000 -100.50000000000000000]");
  CHECK(to_string(Tensor({2}, {0, 999'999})) == "(2) [     0 999999]");
  CHECK(to_string(Tensor({2}, {0, 5e-5})) == "(2) [0.0000e+00 5.0000e-05]");
  CHECK(to_string(Tensor({2}, {0, 1e-3})) == "(2) [0.0000 0.0010]");
  CHECK(to_string(Tensor({2}, {0, 0})) == "(2) [0 0]");
  CHECK(to_string(Tensor({1}, {1}), 0) == "(1) [1]");  // just not below 10 to the power of -0
}

TEST_CASE("large tensors show the ends of each axis", "[phase0][tensor]") {
  CHECK(to_string(Tensor::arange(1000)) == "(1000) [  0   1   2 ... 997 998 999]");
  CHECK(to_string(Tensor::arange(8), 4, 7) == "(8) [0 1 2 ... 5 6 7]");
  CHECK(to_string(Tensor::arange(8), 4, 8) == "(8) [0 1 2 3 4 5 6 7]");
  CHECK(to_string(Tensor::arange(6), 4, 5) == "(6) [0 1 2 3 4 5]");
  CHECK(to_string(reshape(Tensor::arange(80), {10, 8}), 4, 50) ==
        "(10, 8)\n"
        "[[ 0  1  2 ...  5  6  7]\n"
        " [ 8  9 10 ... 13 14 15]\n"
        " [16 17 18 ... 21 22 23]\n"
        " ...\n"
        " [56 57 58 ... 61 62 63]\n"
        " [64 65 66 ... 69 70 71]\n"
        " [72 73 74 ... 77 78 79]]");
  CHECK(to_string(reshape(Tensor::arange(3 * 7 * 2), {3, 7, 2}), 4, 10) ==
        "(3, 7, 2)\n"
        "[[[ 0  1]\n  [ 2  3]\n  [ 4  5]\n  ...\n  [ 8  9]\n  [10 11]\n  [12 13]]\n"
        " [[14 15]\n  [16 17]\n  [18 19]\n  ...\n  [22 23]\n  [24 25]\n  [26 27]]\n"
        " [[28 29]\n  [30 31]\n  [32 33]\n  ...\n  [36 37]\n  [38 39]\n  [40 41]]]");
}

TEST_CASE("no printed line is longer than 80 columns", "[phase0][tensor]") {
  for (const Index width : {1, 6, 7, 9, 10, 11, 19, 20, 26, 27, 39, 40, 41, 100}) {
    for (const Tensor& x : {Tensor::arange(width), random_tensor({2, width}),
                            random_tensor({1, 2, 2, width}), 1e9 * random_tensor({3, width})}) {
      CAPTURE(width, x.ndim());
      std::istringstream lines(to_string(x));
      std::size_t longest = 0;
      for (std::string line; std::getline(lines, line);) longest = std::max(longest, line.size());
      CHECK(longest <= 80);
    }
  }
}

TEST_CASE("numbers are left out only where the line would be too long", "[phase0][tensor]") {
  const auto left_out = [](const Tensor& x) {
    return to_string(x).find("...") != std::string::npos;
  };
  CHECK_FALSE(left_out(Tensor::zeros({36})));
  CHECK(left_out(Tensor::zeros({37})));
  CHECK_FALSE(left_out(Tensor::zeros({2, 38})));     // 76 columns and 4 brackets
  CHECK(left_out(Tensor::full({2, 11}, 1.25)));      // 77
  CHECK_FALSE(left_out(Tensor::zeros({1, 2, 37})));  // 74 and 6
}

TEST_CASE("a summary is one line with range, mean and a loud count of bad numbers",
          "[phase0][tensor]") {
  CHECK(summary(Tensor({2, 2}, {-1.5, 0.5, 1, 2})) == "(2, 2) min -1.5 max 2 mean 0.5");
  CHECK(summary(Tensor({4}, {NAN, infinity, -infinity, 1})) ==
        "(4) min 1 max 1 mean 1  1 NaN!  2 INF!");
  CHECK(summary(Tensor({2}, {NAN, NAN})) == "(2)  2 NaN!");
  CHECK(summary(Tensor::zeros({0, 2})) == "(0, 2) empty");
  CHECK(summary(Tensor(7)) == "() min 7 max 7 mean 7");
  CHECK(summary(transpose(Tensor({1, 2}, {3, 4}))) == "(2, 1) min 3 max 4 mean 3.5");
}

TEST_CASE("indices whose shape and values disagree are refused by all that read them",
          "[phase0][tensor]") {
  Indices ids;
  ids.shape = {100000};
  const auto refused = [&](const char* operation, const std::function<void()>& read) {
    const std::string start = std::string(operation) + ": 0 values do not fill shape (100000)";
    return complaint(read, {start.c_str(), "100000 elements"});
  };
  CHECK(complaint([] { Indices({2}, {1}); }, {"indices: 1 values do not fill shape (2)"}) == "");
  const Tensor one = Tensor::zeros({1}), table = Tensor::zeros({3, 2});
  Random random(1);
  CHECK(refused("embedding", [&] { embedding(table, ids); }) == "");
  CHECK(refused("gather", [&] { gather(one, 0, ids); }) == "");
  CHECK(refused("cross_entropy", [&] { cross_entropy(Tensor::zeros({100000, 2}), ids); }) == "");
  CHECK(refused("split_text", [&] { split_text(ids); }) == "");
  CHECK(refused("random_windows", [&] { random_windows(ids, 1, 2, random); }) == "");
  CHECK(refused("write_npy", [&] { write_npy("/proc/none/x.npy", ids); }) == "");
  CHECK(refused("weight_on", [&] { weight_on(expand(one, {100000, 1}), ids); }) == "");
  Indices targets({1, 2}, {0, 1});
  targets.values.resize(100000);
  CHECK(complaint([&] { exact_matches(Tensor::zeros({1, 2, 3}), targets); },
                  {"exact_matches: 100000 values do not fill shape (1, 2)"}) == "");
  targets.shape = {2};
  CHECK(complaint([&] { generate({}, targets, random); }, {"generate: 100000 values"}) == "");
}
