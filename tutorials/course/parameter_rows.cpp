#include "course/parameter_rows.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "tapestry/distributed/fixed_tree.hpp"
#include "tapestry/error.hpp"

namespace tapestry {
namespace {

void append(Row& row, const Tensor& tensor) {
  const std::vector<real> values = tensor.values();
  row.insert(row.end(), values.begin(), values.end());
}

void check_lengths(const char* function, std::size_t a, std::size_t b) {
  if (a == b) return;
  throw Error(std::string(function) + ": one has " + std::to_string(a) +
              " numbers, the other one " + std::to_string(b) + ".");
}

void check_rows(const char* function, const std::vector<Row>& rows) {
  if (rows.empty()) throw Error(std::string(function) + ": there is no row.");
  for (const Row& row : rows) check_lengths(function, row.size(), rows.front().size());
}

}  // namespace

Row row_of(const Parameters& parameters) {
  Row row;
  for (const Parameter& p : parameters) append(row, p.value);
  return row;
}

Row row_of(const Gradients& gradients) {
  Row row;
  for (std::size_t i = 0; i < gradients.size(); ++i) append(row, gradients.at(i));
  return row;
}

std::vector<Tensor> tensors_of(const Row& row, const Parameters& parameters) {
  std::size_t count = 0;
  for (const Parameter& p : parameters) count += static_cast<std::size_t>(p.value.numel());
  check_lengths("tensors_of", row.size(), count);
  std::vector<Tensor> tensors;
  auto at = row.begin();
  for (const Parameter& p : parameters) {
    const auto end = at + static_cast<std::ptrdiff_t>(p.value.numel());
    tensors.emplace_back(p.value.shape(), std::vector<real>(at, end));  // as the parameter
    at = end;
  }
  return tensors;
}

std::size_t different(const Row& a, const Row& b) {
  check_lengths("different", a.size(), b.size());
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) count += a[i] != b[i];
  return count;
}

double distance(const Row& a, const Row& b) {
  check_lengths("distance", a.size(), b.size());
  double squares = 0;
  for (std::size_t i = 0; i < a.size(); ++i) squares += std::pow(double(a[i]) - double(b[i]), 2);
  return std::sqrt(squares);
}

double largest_relative(const Row& a, const Row& b) {
  check_lengths("largest_relative", a.size(), b.size());
  double most = 0, size = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    most = std::max(most, std::abs(double(a[i]) - double(b[i])));
    size = std::max(size, std::abs(double(b[i])));
  }
  return most / size;
}

double length_of(const Row& row) {
  double squares = 0;
  for (const real x : row) squares += double(x) * double(x);
  return std::sqrt(squares);
}

Row sum_in_order(const std::vector<Row>& rows) {
  check_rows("sum_in_order", rows);
  Row sum = rows.front();
  for (std::size_t k = 1; k < rows.size(); ++k) {
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += rows[k][i];
  }
  return sum;
}

Row sum_in_tree(std::vector<Row> rows) {
  check_rows("sum_in_tree", rows);
  std::vector<TreePart> parts;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    parts.push_back({{Index(i), Index(i) + 1}, rows[i].data()});
  }
  const Index size = std::ssize(rows.front());
  const real* const sum = add_up({0, std::ssize(rows)}, parts, size);
  return {sum, sum + size};
}

}  // namespace tapestry
