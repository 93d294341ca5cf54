#include "analysis/linear_algebra.hpp"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // wrong: g++ 14 in Eigen's own code
#endif
#include <eigen3/Eigen/Dense>

namespace tapestry {
namespace {

using Eigen::Lower;
template <class Number>
using RowMajor = Eigen::Matrix<Number, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Matrix = RowMajor<double>;
using Vector = Eigen::VectorXd;

Matrix matrix(const Tensor& x) {
  const Tensor flat = x.contiguous();  // (rows, columns)
  return Eigen::Map<const RowMajor<real>>(flat.data(), x.size(0), x.size(1)).cast<double>();
}

Tensor tensor(const Matrix& m) {
  const Tensor result = Tensor::empty({m.rows(), m.cols()});  // (rows, columns)
  Eigen::Map<RowMajor<real>>(result.data(), m.rows(), m.cols()) = m.cast<real>();
  return result;
}

Tensor tensor(const Vector& v) {
  const Tensor result = Tensor::empty({v.size()});  // (size)
  Eigen::Map<Eigen::Matrix<real, Eigen::Dynamic, 1>>(result.data(), v.size()) = v.cast<real>();
  return result;
}

struct Factors {
  Matrix q, r;  // (rows, least), (least, columns), least of rows and columns
};

Factors factors(const Tensor& a) {
  const Matrix of = matrix(a);
  if (of.rows() <= of.cols()) return {Matrix::Identity(of.rows(), of.rows()), of};
  const Eigen::HouseholderQR<Matrix> qr(of);
  const Matrix r = qr.matrixQR().topRows(of.cols()).triangularView<Eigen::Upper>();
  return {qr.householderQ() * Matrix::Identity(of.rows(), of.cols()), r};
}

}  // namespace

LeastSquares::LeastSquares(Index in, Index out)
    : in_(in),
      out_(out),
      squares_(static_cast<std::size_t>(in * in)),
      products_(static_cast<std::size_t>(in * out)),
      x_sum_(static_cast<std::size_t>(in)),
      y_sum_(static_cast<std::size_t>(out)) {}

void LeastSquares::add(const Tensor& x, const Tensor& y) {
  const Matrix inputs = matrix(x), outputs = matrix(y);
  Eigen::Map<Matrix>(squares_.data(), in_, in_)
      .selfadjointView<Lower>()
      .rankUpdate(inputs.transpose());
  Eigen::Map<Matrix>(products_.data(), in_, out_).noalias() += inputs.transpose() * outputs;
  Eigen::Map<Vector>(x_sum_.data(), in_) += inputs.colwise().sum().transpose();
  Eigen::Map<Vector>(y_sum_.data(), out_) += outputs.colwise().sum().transpose();
  rows_ += x.size(0);
}

AffineMap LeastSquares::solve(double ridge) const {
  const double count = static_cast<double>(rows_);
  const Vector x_mean = Eigen::Map<const Vector>(x_sum_.data(), in_) / count;
  const Vector y_mean = Eigen::Map<const Vector>(y_sum_.data(), out_) / count;
  Matrix variance = Eigen::Map<const Matrix>(squares_.data(), in_, in_) / count;  // its lower half
  variance.triangularView<Lower>() -= x_mean * x_mean.transpose();
  const double size = variance.trace() / static_cast<double>(in_);
  variance.diagonal().array() += ridge * (size > 0 ? size : 1);  // 1: all rows are equal
  const Matrix shared =
      Eigen::Map<const Matrix>(products_.data(), in_, out_) / count - x_mean * y_mean.transpose();
  const Matrix weight = variance.selfadjointView<Lower>().ldlt().solve(shared);
  const Vector bias = y_mean - weight.transpose() * x_mean;
  return {tensor(weight), tensor(bias)};
}

Tensor triangular_factor(const Tensor& a) { return tensor(factors(a).r); }

SingularValues singular_values_of_product(const Tensor& a, const Tensor& b) {
  const Factors left = factors(a), right = factors(b);
  const Eigen::JacobiSVD<Matrix> svd(left.r * right.r.transpose(),
                                     Eigen::ComputeThinU | Eigen::ComputeThinV);
  return {tensor(Matrix(left.q * svd.matrixU())), tensor(Vector(svd.singularValues())),
          tensor(Matrix(right.q * svd.matrixV()))};
}

}  // namespace tapestry
