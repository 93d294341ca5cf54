#include "tapestry/io/npy.hpp"

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <string>

#include "catch.hpp"
#include "ops/expect.hpp"
#include "tapestry/memory.hpp"
#include "tapestry/ops.hpp"
#include "temporary_folder.hpp"

using namespace tapestry;

namespace {

using Ids = std::vector<std::int32_t>;

template <class Number>
std::string bytes_of(std::initializer_list<Number> numbers) {
  return {reinterpret_cast<const char*>(numbers.begin()), numbers.size() * sizeof(Number)};
}

// A file as other programs may write it.
std::string file_of(const std::string& header, const std::string& data, int version = 1) {
  std::string bytes = "\x93NUMPY";
  bytes += static_cast<char>(version);
  bytes += '\0';
  const auto length = static_cast<std::uint32_t>(header.size());
  std::string length_bytes(4, '\0');
  std::memcpy(length_bytes.data(), &length, 4);
  return bytes + length_bytes.substr(0, version == 1 ? 2 : 4) + header + data;
}

std::string header_of(const std::string& type, const std::string& shape,
                      const std::string& order = "False") {
  return "{'descr': '" + type + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
}

std::string array(const std::string& type, const std::string& shape, const std::string& data,
                  const std::string& order = "False") {
  return file_of(header_of(type, shape, order), data);
}

Tensor read(const std::string& bytes) {
  const TemporaryFolder folder;
  std::ofstream(folder / "a.npy", std::ios::binary) << bytes;
  return read_npy(folder / "a.npy");
}

Indices read_indices(const std::string& bytes) {
  const TemporaryFolder folder;
  std::ofstream(folder / "a.npy", std::ios::binary) << bytes;
  return read_npy_indices(folder / "a.npy");
}

// "" if reading throws an Error of one short line with the file's name and these words.
std::string refused(const std::string& bytes, const char* words) {
  return complaint([&] { read(bytes); }, {"read_npy: ", "a.npy: ", words});
}

const std::string one = bytes_of<float>({1});

}  // namespace

TEST_CASE("a .npy file has exactly the bytes that numpy.save writes", "[phase2][io]") {
  const TemporaryFolder folder;
  const std::string type = in_double ? "<f8" : "<f4";
  write_npy(folder / "a.npy", Tensor({2, 3}, {1, 2, 3, 4, 5, 6}));
  std::string header = "{'descr': '" + type + "', 'fortran_order': False, 'shape': (2, 3), }";
  header.resize(117, ' ');
  CHECK(content(folder / "a.npy") == file_of(header + '\n', bytes_of<real>({1, 2, 3, 4, 5, 6})));
  write_npy(folder / "b.npy", Indices({2}, {7, -8}));
  header = "{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }";
  header.resize(117, ' ');
  CHECK(content(folder / "b.npy") == file_of(header + '\n', bytes_of<std::int32_t>({7, -8})));
}

