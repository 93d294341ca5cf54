#include "course/parameter_rows.hpp"

#include <cmath>
#include <string>

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

}  // namespace tapestry
