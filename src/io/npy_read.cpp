// Reading .npy files. Nothing in the file is used before it was checked.
#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/numbers.hpp"
#include "tapestry/error.hpp"
#include "tapestry/file.hpp"
#include "tapestry/io/npy.hpp"
#include "tapestry/unicode.hpp"
#include "tensor/raw.hpp"

namespace tapestry {
namespace {

constexpr std::uint64_t longest_header = 65'535;  // the most in format 1.0; ours need 128

struct Header {
  std::string type;  // as in the file, "<f4"
  bool first_axis_fastest = false;
  Shape shape;
};

// Parses the header: a Python dictionary; only these three entries, with values of their type, are
// accepted.
class HeaderReader {
 public:
  explicit HeaderReader(std::string_view text) : rest_(text) {}

  Header read() {
    expect('{');
    while (!accept('}')) {
      read_entry();
      if (accept(',')) continue;
      expect('}');
      break;
    }
    skip_blanks();
    if (!rest_.empty()) fail("there is something after its '}'");
    for (const char* key : {"descr", "fortran_order", "shape"}) {
      if (!seen_.contains(key)) fail("it has no '" + std::string(key) + "'");
    }
    return header_;
  }

 private:
  [[noreturn]] static void fail(const std::string& problem) {
    throw Error("its header is not that of an array: " + problem + ".");
  }

  void read_entry() {
    const std::string key = read_text();
    if (!seen_.insert(key).second) fail(in_quotes(key) + " stands twice");
    expect(':');
    if (key == "descr") {
      header_.type = read_type();
    } else if (key == "fortran_order") {
      header_.first_axis_fastest = read_truth();
    } else if (key == "shape") {
      header_.shape = read_shape();
    } else {
      fail("it has an unknown entry " + in_quotes(key));
    }
  }

  std::string read_text() {
    skip_blanks();
    const char quote = rest_.empty() ? '\0' : rest_.front();
    const std::size_t end =
        quote == '\'' || quote == '"' ? rest_.find(quote, 1) : std::string_view::npos;
    if (end == std::string_view::npos) fail("a text in quotes is missing" + here());
    const std::string text(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    return text;
  }

  std::string read_type() {
    skip_blanks();
    if (rest_.starts_with('[')) {
      throw Error("its array has named fields. Save each field as an array of its own.");
    }
    return read_text();
  }

  bool read_truth() {
    skip_blanks();
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True" : "False";
      if (!rest_.starts_with(word)) continue;
      rest_.remove_prefix(word.size());
      return value;
    }
    fail("'fortran_order' is neither True nor False");
  }

  Shape read_shape() {
    expect('(');
    std::vector<Index> sizes;
    while (!accept(')')) {
      sizes.push_back(read_size());
      if (accept(',')) continue;
      if (sizes.size() == 1) fail("'shape' is a number, not a tuple");
      expect(')');
      break;
    }
    return Shape(std::span<const Index>(sizes));  // checks how many and how large
  }

  Index read_size() {
    skip_blanks();
    constexpr Index most = std::numeric_limits<Index>::max();
    Index size = 0;
    std::size_t digits = 0;
    for (; digits < rest_.size() && rest_[digits] >= '0' && rest_[digits] <= '9'; ++digits) {
      const Index digit = rest_[digits] - '0';
      if (size > (most - digit) / 10) fail("a size in 'shape' is too large");
      size = 10 * size + digit;
    }
    if (digits == 0) fail("'shape' must hold whole numbers from 0 on" + here());
    rest_.remove_prefix(digits);
    if (rest_.starts_with('L')) rest_.remove_prefix(1);  // Python 2 wrote 3L
    return size;
  }

