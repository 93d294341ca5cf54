// Random numbers: the published generator, the same numbers for ever, and the right distributions.
#include "tapestry/random.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "catch.hpp"
#include "ops/expect.hpp"
#include "tensor/random_quantile.hpp"

using namespace tapestry;

TEST_CASE("the generator gives the published Philox 4x32-10 answer", "[phase0][random]") {
  Random random(0);
  for (const std::uint32_t expected : {0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u}) {
    CHECK(random.bits() == expected);
  }
}

// The numbers below come from a second implementation of the same papers, in another language.
TEST_CASE("all bits of seed, stream and position count", "[phase0][random]") {
  Random random(0xdeadbeefcafe1234, 5);
  random.seek((std::uint64_t{1} << 40) + 3);
  for (const std::uint32_t expected :
       {0x23a47989u, 0x02c6fe5bu, 0xfffa0b3du, 0x71793153u, 0x4f7d09efu, 0x51e55c7fu}) {
    CHECK(random.bits() == expected);
  }
  Random other_stream(0xdeadbeefcafe1234, (std::uint64_t{1} << 40) + 5);
  other_stream.seek((std::uint64_t{1} << 40) + 3);
  CHECK(other_stream.bits() != 0x23a47989u);
  Random other_seed(0x1eadbeefcafe1234, 5);
  other_seed.seek((std::uint64_t{1} << 40) + 3);
  CHECK(other_seed.bits() != 0x23a47989u);
}

TEST_CASE("the numbers of a seed never change", "[phase0][random]") {
  Random random(2026, 7);
  for (const double expected :
       {0.7732158036600478, 0.5795145682078332, 0.9304968562679574, 0.8066924457891111}) {
    CHECK(random.uniform() == expected);
  }
  for (const double expected :
       {1.1517587496731416, 1.5636486850336067, -1.2308357776230148, 0.9442032062635068}) {
    CHECK(std::abs(random.normal() - expected) <= 4e-16);
  }
  for (const Index expected : {26, 29, 31, 27, 71, 92, 26, 90}) {
    CHECK(random.randint(100) == expected);
  }
  CHECK(random.permutation(8) == std::vector<Index>{2, 4, 7, 5, 0, 1, 6, 3});
  CHECK(random.position() == 31);
}

TEST_CASE("streams of one seed have nothing in common", "[phase0][random]") {
  Random one(3, 0), other(3, 1);
  int equal = 0;
  double product = 0;
  constexpr int count = 20'000;
  for (int i = 0; i < count; ++i) {
    const double a = one.uniform() - 0.5, b = other.uniform() - 0.5;
    equal += a == b;
    product += a * b * 12;
  }
  CHECK(equal == 0);
  CHECK(std::abs(product / count) < 4 / std::sqrt(count));
}

TEST_CASE("a generator goes on where it was saved", "[phase0][random]") {
  Random random(11);
  random.bits();
  const std::uint64_t here = random.position();
  std::vector<std::uint32_t> first, again;
  for (int i = 0; i < 9; ++i) first.push_back(random.bits());
  random.seek(here);
  for (int i = 0; i < 9; ++i) again.push_back(random.bits());
  CHECK(first == again);
  Random fresh(11);
  fresh.seek(here + 5);
  CHECK(fresh.bits() == first[5]);
}

TEST_CASE("uniform numbers fill [0, 1) evenly", "[phase0][random]") {
  Random random(1);
  constexpr int count = 100'000;
  std::vector<int> bins(20);
  double sum = 0, square = 0, low = 1, high = 0;
  for (int i = 0; i < count; ++i) {
    const double u = random.uniform();
    low = std::min(low, u);
    high = std::max(high, u);
    sum += u;
    square += u * u;
    ++bins.at(static_cast<std::size_t>(u * 20));
  }
  CHECK(low >= 0);
  CHECK(high < 1);
  CHECK(std::abs(sum / count - 0.5) < 4 * std::sqrt(1.0 / 12 / count));
  CHECK(std::abs(square / count - 1.0 / 3) < 4 * std::sqrt(4.0 / 45 / count));
  double chi_square = 0;
  for (const int bin : bins) chi_square += std::pow(bin - count / 20.0, 2) / (count / 20.0);
  CHECK(chi_square < 50.8);  // 19 degrees of freedom, one in ten thousand
}

TEST_CASE("normal numbers have the moments and tails of the normal law", "[phase0][random]") {
  Random random(2);
  constexpr int count = 200'000;
  double sum = 0, square = 0, cube = 0, fourth = 0;
  std::vector<double> numbers(count);
  for (double& x : numbers) {
    x = random.normal();
    sum += x;
    square += x * x;
    cube += x * x * x;
    fourth += x * x * x * x;
  }
  const double root = std::sqrt(static_cast<double>(count));
  CHECK(std::abs(sum / count) < 4 / root);
  CHECK(std::abs(square / count - 1) < 4 * std::sqrt(2.0) / root);
  CHECK(std::abs(cube / count) < 4 * std::sqrt(15.0) / root);
  CHECK(std::abs(fourth / count - 3) < 4 * std::sqrt(96.0) / root);
  for (const double z : {-3.0, -2.0, -1.0, -0.3, 0.0, 0.5, 1.5, 2.5}) {
    CAPTURE(z);
    const double p = std::erfc(-z / std::sqrt(2.0)) / 2;
    const auto below =
        std::count_if(numbers.begin(), numbers.end(), [&](double x) { return x < z; });
    CHECK(std::abs(static_cast<double>(below) / count - p) < 4 * std::sqrt(p * (1 - p)) / root);
  }
}

