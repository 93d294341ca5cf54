#include "course/byte_counts.hpp"

#include <cmath>
#include <string>

#include "catch.hpp"
#include "ops/expect.hpp"

using namespace tapestry;

TEST_CASE("counts of bytes without context are their frequencies, mixed with 1/256",
          "[phase7][course]") {
  const ByteCounts counts("aaab", 0);  // 4 bytes, 2 different ones
  const auto bits = [](double often) { return -std::log2((often + 2.0 / 256) / 6); };
  CHECK(counts.bits_per_byte("a") == Approx(bits(3)));
  CHECK(counts.bits_per_byte("b") == Approx(bits(1)));
  CHECK(counts.bits_per_byte(std::string(1, '\0')) == Approx(bits(0)));
  CHECK(counts.bits_per_byte("ab") == Approx((bits(3) + bits(1)) / 2));
  CHECK(std::isnan(counts.bits_per_byte("")));
  CHECK(ByteCounts("", 0).bits_per_byte("xy") == Approx(8));
  CHECK(counts.size() == 2);
  CHECK(ByteCounts("aaab", 1).size() == 4);  // a, b; a behind a, b behind a
}

TEST_CASE("the probabilities of all bytes behind a context sum to 1", "[phase7][course]") {
  const std::string text = "the cat sat on the mat \xff\x00 the end";
  for (const int order : {0, 1, 2, 6}) {
    CAPTURE(order);
    const ByteCounts counts(text, order);
    for (const std::string before : {"", "t", "the", "on th", "zz", "\xff"}) {
      CAPTURE(before);
      double sum = 0;
      const double past = before.empty() ? 0 : counts.bits_per_byte(before) * double(before.size());
      for (int byte = 0; byte < 256; ++byte) {
        const std::string all = before + static_cast<char>(byte);
        sum += std::exp2(past - counts.bits_per_byte(all) * double(all.size()));
      }
      CHECK(sum == Approx(1));
    }
  }
}

TEST_CASE("a longer context tells more where the text has one", "[phase7][course]") {
  std::string text;
  for (int i = 0; i < 200; ++i) text += i % 3 == 0 ? "abc" : "abd";
  const double none = ByteCounts(text, 0).bits_per_byte(text);
  const double one = ByteCounts(text, 1).bits_per_byte(text);
  const double four = ByteCounts(text, 6).bits_per_byte(text);
  CHECK(none > 1.8);
  CHECK(one < 0.4);
  CHECK(four < 0.1);  // c, d, d is known three letters before
}

TEST_CASE("an order that does not fit into a key is refused", "[phase7][course]") {
  for (const int order : {-1, 7}) {
    const std::string words = "the order is " + std::to_string(order) + ": it must be 0 to 6.";
    CHECK(complaint([&] { ByteCounts("a", order); }, {words.c_str()}) == "");
  }
}
