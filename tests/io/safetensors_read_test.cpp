// Files of other programs, and malicious ones.
#include <cstdint>
#include <fstream>
#include <string>

#include "catch.hpp"
#include "io/raw_safetensors.hpp"
#include "ops/expect.hpp"
#include "tapestry/error.hpp"
#include "tapestry/io/safetensors.hpp"
#include "tapestry/memory.hpp"
#include "temporary_folder.hpp"

using namespace tapestry;

namespace {

std::string floats(std::size_t count) { return std::string(4 * count, '\0'); }

Safetensors read(const std::string& bytes) {
  const TemporaryFolder folder;
  std::ofstream(folder / "a.safetensors", std::ios::binary) << bytes;
  return read_safetensors(folder / "a.safetensors");
}

// True if reading throws Error with these words, and the file's name, on one line.
bool refuses(const std::string& bytes, const std::string& words) {
  std::string message = "no error";
  try {
    read(bytes);
  } catch (const Error& error) {
    message = error.what();
  }
  CAPTURE(message);
  CHECK(message.find("a.safetensors: ") != std::string::npos);
  CHECK(message.find('\n') == std::string::npos);
  CHECK(message.size() < 600);
  CHECK(message.find(words) != std::string::npos);
  return message.find(words) != std::string::npos;
}

// A file with one tensor whose entry is given.
bool refuses_entry(const std::string& entry, const std::string& data, const std::string& words) {
  return refuses(with_length("{\"w\":" + entry + "}", data), words);
}

std::string entry(const std::string& shape, const std::string& offsets) {
  return R"({"dtype":"F32","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
}

}  // namespace

TEST_CASE("a file made by hand is read: any order, F32 and F64, padding", "[phase1][io]") {
  const double numbers[] = {0.5, -3};
  std::string data(16, '\0');
  std::memcpy(data.data(), numbers, 16);
  data += std::string("\x00\x00\x80\x3f", 4);
  const Safetensors file =
      read(with_length(R"({"b":{"data_offsets":[16,20],"shape":[],"dtype":"F32"},)"
                       R"( "a":{"dtype":"F64","shape":[1,2],"data_offsets":[0,16]},)"
                       R"( "nothing":{"dtype":"F64","shape":[0,9],"data_offsets":[16,16]}}    )",
                       data));
  REQUIRE(file.tensors.size() == 3);
  CHECK(file.tensors[0].name == "a");
  CHECK(file["a"].shape() == Shape{1, 2});
  CHECK(file["a"].values() == std::vector<real>{real{0.5}, -3});
  CHECK(file["b"].item() == 1);
  CHECK(file["nothing"].numel() == 0);
}

TEST_CASE("tensors of every dtype stand beside each other, and are read", "[phase1][io]") {
  const std::string numbers =
      std::string("\x00\x00\x80\xbf", 4) + std::string("\x00\xbc\x01\x00", 4) +  // F32, F16
      std::string("\x80\xbf\x80\x7f", 4) +                                       // BF16
      "\xff" + std::string(7, '\xff') + std::string("\x02\0\0\0", 4) +           // I64, I32
      "\xfd\xff" + "\xfe" + "\xfd" + std::string("\x01\x00", 2);                 // I16, I8, U8
  const Safetensors file =
      read(with_length(R"({"f32":{"dtype":"F32","shape":[],"data_offsets":[0,4]},)"
                       R"("f16":{"dtype":"F16","shape":[2],"data_offsets":[4,8]},)"
                       R"("bf16":{"dtype":"BF16","shape":[2],"data_offsets":[8,12]},)"
                       R"("i64":{"dtype":"I64","shape":[1,1],"data_offsets":[12,20]},)"
                       R"("i32":{"dtype":"I32","shape":[],"data_offsets":[20,24]},)"
                       R"("i16":{"dtype":"I16","shape":[],"data_offsets":[24,26]},)"
                       R"("i8":{"dtype":"I8","shape":[],"data_offsets":[26,27]},)"
                       R"("u8":{"dtype":"U8","shape":[],"data_offsets":[27,28]},)"
                       R"("bool":{"dtype":"BOOL","shape":[2],"data_offsets":[28,30]}})",
                       numbers));
  CHECK(file.skipped.empty());
  REQUIRE(file.tensors.size() == 9);
  CHECK(file["f32"].item() == -1);
  CHECK(file["f16"].values() == std::vector<real>{-1, real{0x1p-24}});
  CHECK(file["bf16"].values() == std::vector<real>{-1, real(infinity)});
  CHECK(file["i64"].shape() == Shape{1, 1});
  CHECK(file["i64"].item() == -1);
  CHECK(file["i32"].item() == 2);
  CHECK(file["i16"].item() == -3);
  CHECK(file["i8"].item() == -2);
  CHECK(file["u8"].item() == 253);
  CHECK(file["bool"].values() == std::vector<real>{1, 0});
}

