#include "tapestry/io/bits.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <limits>
#include <string>

#include "catch.hpp"
#include "tapestry/error.hpp"
#include "tapestry/io/safetensors.hpp"
#include "temporary_folder.hpp"

using namespace tapestry;

namespace {

using Path = std::filesystem::path;

// A file with one tensor "x" of that type, with these bytes.
void write_raw(const Path& path, const std::string& dtype, const std::string& shape,
               const std::string& bytes) {
  std::string json = R"({"x":{"dtype":")" + dtype + R"(","shape":)" + shape +
                     R"(,"data_offsets":[0,)" + std::to_string(bytes.size()) + "]}}";
  json.resize((json.size() + 7) / 8 * 8, ' ');
  std::string length(8, '\0');
  length[0] = static_cast<char>(json.size());
  std::ofstream(path, std::ios::binary) << length << json << bytes;
}

TensorDifference only_difference(const Path& a, const Path& b) {
  const BitsCompared found = compare_bits(a, b);
  REQUIRE(found.differences.size() == 1);
  return found.differences.front();
}

std::string refusal(const Path& a, const Path& b) {
  try {
    compare_bits(a, b);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("files of the same bits are the same, whatever their order", "[io][phase8]") {
  const TemporaryFolder folder;
  const real nan = std::numeric_limits<real>::quiet_NaN();
  const Tensor x({2, 2}, {1, 2, 3, nan}), y({3}, {4, 5, 6});
  write_safetensors(folder / "a", {{"x", x}, {"y", y}},
                    {{"k", "1"}, {"only a", ""}, {"same", "3"}});
  write_safetensors(folder / "b", {{"y", y}, {"x", x}},
                    {{"k", "2"}, {"only b", ""}, {"same", "3"}});
  const BitsCompared found = compare_bits(folder / "a", folder / "b");
  CHECK(found.tensors == 2);
  CHECK(found.numbers == 7);
  CHECK(found.differences.empty());
  CHECK(found.texts == std::vector<std::string>{"k", "only a", "only b"});
}

TEST_CASE("the first number that differs is told, and how far", "[io][phase8]") {
  const TemporaryFolder folder;
  const Tensor y = Tensor::ones({3});
  write_safetensors(folder / "a", {{"y", y}, {"x", Tensor({2, 3}, {1, 2, 3, 4, 5, 6})}});
  const real near = std::nextafter(std::nextafter(real{5}, real{6}), real{6});
  write_safetensors(folder / "b", {{"y", y}, {"x", Tensor({2, 3}, {1, 2, 3, 4, near, 7})}});
  const TensorDifference one = only_difference(folder / "a", folder / "b");
  CHECK(one.name == "x");
  CHECK(one.form.empty());
  CHECK(one.place == std::vector<Index>{1, 1});
  CHECK(one.first == "5");
  CHECK(one.second == (sizeof(real) == 4 ? "5.00000095" : "5.000000000000002"));
  CHECK(one.ulp == 2);
  CHECK(one.different == 2);
  CHECK(one.count == 6);
}

TEST_CASE("the distance counts the numbers of the type between", "[io][phase8]") {
  const TemporaryFolder folder;
  const auto ulp = [&](const std::string& dtype, const std::string& a, const std::string& b) {
    write_raw(folder / "a", dtype, "[1]", a);
    write_raw(folder / "b", dtype, "[1]", b);
    return only_difference(folder / "a", folder / "b").ulp;
  };
  const std::string zero(4, '\0'), minus_zero("\0\0\0\x80", 4), least("\1\0\0\0", 4),
      minus_least("\1\0\0\x80", 4), nan("\0\0\xc0\x7f", 4), infinity("\0\0\x80\x7f", 4),
      largest("\xff\xff\x7f\x7f", 4);
  CHECK(ulp("F32", zero, minus_zero) == 0);
  CHECK(ulp("F32", least, minus_least) == 2);
  CHECK(ulp("F32", largest, infinity) == 1);
  CHECK_FALSE(ulp("F32", nan, zero).has_value());
  CHECK(ulp("F16", std::string("\0\x3c", 2), std::string("\3\x3c", 2)) == 3);
  CHECK(ulp("BF16", std::string("\x80\x3f", 2), std::string("\x81\x3f", 2)) == 1);
  CHECK(ulp("F64", std::string(8, '\0'), std::string("\0\0\0\0\0\0\0\x80", 8)) == 0);
  CHECK_FALSE(ulp("I32", zero, least).has_value());
}

TEST_CASE("the distance knows infinity and signs in every type of floats", "[io][phase8]") {
  struct Type {
    const char* name;
    unsigned exponent, fraction;
  };
  const TemporaryFolder folder;
  for (const Type& type : {Type{"F64", 11, 52}, {"F32", 8, 23}, {"F16", 5, 10}, {"BF16", 8, 7}}) {
    CAPTURE(type.name);
    const std::size_t bytes = (1 + type.exponent + type.fraction) / 8;
    const auto two = [&](std::uint64_t bits) {  // a zero, and this number
      std::string text(2 * bytes, '\0');
      std::memcpy(text.data() + bytes, &bits, bytes);
      return text;
    };
    const auto ulp = [&](std::uint64_t a, std::uint64_t b) {
      write_raw(folder / "a", type.name, "[2]", two(a));
      write_raw(folder / "b", type.name, "[2]", two(b));
      const TensorDifference one = only_difference(folder / "a", folder / "b");
      CHECK(one.different == 1);
      CHECK(one.place == std::vector<Index>{1});
      return one.ulp;
    };
    const std::uint64_t sign = std::uint64_t{1} << (type.exponent + type.fraction);
    const std::uint64_t inf = sign - (std::uint64_t{1} << type.fraction), nan = inf + 1;
    const std::uint64_t quiet = inf + (std::uint64_t{1} << (type.fraction - 1));
    CHECK(ulp(inf - 1, inf) == 1);
    CHECK(ulp(inf, inf - 1) == 1);
    CHECK(ulp(sign + inf, inf) == 2 * inf);
    CHECK(ulp(sign + 1, 2) == 3);
    CHECK(ulp(2, sign + 1) == 3);
    CHECK(ulp(sign + 5, sign + 2) == 3);
    CHECK_FALSE(ulp(nan, 1).has_value());
    CHECK_FALSE(ulp(1, nan).has_value());
    CHECK_FALSE(ulp(quiet, inf).has_value());
    CHECK_FALSE(ulp(inf, sign + quiet).has_value());
  }
}

TEST_CASE("each tensor is compared up to its own end", "[io][phase8]") {
  const TemporaryFolder folder;
  write_safetensors(folder / "a", {{"x", Tensor({2}, {1, 2})}, {"y", Tensor({2}, {3, 4})}});
  write_safetensors(folder / "b", {{"x", Tensor({2}, {1, 5})}, {"y", Tensor({2}, {6, 4})}});
  const BitsCompared found = compare_bits(folder / "a", folder / "b");
  REQUIRE(found.differences.size() == 2);
  CHECK(found.differences[0].different == 1);
  CHECK(found.differences[1].different == 1);
  CHECK(found.differences[1].place == std::vector<Index>{0});
}

TEST_CASE("numbers of every type are compared as they are stored", "[io][phase8]") {
  const TemporaryFolder folder;
  const auto first = [&](const std::string& dtype, const std::string& a, const std::string& b) {
    write_raw(folder / "a", dtype, "[1]", a);
    write_raw(folder / "b", dtype, "[1]", b);
    const TensorDifference one = only_difference(folder / "a", folder / "b");
    return one.first + " " + one.second;
  };
  CHECK(first("I64", std::string("\7\0\0\0\0\0\0\0", 8), std::string("\x8\0\0\0\0\0\0\0", 8)) ==
        "7 8");
  // 2^24 + 1 is no 32-bit float, and 1 + 2^-52 is not 1.
  CHECK(first("I32", std::string("\1\0\0\1", 4), std::string("\2\0\0\1", 4)) ==
        (sizeof(real) == 4 ? "0x1000001 16777218" : "16777217 16777218"));
  CHECK(first("F64", std::string("\1\0\0\0\0\0\xf0\x3f", 8),
              std::string("\0\0\0\0\0\0\xf0\x3f", 8)) == "1.0000000000000002 1");
  CHECK(first("F8_E4M3", "a", "b") == "0x61 0x62");
  CHECK(first("U8", "a", "b") == "0x61 0x62");
  CHECK(first("U16", std::string("a\0", 2), std::string("b\0", 2)) == "97 98");
  write_raw(folder / "a", "F4", "[2]", "a");
  write_raw(folder / "b", "F4", "[2]", "b");
  CHECK(only_difference(folder / "a", folder / "b").form == "numbers of F4 differ");
  CHECK(only_difference(folder / "a", folder / "b").count == 0);
}

TEST_CASE("tensors of other shapes, types and names differ", "[io][phase8]") {
  const TemporaryFolder folder;
  write_safetensors(folder / "a", {{"x", Tensor::ones({2, 3})}, {"y", Tensor::ones({1})}});
  write_safetensors(folder / "b", {{"x", Tensor::ones({3, 2})}, {"z", Tensor::ones({1})}});
  const BitsCompared found = compare_bits(folder / "a", folder / "b");
  REQUIRE(found.differences.size() == 3);
  const std::string type = sizeof(real) == 4 ? "F32 " : "F64 ";
  CHECK(found.differences[0].form == type + "(2, 3) and " + type + "(3, 2)");
  CHECK(found.differences[1].name == "y");
  CHECK(found.differences[1].form == "only the first has it");
  CHECK(found.differences[2].name == "z");
  CHECK(found.differences[2].form == "only the second has it");
  write_safetensors(folder / "h", {{"y", Tensor::ones({1})}}, {}, Precision::half);
  write_safetensors(folder / "f", {{"y", Tensor::ones({1})}});
  CHECK(only_difference(folder / "h", folder / "f").form == "F16 (1) and " + type + "(1)");
}

TEST_CASE("what is no file of tensors is refused by name", "[io][phase8]") {
  const TemporaryFolder folder;
  write_safetensors(folder / "good", {{"x", Tensor::ones({1})}});
  const std::string missing = (folder / "none").string(), bad = (folder / "bad").string();
  CHECK(refusal(folder / "good", missing) == missing + ": there is no such file.");
  std::ofstream(bad) << "no";
  CHECK(refusal(bad, folder / "good").starts_with(bad + ": "));
  std::ofstream(bad) << std::string("\2\0\0\0\0\0\0\0", 8);
  CHECK(refusal(folder / "good", bad).find("2 bytes, but 0 follow") != std::string::npos);
}