TEST_CASE("a normal number is the quantile of a uniform one", "[phase0][random]") {
  Random uniform(5), normal(5);
  int near = 0, same = 0;
  for (int i = 0; i < 2'000; ++i) {
    const double u = uniform.uniform(), z = normal.normal();
    near += std::abs(std::erfc(-z / std::sqrt(2.0)) / 2 - u) < 1e-15;
    same += z == normal_quantile(u + 0x1p-55);  // never of 0
  }
  CHECK(near == 2'000);
  CHECK(same == 2'000);
}

TEST_CASE("randint(n) gives each of n numbers equally often", "[phase0][random]") {
  Random random(4);
  std::vector<int> seen(7);
  for (int i = 0; i < 70'000; ++i) ++seen.at(static_cast<std::size_t>(random.randint(7)));
  for (const int times : seen) CHECK(std::abs(times - 10'000) < 4 * std::sqrt(70'000 * 6.0 / 49));
  CHECK(random.randint(1) == 0);
}

TEST_CASE("randint(n) favours nothing when n is close to 2^32", "[phase0][random]") {
  Random random(6);
  constexpr Index count =
      3 * (Index{1} << 30);  // careless, multiples of 3 would come twice as often
  int multiples = 0;
  Index least = count, most = 0;
  for (int i = 0; i < 40'000; ++i) {
    const Index x = random.randint(count);
    least = std::min(least, x);
    most = std::max(most, x);
    multiples += x % 3 == 0;
  }
  CHECK(least >= 0);
  CHECK(most < count);
  CHECK(std::abs(multiples - 40'000 / 3.0) < 4 * std::sqrt(40'000 * 2.0 / 9));
}

TEST_CASE("randint of a power of two refuses no number", "[phase0][random]") {
  Random random(7), words(7);
  for (int i = 0; i < 40; ++i) {
    CHECK(random.randint(Index{1} << 31) == static_cast<Index>(words.bits() >> 1));
  }
  CHECK(random.position() == 40);
}

TEST_CASE("impossible requests are refused in words", "[phase0][random]") {
  Random random(0);
  CHECK(complaint([&] { random.randint(0); }, {"randint(0)", "1 .. 4294967295"}) == "");
  CHECK(complaint([&] { random.randint(Index{1} << 33); }, {"randint(8589934592)"}) == "");
  CHECK(complaint([&] { random.randint(Index{1} << 32); }, {"randint(4294967296)"}) == "");
  CHECK(random.randint((Index{1} << 32) - 1) >= 0);
  CHECK(complaint([&] { random.permutation(-1); }, {"permutation(-1)", "0 .. 4294967295"}) == "");
  constexpr Index most = std::numeric_limits<Index>::max();
  REQUIRE(complaint([&] { random.permutation(most); }, {"permutation(9223372036854775807)"}) == "");
  CHECK(complaint([&] { random.permutation(Index{1} << 32); }, {"(4294967296)"}) == "");
}

TEST_CASE("a permutation holds every number once, in every order", "[phase0][random]") {
  Random random(8);
  std::vector<Index> order = random.permutation(1000);
  std::vector<Index> sorted = order, all(1000);
  std::iota(all.begin(), all.end(), Index{0});
  CHECK(order != all);
  std::sort(sorted.begin(), sorted.end());
  CHECK(sorted == all);
  CHECK(random.permutation(0).empty());
  CHECK(random.permutation(1) == std::vector<Index>{0});
  std::vector<int> seen(6);  // the orders of three, read as numbers
  for (int i = 0; i < 6'000; ++i) {
    order = random.permutation(3);
    ++seen.at(static_cast<std::size_t>(order[0] * 2 + (order[1] > order[2])));
  }
  for (const int times : seen) CHECK(std::abs(times - 1000) < 4 * std::sqrt(6'000 * 5.0 / 36));
}

TEST_CASE("random tensors draw the same numbers one by one", "[phase0][random]") {
  Random tensors(9), numbers(9);
  const Tensor u = tensors.uniform({3, 5}, -2, 3), z = tensors.normal({7}, 10, 0.5);
  CHECK(difference(u, {3, 5}, tabulate({3, 5}, [&](const Place&) {
                     return -2 + 5 * numbers.uniform();
                   })) == "");
  CHECK(difference(z, {7},
                   tabulate({7}, [&](const Place&) { return 10 + 0.5 * numbers.normal(); })) == "");
  CHECK(tensors.uniform({0, 4}, 0, 1).numel() == 0);
  CHECK(tensors.normal({}).ndim() == 0);
  CHECK(tensors.position() == numbers.position() + 2);
}

TEST_CASE("normal numbers, however far out", "[phase0][random]") {
  // 2^-55 is the least that uniform() hands on; beyond e^-25 a third pair of polynomials is used.
  const auto error = [](double p) {
    return std::abs(std::erfc(-normal_quantile(p) / std::sqrt(2.0)) / 2 / p - 1);
  };
  for (const double p :
       {0x1p-55, 1e-16, 1e-13, 0x1.ffp-40, 1.3e-11, 1.4e-11, 1e-9, 1e-4, 0.07, 0.2, 0.5}) {
    CAPTURE(p);
    CHECK(error(p) < 1e-13);
  }
  CHECK(error(1e-300) < 1e-12);
  CHECK(normal_quantile(0.5) == 0);
  CHECK(normal_quantile(0.875) == -normal_quantile(0.125));
  CHECK(normal_quantile(1 - 0x1p-40) == -normal_quantile(0x1p-40));
}