TEST_CASE("what is not exact, or stands for something else, is skipped with a word",
          "[phase1][io]") {
  std::string counter(8, '\xff');  // 2^63 - 1
  counter[7] = '\x7f';
  const std::string header = R"({"counter":{"dtype":"I64","shape":[],"data_offsets":[0,8]},)"
                             R"("eights":{"dtype":"F8_E4M3","shape":[3],"data_offsets":[8,11]},)"
                             R"("odd":{"dtype":"BOOL","shape":[1],"data_offsets":[11,12]},)"
                             R"("fours":{"dtype":"F4","shape":[3,2],"data_offsets":[12,15]},)"
                             R"("sixes":{"dtype":"F6_E2M3","shape":[4],"data_offsets":[15,18]},)"
                             R"("w":{"dtype":"F32","shape":[1],"data_offsets":[18,22]}})";
  const Safetensors file = read(
      with_length(header, counter + "abc\x02" + "abcdef" + std::string("\x00\x00\x80\x3f", 4)));
  REQUIRE(file.tensors.size() == 1);
  CHECK(file["w"].item() == 1);  // the one behind those skipped
  REQUIRE(file.skipped.size() == 5);
  CHECK(file.skipped[0].name == "counter");
  CHECK(file.skipped[0].why == "its number 9223372036854775807 is not exact in " +
                                   std::to_string(8 * sizeof(real)) + "-bit floats");
  CHECK(file.skipped[1].why == "numbers of its dtype, F8_E4M3, are not read");
  CHECK(file.skipped[2].why == "its number 2 is neither false (0) nor true (1)");
  CHECK(complaint([&] { file["eights"]; },
                  {"tensor 'eights' was not read: numbers of its dtype, F8_E4M3"}) == "");
  const Parameters model = {{"w", Tensor::zeros({1})}, {"counter", Tensor(0)}};
  CHECK(complaint([&] { load_parameters(model, file); },
                  {"the file does not fit the model. Not read: 'counter' (its number"}) == "");
  CHECK(model[0].value.item() == 0);
}

TEST_CASE("a number of each dtype that is not read takes the bits of its name", "[phase1][io]") {
  const std::pair<const char*, int> dtypes[] = {{"C64", 64},    {"F8_E5M2", 8}, {"F8_E4M3", 8},
                                                {"F8_E8M0", 8}, {"F6_E2M3", 6}, {"F6_E3M2", 6},
                                                {"F4", 4}};
  for (const auto& [dtype, bits] : dtypes) {
    const std::string size = std::to_string(bits);  // bytes of eight numbers
    const std::string header = R"({"x":{"dtype":")" + std::string(dtype) +
                               R"(","shape":[8],"data_offsets":[0,)" + size + "]}}";
    const Safetensors file = read(with_length(header, std::string(std::size_t(bits), 'x')));
    REQUIRE(file.skipped.size() == 1);
    CHECK(file.skipped[0].why == "numbers of its dtype, " + std::string(dtype) + ", are not read");
  }
}