  void skip_blanks() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size()));
  }

  bool accept(char sign) {
    skip_blanks();
    if (!rest_.starts_with(sign)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  void expect(char sign) {
    if (!accept(sign)) fail("'" + std::string(1, sign) + "' is missing" + here());
  }

  std::string here() const {
    return rest_.empty() ? " at its end" : " at " + in_quotes(rest_.substr(0, 12));
  }

  std::string_view rest_;
  std::set<std::string, std::less<>> seen_;
  Header header_;
};

// Magic, version and header; leaves the file at the first number.
Header read_header(std::ifstream& file, std::uint64_t file_bytes, std::uint64_t& data_bytes) {
  std::array<char, 8> start{};
  const std::string_view magic("\x93NUMPY", 6);
  if (file_bytes < 10) throw Error("it is too short to be a .npy file.");
  read_bytes(file, start.data(), start.size());
  const std::string_view text(start.data(), start.size());
  if (text.starts_with("PK")) throw Error("it is a .npz archive: unzip it, and read one array.");
  if (!text.starts_with(magic)) throw Error("it is not a .npy file.");
  if (text[6] < 1 || text[6] > 3 || text[7] != 0) {
    throw Error("its format is " + std::to_string(static_cast<unsigned char>(text[6])) + "." +
                std::to_string(static_cast<unsigned char>(text[7])) +
                ": only 1.0, 2.0 and 3.0 can be read.");
  }
  const std::size_t length_bytes = text[6] == 1 ? 2 : 4;
  std::uint64_t length{};
  read_bytes(file, &length, length_bytes);
  const std::uint64_t rest =
      file_bytes - std::min<std::uint64_t>(file_bytes, start.size() + length_bytes);
  if (length > std::min(rest, longest_header)) {
    throw Error("its header should have " + std::to_string(length) + " bytes, but " +
                (length > rest ? std::to_string(rest) + " follow: cut off."
                               : std::to_string(longest_header) + " are the limit."));
  }
  std::string header(static_cast<std::size_t>(length), '\0');
  read_bytes(file, header.data(), length);
  data_bytes = rest - length;
  return HeaderReader(header).read();
}

struct NamedType {
  std::string_view name;  // as after '<', '>' or '|'
  NumberType type;
};
constexpr NamedType types[] = {
    {"f2", NumberType::f16}, {"f4", NumberType::f32}, {"f8", NumberType::f64},
    {"i1", NumberType::i8},  {"i2", NumberType::i16}, {"i4", NumberType::i32},
    {"i8", NumberType::i64}, {"u1", NumberType::u8},  {"u2", NumberType::u16},
    {"u4", NumberType::u32}, {"u8", NumberType::u64}, {"b1", NumberType::boolean},
};

[[noreturn]] void refuse_type(const std::string& type, const std::string& way_out) {
  const bool objects = type.find('O') != std::string::npos;
  throw Error("its numbers are of type " + in_quotes(type) + ": " +
              (objects ? "Python objects can run any code, and are never read." : way_out));
}

// The type that "<f4", ">f4" (big-endian) or "|u1" (bytes, which have no order) names.
NumberType type_of(const std::string& type, std::endian& order) {
  const auto* const found = std::find_if(std::begin(types), std::end(types), [&](NamedType t) {
    return type.size() == 3 && type.ends_with(t.name) &&
           (type[0] == '<' || type[0] == '>' || (type[0] == '|' && bytes_of(t.type) == 1));
  });
  if (found == std::end(types)) {
    refuse_type(type, "only floats, whole numbers and booleans are read. Save x.astype('<f4').");
  }
  order = type[0] == '>' ? std::endian::big : std::endian::little;
  return found->type;
}

// numbers[i + j * rows + ...] at (i, j, ...) becomes row-major.
template <class Number>
void to_row_major(const std::vector<Number>& numbers, const Shape& shape, std::span<Number> to) {
  for (std::size_t i = 0; i < to.size(); ++i) {
    Index rest = static_cast<Index>(i), step = shape.numel(), from = 0;
    for (int axis = shape.ndim() - 1; axis >= 0; --axis) {
      step /= shape[axis];
      from += rest % shape[axis] * step;
      rest /= shape[axis];
    }
    to[i] = numbers[static_cast<std::size_t>(from)];
  }
}

// An array whose header was read, and whose length matches it.
struct Array {
  Header header;
  NumberType type;
  std::endian order;

  template <class Number>
  void read_to(std::ifstream& file, std::span<Number> to) const {
    if (!header.first_axis_fastest) return read_numbers(file, type, order, to);
    std::vector<Number> numbers(to.size());
    read_numbers(file, type, order, std::span<Number>(numbers));
    to_row_major(numbers, header.shape, to);
  }
};

Array read_array(std::ifstream& file, std::uint64_t file_bytes) {
  std::uint64_t bytes{};
  Array array{read_header(file, file_bytes, bytes), {}, {}};
  const Shape& shape = array.header.shape;
  array.type = type_of(array.header.type, array.order);
  const std::uint64_t needed = static_cast<std::uint64_t>(shape.numel()) * bytes_of(array.type);
  if (needed == bytes) return array;
  throw Error("its shape " + to_string(shape) + " needs " + std::to_string(needed) +
              " bytes, but there are " + std::to_string(bytes) +
              (needed > bytes ? ": the file is cut off." : ": something follows them."));
}

Tensor read_tensor(std::ifstream& file, std::uint64_t file_bytes) {
  const Array array = read_array(file, file_bytes);
  Tensor tensor = Tensor::empty(array.header.shape);
  try {
    array.read_to(file, std::span(raw(tensor), static_cast<std::size_t>(tensor.numel())));
  } catch (const InexactNumber& error) {
    throw Error(
        error.what() + std::string(". ") +
        (is_whole(array.type) ? "Use read_npy_indices, or to round it " : "To have it so ") +
        "save x.astype('<f4').");
  }
  return tensor;
}

Indices read_indices(std::ifstream& file, std::uint64_t file_bytes) {
  const Array array = read_array(file, file_bytes);
  if (!is_whole(array.type)) {
    refuse_type(array.header.type, "indices must be whole numbers. Use read_npy.");
  }
  std::vector<std::int32_t> values(static_cast<std::size_t>(array.header.shape.numel()));
  try {
    array.read_to(file, std::span(values));
  } catch (const InexactNumber& error) {
    throw Error(error.what() + std::string(". Use read_npy, which makes floats of them."));
  }
  return {array.header.shape, std::move(values)};
}

}  // namespace

Tensor read_npy(const std::filesystem::path& path) {
  Tensor result;
  read_file("read_npy", path,
            [&](std::ifstream& file, std::uint64_t bytes) { result = read_tensor(file, bytes); });
  return result;
}

Indices read_npy_indices(const std::filesystem::path& path) {
  Indices result;
  read_file("read_npy_indices", path,
            [&](std::ifstream& file, std::uint64_t bytes) { result = read_indices(file, bytes); });
  return result;
}

}  // namespace tapestry