TEST_CASE("arrays come back from a .npy file: every rank, empty, strided, NaN", "[phase2][io]") {
  const TemporaryFolder folder;
  const Tensor matrix({2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor odd({3}, {infinity, -infinity, -0.25});
  const Tensor deep = random_tensor({2, 1, 3, 1, 2, 5});
  for (const Tensor& x : {matrix, transpose(matrix), slice(matrix, 1, 1, 3), odd, deep, Tensor(7),
                          Tensor::zeros({0}), Tensor::zeros({3, 0, 2})}) {
    CAPTURE(to_string(x.shape()));
    write_npy(folder / "deep/er/a.npy", x);
    CHECK(difference(read_npy(folder / "deep/er/a.npy"), x.shape(), doubles(x), 0) == "");
    CHECK((content(folder / "deep/er/a.npy").size() -
           static_cast<std::size_t>(x.numel()) * sizeof(real)) %
              64 ==
          0);
  }
  write_npy(folder / "a.npy", Tensor(std::numeric_limits<double>::quiet_NaN()));
  CHECK(std::isnan(read_npy(folder / "a.npy").item()));
  for (const Indices& ids : {Indices({2, 2}, {1, -1, 2147483647, 0}), Indices({0}, {})}) {
    write_npy(folder / "a.npy", ids);
    CHECK(read_npy_indices(folder / "a.npy").shape == ids.shape);
    CHECK(read_npy_indices(folder / "a.npy").values == ids.values);
  }
}

TEST_CASE("an undefined tensor is not written, and the old file stays", "[phase2][io]") {
  const TemporaryFolder folder;
  write_npy(folder / "a.npy", Tensor(1));
  CHECK(complaint([&] { write_npy(folder / "a.npy", Tensor()); }, {"write_npy: ", "undefined"}) ==
        "");
  CHECK(complaint([&] { write_npy("/dev/full", Tensor(1)); },
                  {"write_npy: cannot write /dev/full: No space left on device"}) == "");
  Indices ids({2}, {7, -8});
  ids.values.push_back(9);
  CHECK(complaint([&] { write_npy(folder / "a.npy", ids); }, {"write_npy: "}) == "");
  CHECK(read_npy(folder / "a.npy").item() == 1);
  CHECK(folder.files() == 1);
}

TEST_CASE("files of other programs are read: types, versions, spellings", "[phase2][io]") {
  const std::string two = bytes_of<double>({0.5, -3});
  CHECK(difference(read(array("<f8", "(2,)", two)), {2}, {0.5, -3}) == "");
  CHECK(difference(read(array("<f4", "()", one)), {}, {1}) == "");
  CHECK(difference(read(array("<f4", "(1L, 1L)", one)), {1, 1}, {1}) == "");
  CHECK(difference(read(array("<f4", "(1,1)", one)), {1, 1}, {1}) == "");
  CHECK(difference(read(array("<f4", "(0, 3)", "")), {0, 3}, {}) == "");
  for (const int version : {2, 3}) {
    CHECK(difference(read(file_of(header_of("<f4", "(1,)"), one, version)), {1}, {1}) == "");
  }
  const std::string other = R"( {"shape":(1,),"fortran_order":True,"descr":"<f4"} )";
  CHECK(difference(read(file_of(other, one)), {1}, {1}) == "");
  const std::string header = header_of("<f4", "(1,)"), blanks(65'535 - header.size(), ' ');
  CHECK(difference(read(file_of(header + blanks, one)), {1}, {1}) == "");
  const std::string longs = bytes_of<std::int64_t>({5, -6});
  CHECK(read_indices(array("<i8", "(2,)", longs)).values == Ids{5, -6});
}

TEST_CASE("Fortran order, whose first axis runs fastest, becomes row-major", "[phase2][io]") {
  const std::string six = bytes_of<float>({1, 2, 3, 4, 5, 6});
  CHECK(difference(read(array("<f4", "(2, 3)", six, "True")), {2, 3}, {1, 3, 5, 2, 4, 6}) == "");
  CHECK(difference(read(array("<f4", "(3, 1, 2)", six, "True")), {3, 1, 2}, {1, 4, 2, 5, 3, 6}) ==
        "");
  CHECK(difference(read(array("<f4", "()", one, "True")), {}, {1}) == "");
  CHECK(read(array("<f4", "(0, 3)", "", "True")).shape() == Shape{0, 3});
  const std::string whole = bytes_of<std::int32_t>({1, 2, 3, 4});
  CHECK(read_indices(array("<i4", "(2, 2)", whole, "True")).values == Ids{1, 3, 2, 4});
}

TEST_CASE("what is no .npy file is refused", "[phase2][io]") {
  CHECK(refused("", "too short") == "");
  CHECK(refused("\x93NUMPY", "too short") == "");
  CHECK(refused(std::string("\x93NUMPY\x01\x00\x00", 9), "too short") == "");
  CHECK(refused(file_of("", ""), "'{' is missing at its end") == "");
  CHECK(refused("hello, hello, hello", "it is not a .npy file") == "");
  CHECK(refused("\x93NUMPX" + array("<f4", "(1,)", one).substr(6), "it is not a .npy file") == "");
  CHECK(refused(file_of("{}", "", 0), "its format is 0.0") == "");
  CHECK(refused(std::string("\x93NUMPY\x01\x02\x02\x00{}", 12), "its format is 1.2") == "");
  CHECK(refused("PK\x03\x04 and so on", ".npz archive") == "");
  CHECK(refused(file_of("{}", "", 4), "its format is 4.0") == "");
  CHECK(refused(file_of("{}", "", 255), "its format is 255.0") == "");
  CHECK(refused(std::string("\x93NUMPY\x01\x00\xff\xff{}", 12), "65535 bytes, but 2 follow") == "");
  CHECK(refused(std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff{}", 14), "4294967295 bytes") == "");
  CHECK(refused(file_of(std::string(70'000, ' '), "", 2), "65535 are the limit") == "");
  CHECK(complaint([] { read_npy("/nowhere/a.npy"); },
                  {"read_npy: /nowhere/a.npy: there is no such file."}) == "");
  CHECK(complaint([] { read_npy("/"); }, {"read_npy: /: it is not a regular file."}) == "");
}

TEST_CASE("headers that are not what they should be are refused", "[phase2][io]") {
  const auto header = [](const std::string& text, const char* words) {
    return refused(file_of(text, one), words);
  };
  CHECK(header("", "'{' is missing at its end") == "");
  CHECK(header("{", "a text in quotes is missing at its end") == "");
  CHECK(header("{}", "it has no 'descr'") == "");
  CHECK(header("{'descr': '<f4'}", "it has no 'fortran_order'") == "");
  CHECK(header("{'descr': '<f4', 'descr': '<f4'}", "'descr' stands twice") == "");
  CHECK(header("{'descr' '<f4'}", "':' is missing at ''<f4'}'") == "");
  CHECK(header("{'descr' '<f4', 'fortran_order': ", "':' is missing at ''<f4', 'fort'.") == "");
  CHECK(header("{'descr': '<f4", "a text in quotes is missing") == "");
  CHECK(header("{'more': 1}", "unknown entry 'more'") == "");
  CHECK(header("{'\xff\n': 1}",
               "unknown entry '?"
               "?'") == "");
  CHECK(header("{'descr': [('x', '<f4')]}", "named fields") == "");
  CHECK(header(header_of("<f4", "(1,)", "1"), "neither True nor False") == "");
  CHECK(header(header_of("<f4", "(1,)") + "x", "something after its '}'") == "");
}

TEST_CASE("shapes that make no sense are refused", "[phase2][io]") {
  const auto shape = [](const std::string& text, const char* words) {
    return refused(array("<f4", text, one), words);
  };
  CHECK(shape("1", "'(' is missing") == "");
  CHECK(shape("(1)", "a number, not a tuple") == "");
  CHECK(shape("(-1,)", "whole numbers from 0 on") == "");
  CHECK(shape("(1.0,)", "a number, not a tuple") == "");
  CHECK(shape("(1, 1.0)", "')' is missing at '.0)") == "");
  CHECK(shape("(,)", "whole numbers from 0 on") == "");
  CHECK(shape("(1, 1, 1, 1, 1, 1, 1)", "7 axes") == "");
  CHECK(shape("(9223372036854775808,)", "too large") == "");
  CHECK(shape("(4611686018427387904, 4)", "more elements than memory can hold") == "");
  CHECK(shape("(0, 9223372036854775807)", "more elements than memory can hold") == "");
  std::string ones = "(";
  for (int i = 0; i < 20'000; ++i) ones += "1,";
  CHECK(shape(ones + ")", "20000 axes") == "");
}

TEST_CASE("types that cannot be read are refused with a way out", "[phase2][io]") {
  const auto type = [](const std::string& name, const char* words) {
    return refused(array(name, "(1,)", one), words);
  };
  CHECK(type("|O", "Python objects") == "");
  CHECK(type("<c8", "type '<c8': only floats, whole numbers and booleans are read. Save x") == "");
  for (const char* none : {"", "f4", "|f4", "=f4", "<f1", "<f16", "<f", "<i3", "|b2", "<U1", "|V4",
                           "<m8[s]", "<f4 ", "\xff"}) {
    CAPTURE(none);
    CHECK(type(none, "only floats, whole numbers and booleans are read") == "");
  }
  CHECK(complaint([] { read_indices(array("<f4", "(1,)", one)); }, {"Use read_npy."}) == "");
  CHECK(complaint([] { read_indices(array("|b1", "(4,)", one)); }, {"'|b1'", "Use read_npy."}) ==
        "");
  const std::string large = bytes_of<std::int64_t>({3'000'000'000});
  CHECK(complaint([&] { read_indices(array("<i8", "(1,)", large)); },
                  {"its number 3000000000 does not fit into 32 bits. Use read_npy"}) == "");
}

TEST_CASE("every type of numbers is read, of either order of bytes", "[phase2][io]") {
  const auto reads = [](const std::string& type, const std::string& bytes) {
    return difference(read(array(type, "(2,)", bytes)), {2}, {1, -2}, 0);
  };
  CHECK(reads("<f2", {"\x00\x3c\x00\xc0", 4}) == "");
  CHECK(reads(">f2", {"\x3c\x00\xc0\x00", 4}) == "");
  CHECK(reads("<f4", {"\x00\x00\x80\x3f\x00\x00\x00\xc0", 8}) == "");
  CHECK(reads(">f4", {"\x3f\x80\x00\x00\xc0\x00\x00\x00", 8}) == "");
  CHECK(reads(">f8", {"\x3f\xf0\0\0\0\0\0\0\xc0\0\0\0\0\0\0\0", 16}) == "");
  CHECK(reads("|i1", "\x01\xfe") == "");
  CHECK(reads("<i2", {"\x01\x00\xfe\xff", 4}) == "");
  CHECK(reads(">i2", {"\x00\x01\xff\xfe", 4}) == "");
  CHECK(reads("<i4", {"\x01\0\0\0\xfe\xff\xff\xff", 8}) == "");
  CHECK(reads(">i4", {"\0\0\0\x01\xff\xff\xff\xfe", 8}) == "");
  CHECK(reads("<i8", bytes_of<std::int64_t>({1, -2})) == "");
  CHECK(reads(">i8", {"\0\0\0\0\0\0\0\x01\xff\xff\xff\xff\xff\xff\xff\xfe", 16}) == "");
  CHECK(difference(read(array("|u1", "(2,)", "\x01\xfe")), {2}, {1, 254}, 0) == "");
  CHECK(difference(read(array(">u2", "(1,)", "\xff\x01")), {1}, {65281}, 0) == "");
  CHECK(difference(read(array("<u4", "(1,)", {"\0\0\0\xff", 4})), {1}, {4278190080.0}, 0) == "");
  CHECK(difference(read(array("|b1", "(2,)", {"\x01\x00", 2})), {2}, {1, 0}, 0) == "");
  CHECK(read_indices(array(">i4", "(1,)", {"\0\0\x01\x02", 4})).values == Ids{258});
  CHECK(read_indices(array("|u1", "(2,)", "\x01\xfe")).values == Ids{1, 254});
  CHECK(read_indices(array(">u2", "(1, 2)", "\x01\x02\xff\xfe", "True")).values == Ids{258, 65534});
  CHECK(difference(read(array(">i2", "(2, 2)", {"\0\1\0\2\0\3\0\4", 8}, "True")), {2, 2},
                   {1, 3, 2, 4}, 0) == "");
}

TEST_CASE("a whole number is never rounded, and a boolean is 0 or 1", "[phase2][io]") {
  const std::int64_t most = std::int64_t{1} << std::numeric_limits<real>::digits;
  const auto inexact = [](std::int64_t number) {
    return refused(array("<i8", "(1,)", bytes_of<std::int64_t>({number})), "is not exact in");
  };
  CHECK(inexact(most + 1) == "");
  CHECK(inexact(-most - 1) == "");
  CHECK(inexact(std::numeric_limits<std::int64_t>::max()) == "");
  CHECK(refused(array("<i8", "(1,)", bytes_of<std::int64_t>({most + 1})),
                "Use read_npy_indices, or to round it save x.astype('<f4').") == "");
  const std::string good = bytes_of<std::int64_t>({most, -most, 2 * most + 4});
  CHECK(difference(read(array("<i8", "(3,)", good)), {3},
                   {double(most), -double(most), double(2 * most + 4)}, 0) == "");
  CHECK(refused(array("|b1", "(1,)", "\x02"),
                "its number 2 is neither false (0) nor true (1). To have it so save x") == "");
}

TEST_CASE("numbers must fill the file exactly, before memory is asked for", "[phase2][io]") {
  CHECK(refused(array("<f4", "(2,)", one), "needs 8 bytes, but there are 4: the file is cut") ==
        "");
  CHECK(refused(array("<f4", "(1,)", one + "x"), "something follows them") == "");
  const std::size_t before = memory_stats().peak_bytes;
  CHECK(refused(array("<f4", "(250000000000,)", one), "needs 1000000000000 bytes") == "");
  CHECK(memory_stats().peak_bytes - before < 1'000'000);
}

TEST_CASE("a .npy file cut off anywhere is refused, one with a changed byte at most misread",
          "[phase2][io]") {
  const std::string good = array("<f4", "(1, 2)", one + one);
  int refusals = 0;
  for (std::size_t length = 0; length < good.size(); ++length) {
    refusals += refused(good.substr(0, length), "") == "";
  }
  CHECK(refusals == static_cast<int>(good.size()));
  int read_anyway = 0;
  for (std::size_t place = 0; place < good.size(); ++place) {
    for (const int change : {1, 16, 128}) {
      std::string bytes = good;
      bytes[place] = static_cast<char>(bytes[place] ^ change);
      try {
        read_anyway += read(bytes).numel() == 2;  // another number, or a blank elsewhere
      } catch (const Error&) {
        ++refusals;
      }
    }
  }
  CHECK(refusals + read_anyway == static_cast<int>(good.size() * 4));
  CHECK(read_anyway >= 8 * 3);  // every change to the numbers
}