TEST_CASE("eight numbers of a dtype that is read take as many bytes as one has bits",
          "[phase1][io]") {
  for (const auto& [dtype, bits] : {std::pair{"F64", 64}, {"U64", 64}, {"U32", 32}, {"U16", 16}}) {
    const std::string header = R"({"x":{"dtype":")" + std::string(dtype) +
                               R"(","shape":[8],"data_offsets":[0,)" + std::to_string(bits) + "]}}";
    const Safetensors file = read(with_length(header, std::string(std::size_t(bits), '\0')));
    REQUIRE(file.tensors.size() == 1);
    CHECK(file["x"].values() == std::vector<real>(8));
  }
}

TEST_CASE("what is skipped must have its size too", "[phase1][io]") {
  CHECK(refuses_entry(R"({"dtype":"F8_E5M2","shape":[3],"data_offsets":[0,4]})", "abcd",
                      "(3) needs 3 bytes, but its offsets hold 4"));
  CHECK(refuses(
      with_length("{\"a\":" + entry("[1]", "[0,4]") + ",\"b\":" + entry("[1]", "[4,12]") + "}",
                  floats(3)),
      "'b' (1) needs 4 bytes, but its offsets hold 8."));
  CHECK(refuses_entry(R"({"dtype":"C64","shape":[1],"data_offsets":[0,4]})", "abcd", "8 bytes"));
  CHECK(refuses_entry(R"({"dtype":"F6_E3M2","shape":[3],"data_offsets":[0,2]})", "ab",
                      "(3) of F6_E3M2 does not end where a byte does"));
  CHECK(refuses_entry(R"({"dtype":"U64","shape":[576460752303423487],"data_offsets":[0,8]})",
                      floats(2), "needs 4611686018427387896 bytes"));
}

TEST_CASE("what is no safetensors file is refused", "[phase1][io]") {
  CHECK(refuses("", "too short"));
  CHECK(refuses("1234567", "too short"));
  CHECK(refuses(std::string(8, '\0'), "not a JSON object"));
  CHECK(refuses("PNG and so on, no lengths here", "cut off, or not a safetensors file"));
  CHECK(refuses(std::string(8, '\xff') + "{}", "18446744073709551615 bytes, but 2 follow"));
  CHECK(refuses(with_length("{}").substr(0, 9), "2 bytes, but 1 follow"));
  CHECK(refuses(with_length("{}").substr(0, 8), "2 bytes, but 0 follow"));
  CHECK(refuses(with_length("[]"), "not a JSON object"));
  CHECK(refuses(with_length("  {}"), "not a JSON object"));
  CHECK(refuses(with_length("{"), "not valid JSON near byte 2"));
  CHECK(refuses(with_length("{} {}"), "not valid JSON"));
  CHECK(refuses(with_length("{\"\xff\":1}"), "not valid JSON"));
  CHECK(refuses(with_length("{\"a\":1e999}"), "out of range"));
}

