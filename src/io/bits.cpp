#include "tapestry/io/bits.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <map>
#include <span>
#include <utility>

#include "io/mapped_file.hpp"
#include "io/safetensors_header.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/shape.hpp"

namespace tapestry {
namespace {

using Bytes = std::span<const std::byte>;

struct File {
  explicit File(const std::filesystem::path& path) : mapped(path) {
    header = safetensors::parse_header(mapped.bytes(), data);
  }

  Bytes of(const safetensors::Entry& entry) const {
    return data.subspan(static_cast<std::size_t>(entry.begin),
                        static_cast<std::size_t>(entry.end - entry.begin));
  }

  MappedFile mapped;
  safetensors::Header header;
  Bytes data;
};

File opened(const std::filesystem::path& path) {
  try {
    return File(path);
  } catch (const Error& error) {
    throw Error(path.string() + ": " + error.what());
  }
}

std::uint64_t bits_of(Bytes number) {
  std::uint64_t bits{};  // little-endian, as the file and this machine
  std::memcpy(&bits, number.data(), number.size());
  return bits;
}

// How many bits of exponent and fraction a type has; none for whole numbers.
struct Parts {
  unsigned exponent = 0, fraction = 0;
};

Parts parts_of(const safetensors::Dtype& dtype) {
  if (dtype.name == "F64") return {11, 52};
  if (dtype.name == "F32") return {8, 23};
  if (dtype.name == "F16") return {5, 10};
  if (dtype.name == "BF16") return {8, 7};
  return {};
}

// Numbers of one sign are ordered as their bits are (IEEE 754).
std::optional<std::uint64_t> distance(std::uint64_t a, std::uint64_t b, const Parts& parts) {
  if (parts.exponent == 0) return {};
  const std::uint64_t sign = std::uint64_t{1} << (parts.exponent + parts.fraction);
  const std::uint64_t infinity = sign - (std::uint64_t{1} << parts.fraction);
  const std::uint64_t x = a & (sign - 1), y = b & (sign - 1);
  if (x > infinity || y > infinity) return {};
  return (a & sign) != (b & sign) ? x + y : std::max(x, y) - std::min(x, y);
}

std::string text_of(Bytes number, const safetensors::Dtype& dtype) {
  if (dtype.name == "F64") return exact_text(std::bit_cast<double>(bits_of(number)));
  std::array<real, 1> value{};
  try {
    if (!dtype.type || dtype.bits == 8) throw InexactNumber("");
    convert_numbers(number.data(), *dtype.type, std::endian::little, value);
  } catch (const InexactNumber&) {
    return formatted("0x%llx", static_cast<unsigned long long>(bits_of(number)));
  }
  return formatted("%.9g", double{value.front()});
}

std::vector<Index> place_in(const Shape& shape, Index number) {
  std::vector<Index> place(static_cast<std::size_t>(shape.ndim()));
  for (std::size_t axis = place.size(); axis-- > 0;) {
    place[axis] = number % shape[static_cast<int>(axis)];
    number /= shape[static_cast<int>(axis)];
  }
  return place;
}

void find_numbers(const safetensors::Entry& entry, Bytes first, Bytes second,
                  TensorDifference& found) {
  const auto width = static_cast<std::size_t>(entry.dtype.bits / 8);
  if (width == 0) {  // more than one in a byte
    found.form = "numbers of " + std::string(entry.dtype.name) + " differ";
    return;
  }
  found.count = entry.shape.numel();
  for (std::size_t at = 0; at < first.size(); at += width) {
    const Bytes a = first.subspan(at, width), b = second.subspan(at, width);
    if (std::equal(a.begin(), a.end(), b.begin())) continue;
    if (++found.different > 1) continue;
    found.place = place_in(entry.shape, static_cast<Index>(at / width));
    found.first = text_of(a, entry.dtype);
    found.second = text_of(b, entry.dtype);
    found.ulp = distance(bits_of(a), bits_of(b), parts_of(entry.dtype));
  }
}

std::string form_of(const safetensors::Entry& entry) {
  return std::string(entry.dtype.name) + " " + to_string(entry.shape);
}

void compare_tensors(const File& a, const File& b, BitsCompared& result) {
  std::map<std::string, const safetensors::Entry*> others;
  for (const safetensors::Entry& entry : b.header.entries) others[entry.name] = &entry;
  for (const safetensors::Entry& entry : a.header.entries) {
    ++result.tensors;
    result.numbers += entry.shape.numel();
    TensorDifference found{entry.name};
    const auto other = others.find(entry.name);
    if (other == others.end()) {
      found.form = "only the first has it";
    } else if (form_of(entry) != form_of(*other->second)) {
      found.form = form_of(entry) + " and " + form_of(*other->second);
    } else if (const Bytes x = a.of(entry), y = b.of(*other->second);
               !std::equal(x.begin(), x.end(), y.begin())) {
      find_numbers(entry, x, y, found);
    }
    if (other != others.end()) others.erase(other);
    if (!found.form.empty() || found.different > 0) result.differences.push_back(found);
  }
  for (const safetensors::Entry& entry : b.header.entries) {
    if (others.contains(entry.name)) {
      result.differences.push_back({entry.name, "only the second has it"});
    }
  }
}

void compare_texts(const File& a, const File& b, BitsCompared& result) {
  std::map<std::string, std::string> all = a.header.metadata;
  all.insert(b.header.metadata.begin(), b.header.metadata.end());
  for (const auto& [name, unused] : all) {
    const auto x = a.header.metadata.find(name), y = b.header.metadata.find(name);
    const bool both = x != a.header.metadata.end() && y != b.header.metadata.end();
    if (!both || x->second != y->second) result.texts.push_back(name);
  }
}

}  // namespace

BitsCompared compare_bits(const std::filesystem::path& first, const std::filesystem::path& second) {
  const File a = opened(first), b = opened(second);
  BitsCompared result;
  compare_tensors(a, b, result);
  compare_texts(a, b, result);
  return result;
}

}  // namespace tapestry