TEST_CASE("a missing file, a folder and a device are refused by name", "[phase1][io]") {
  const TemporaryFolder folder;
  const auto message = [](const std::filesystem::path& path) -> std::string {
    try {
      read_safetensors(path);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  CHECK(message(folder / "b") ==
        "read_safetensors: " + (folder / "b").string() + ": there is no such file.");
  CHECK(message(folder / "").find("it is not a regular file") != std::string::npos);
  CHECK(message("/dev/zero").find("it is not a regular file") != std::string::npos);
}

TEST_CASE("a header beyond 100 MB is refused before it is read", "[phase1][io]") {
  const TemporaryFolder folder;
  const std::uint64_t length = 100'000'001;
  {
    std::ofstream file(folder / "big", std::ios::binary);
    file.write(reinterpret_cast<const char*>(&length), sizeof length);
  }
  for (const std::uintmax_t bytes : {200'000'000, 100'000'009}) {
    std::filesystem::resize_file(folder / "big", bytes);  // sparse: takes no room
    CHECK(complaint([&] { read_safetensors(folder / "big"); },
                    {"should have 100000001 bytes, but 100 MB are the limit"}) == "");
  }
  const std::uint64_t most = 100'000'000;  // of which none is a '{'
  std::ofstream(folder / "big", std::ios::binary)
      .write(reinterpret_cast<const char*>(&most), sizeof most);
  std::filesystem::resize_file(folder / "big", most + sizeof most);
  CHECK(complaint([&] { read_safetensors(folder / "big"); }, {"is not a JSON object"}) == "");
}

TEST_CASE("nothing may stand behind the end of a header but blanks", "[phase1][io]") {
  const std::string header = "{\"w\":" + entry("[1]", "[0,4]") + "}";
  CHECK(read(with_length(header + " \n\t\r ", floats(1))).tensors.size() == 1);
  const std::string at = std::to_string(header.size());
  for (const std::string& more : {std::string(1, '\0'), std::string(5, '\0'),
                                  std::string("\0{\"a\":1}", 8), std::string("\0\xff", 2)}) {
    CHECK(refuses(with_length(header + more, floats(1)), "a NUL byte, at byte " + at));
  }
  CHECK(refuses(with_length(header + "x", floats(1)), "not valid JSON"));
  CHECK(refuses(with_length(std::string("{\"__metadata__\":{\"a\":\"\0\"}}", 26)), "a NUL byte"));
  CHECK(read(with_length(R"({"__metadata__":{"a":"\u0000"}})")).metadata.at("a").size() == 1);
}

TEST_CASE("entries that are not what they should be are refused", "[phase1][io]") {
  CHECK(refuses_entry("3", "", "entry 'w' is not a JSON object"));
  CHECK(refuses_entry("[]", "", "entry 'w' is not a JSON object"));
  CHECK(refuses_entry("{}", "", "tensor 'w' has no \"dtype\""));
  CHECK(refuses_entry(R"({"dtype":"F32","shape":[1]})", "", "has no \"data_offsets\""));
  CHECK(refuses_entry(R"({"dtype":"F32","shape":[1],"data_offsets":[0,4],"strides":[1]})",
                      floats(1), "has more than"));
  CHECK(refuses_entry(R"({"dtype":"F33","shape":[1],"data_offsets":[0,4]})", floats(1),
                      "has dtype 'F33': the format has none of that name"));
  CHECK(refuses_entry(R"({"dtype":32,"shape":[1],"data_offsets":[0,4]})", floats(1),
                      "has dtype that is no text"));
  CHECK(refuses_entry(R"({"dtype":{"a":1},"shape":[1],"data_offsets":[0,4]})", floats(1),
                      "nested too deeply"));
}

TEST_CASE("shapes and offsets that make no sense are refused", "[phase1][io]") {
  const std::string whole = "must be a list of whole numbers from 0 on";
  CHECK(refuses_entry(entry("[-1]", "[0,4]"), floats(1), "\"shape\" " + whole));
  CHECK(refuses_entry(entry("[1.5]", "[0,4]"), floats(1), "\"shape\" " + whole));
  CHECK(refuses_entry(entry("[\"1\"]", "[0,4]"), floats(1), "\"shape\" " + whole));
  CHECK(refuses_entry(entry("1", "[0,4]"), floats(1), "\"shape\" " + whole));
  CHECK(refuses_entry(entry("[18446744073709551615]", "[0,4]"), floats(1), whole));
  CHECK(refuses_entry(entry("[99999999999999999999]", "[0,4]"), floats(1), whole));
  CHECK(refuses_entry(entry("[1]", "[-4,0]"), floats(1), "\"data_offsets\" " + whole));
  CHECK(refuses_entry(entry("[1]", "[0,4.0]"), floats(1), "\"data_offsets\" " + whole));
  CHECK(refuses_entry(entry("[1]", "[null,4]"), floats(1), "\"data_offsets\" " + whole));
  CHECK(refuses_entry(entry("[1]", "[0,18446744073709551615]"), floats(1), whole));
  CHECK(refuses_entry(entry("[1]", "[0,4,8]"), floats(1), "must be [begin, end]"));
  CHECK(refuses_entry(entry("[1]", "[4,0]"), floats(1), "with begin <= end"));
  CHECK(
      refuses_entry(entry("[2]", "[0,4]"), floats(1), "(2) needs 8 bytes, but its offsets hold 4"));
  CHECK(refuses_entry(entry("[4611686018427387904,4]", "[0,0]"), "", "more elements than memory"));
  CHECK(refuses_entry(entry("[0,9223372036854775807]", "[0,0]"), "", "more elements than memory"));
  CHECK(refuses_entry(entry("[1,1,1,1,1,1,1]", "[0,4]"), floats(1), "7 axes"));
}

TEST_CASE("a tensor larger than its file is refused without asking for the memory",
          "[phase1][io]") {
  const std::size_t before = memory_stats().peak_bytes;
  CHECK(refuses_entry(entry("[250000000000]", "[0,1000000000000]"), floats(1),
                      "take 1000000000000 bytes, but there are 4: the file is cut off"));
  CHECK(memory_stats().peak_bytes - before < 1'000'000);
}

TEST_CASE("tensors must lie one behind the other and fill the file", "[phase1][io]") {
  const auto two = [](const std::string& first, const std::string& second) {
    return "{\"a\":" + entry("[1]", first) + ",\"b\":" + entry("[1]", second) + "}";
  };
  CHECK(read(with_length(two("[4,8]", "[0,4]"), floats(2))).tensors.size() == 2);
  CHECK(refuses(with_length(two("[0,4]", "[0,4]"), floats(1)), "they overlap"));
  CHECK(refuses(with_length(two("[0,4]", "[2,6]"), floats(2)), "'b' begins at byte 2"));
  CHECK(refuses(with_length(two("[0,4]", "[8,12]"), floats(3)), "a hole"));
  CHECK(refuses(with_length(two("[4,8]", "[8,12]"), floats(3)), "a hole"));
  CHECK(refuses(with_length(two("[0,4]", "[4,8]"), floats(2) + "x"), "something follows them"));
  CHECK(refuses(with_length(two("[0,4]", "[4,8]"), floats(1)), "the file is cut off"));
  CHECK(refuses(with_length("{}", "x"), "something follows them"));
}

TEST_CASE("a name that stands twice is refused, at either level", "[phase1][io]") {
  const std::string good = entry("[1]", "[0,4]");
  CHECK(refuses(with_length("{\"a\":" + good + ",\"a\":" + good + "}", floats(1)),
                "the name 'a' stands twice in the header"));
  CHECK(refuses_entry(R"({"dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4]})",
                      floats(1), "the name 'dtype' stands twice in entry 'w'"));
}

TEST_CASE("metadata must be text", "[phase1][io]") {
  CHECK(refuses(with_length(R"({"__metadata__":{"step":7}})"), "metadata 'step' is not text"));
  CHECK(refuses(with_length(R"({"__metadata__":{"a":["b"]}})"), "metadata 'a' is not text"));
  CHECK(refuses(with_length(R"({"__metadata__":"b"})"), "is not a JSON object"));
  CHECK(refuses(with_length(R"({"__metadata__":{"a":"b","a":"c"}})"), "'a' stands twice"));
  CHECK(refuses(with_length(R"({"__metadata__":{},"__metadata__":{}})"), "stands twice"));
  CHECK(refuses(with_length("{\"__metadata__\":{\"a\":\"\xc3\"}}"), "not valid JSON"));
  CHECK(read(with_length(R"({"__metadata__":{"a":"b"}})")).metadata.at("a") == "b");
}

TEST_CASE("headers meant to exhaust the reader are refused early", "[phase1][io]") {
  const std::size_t many = 1'000'000;
  CHECK(refuses_entry(std::string(many, '['), "", "is not a JSON object"));
  CHECK(refuses_entry("{\"shape\":" + std::string(many, '['), "", "nested too deeply"));
  std::string objects;
  for (std::size_t i = 0; i < many; ++i) objects += "{\"a\":";
  CHECK(refuses_entry(objects, "", "nested too deeply"));
  std::string ones = "[1";
  for (std::size_t i = 0; i < many; ++i) ones += ",1";
  CHECK(refuses_entry(entry(ones + "]", "[0,4]"), "", "has too long a list"));
  std::string keys = "{\"0\":0";
  for (std::size_t i = 1; i < many; ++i) keys += ",\"" + std::to_string(i) + "\":0";
  CHECK(refuses_entry(keys + "}", "", "entry 'w' has more than 10000 keys"));
  CHECK(refuses(with_length("{\"" + std::string(many, 'n') + "\":3}"),
                ": entry '" + std::string(60, 'n') + "...' is not a JSON object."));
  CHECK(refuses(with_length("{\"\xc3\xa4\":3}"), "entry '\xc3\xa4' is not a JSON object."));
}

TEST_CASE("a name that could command the terminal is harmless in messages", "[io]") {
  const std::string name = R"(w\u001b[2J)", shown = "'w?[2J'";
  const std::string w = entry("[1]", "[0,4]"),
                    eights = R"({"dtype":"F8_E4M3","shape":[1],"data_offsets":[4,5]})";
  CHECK(refuses(with_length("{\"" + name + "\":3}"), "entry " + shown + " is not a JSON object"));
  const Safetensors file = read(
      with_length("{\"" + name + "\":" + w + ",\"e\\u009b\":" + eights + "}", floats(1) + "x"));
  CHECK(complaint([&] { file["w_[2J"]; }, {"Did you mean 'w?[2J'?"}) == "");
  CHECK(complaint([&] { file["x\x7F"]; }, {"no tensor 'x?'. There are: 'w?[2J'."}) == "");
  CHECK(complaint([&] { file["e\xC2\x9B"]; }, {"tensor 'e?' was not read"}) == "");
  CHECK(complaint([&] { load_parameters({{"v\x1b", Tensor(1)}}, file); },
                  {"Missing in the file: 'v?'. Not in the model: 'w?[2J'. Not read: 'e?' ("}) ==
        "");
  CHECK(complaint([&] { load_parameters({{"w\x1b[2J", Tensor(1)}}, file); },
                  {"Of another shape: 'w?[2J' is (1), not ()."}) == "");
}

TEST_CASE("metadata may have 10,000 keys, and a list 64 numbers", "[phase1][io]") {
  const auto metadata = [](int keys) {
    std::string text = "{\"__metadata__\":{\"0\":\"\"";
    for (int i = 1; i < keys; ++i) text += ",\"" + std::to_string(i) + "\":\"\"";
    return with_length(text + "}}");
  };
  CHECK(read(metadata(10'000)).metadata.size() == 10'000);
  CHECK(refuses(metadata(10'001), "entry '__metadata__' has more than 10000 keys."));
  std::string ones = "[1";
  for (int i = 1; i < 64; ++i) ones += ",1";
  CHECK(refuses_entry(entry(ones + "]", "[0,4]"), "abcd", "64 axes, but at most 6"));
  CHECK(refuses_entry(entry(ones + ",1]", "[0,4]"), "abcd", "has too long a list"));
}

TEST_CASE("a file cut off anywhere is refused, wherever that is", "[phase1][io]") {
  const std::string good = with_length(
      "{\"a\":" + entry("[2]", "[0,8]") + ",\"__metadata__\":{\"k\":\"v\"}}", floats(2));
  CHECK(read(good).tensors.size() == 1);
  int refused = 0;
  for (std::size_t length = 0; length < good.size(); ++length) {
    try {
      read(good.substr(0, length));
    } catch (const Error&) {
      ++refused;
    }
  }
  CHECK(refused == static_cast<int>(good.size()));
}

TEST_CASE("a file with any one byte changed is read or refused, never more", "[phase1][io]") {
  const std::string good = with_length(
      "{\"a\":" + entry("[2]", "[0,8]") + ",\"__metadata__\":{\"k\":\"v\"}}", floats(2));
  int read_anyway = 0, refused = 0;
  for (std::size_t place = 0; place < good.size(); ++place) {
    for (const int change : {1, 2, 16, 128}) {
      std::string bytes = good;
      bytes[place] = static_cast<char>(bytes[place] ^ change);
      try {
        read(bytes);
        ++read_anyway;  // a letter of a name, a bit of a number
      } catch (const Error&) {
        ++refused;
      }
    }
  }
  CHECK(read_anyway + refused == static_cast<int>(good.size() * 4));
  CHECK(read_anyway >= 8 * 4);  // every change to the numbers
  CHECK(refused > read_anyway);
}
