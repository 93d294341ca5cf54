// Each operand of an operation gets its gradient, also where no other one is watched.
#include "catch.hpp"
#include "ops/expect.hpp"
#include "tapestry/attention.hpp"
#include "tapestry/attention_variants.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

// The gradients of those operands that are watched, of the sum of squares of what f makes.
std::vector<Tensor> gradients(const Function& f, const std::vector<Tensor>& in,
                              const std::vector<Tensor>& watched) {
  Tape tape(watched);
  const Tensor y = f(in);
  const Gradients found = tape.backward(sum(y * y));
  std::vector<Tensor> list;
  for (const Tensor& x : watched) list.push_back(found[x]);
  return list;
}

// "" if each operand alone has the gradient that it has among all.
std::string alone(const Function& f, const std::vector<Shape>& shapes) {
  std::vector<Tensor> in;
  for (const Shape& shape : shapes) in.push_back(random_between(shape, 0.5, 2, in.size() + 1));
  const std::vector<Tensor> together = gradients(f, in, in);
  for (std::size_t i = 0; i < in.size(); ++i) {
    const std::string apart = difference_to(gradients(f, in, {in[i]})[0], together[i], 1e-5);
    if (!apart.empty()) return "operand " + std::to_string(i) + ": " + apart;
    if (max(abs(together[i])).item() == 0) return "operand " + std::to_string(i) + ": only 0";
  }
  return "";
}

using In = const std::vector<Tensor>&;

}  // namespace

TEST_CASE("operands of arithmetic have their gradients alone", "[phase0][ops]") {
  const std::vector<Shape> both = {{3, 4}, {4}};
  CHECK(alone([](In x) { return x[0] + x[1]; }, both) == "");
  CHECK(alone([](In x) { return x[0] - x[1]; }, both) == "");
  CHECK(alone([](In x) { return x[0] * x[1]; }, both) == "");
  CHECK(alone([](In x) { return x[0] / x[1]; }, both) == "");
  CHECK(alone([](In x) { return pow(x[0], x[1]); }, both) == "");
  CHECK(alone([](In x) { return atan2(x[0], x[1]); }, both) == "");
  CHECK(alone([](In x) { return maximum(x[0], x[1]); }, both) == "");
  CHECK(alone([](In x) { return minimum(x[0], x[1]); }, both) == "");
  const Tensor chosen({4}, {1, 0, 0, 1});
  CHECK(alone([&](In x) { return where(chosen, x[0], x[1]); }, both) == "");
}

TEST_CASE("operands of losses have their gradients alone", "[phase0][ops]") {
  const std::vector<Shape> both = {{3, 4}, {3, 4}};
  CHECK(alone([](In x) { return mse(x[0], x[1]); }, both) == "");
  CHECK(alone([](In x) { return binary_cross_entropy_with_logits(x[0], 0.4 * x[1]); }, both) == "");
}

TEST_CASE("operands of products, norms and attention have their gradients alone", "[phase0][ops]") {
  CHECK(alone([](In x) { return matmul(x[0], x[1]); }, {{3, 4}, {4, 2}}) == "");
  CHECK(alone([](In x) { return matmul(x[0], x[1]); }, {{2, 3, 4}, {2, 4, 2}}) == "");
  CHECK(alone([](In x) { return concat({x[0], x[1]}, 1); }, {{3, 4}, {3, 2}}) == "");
  CHECK(alone([](In x) { return linear(x[0], x[1], x[2], Activation::silu); },
              {{2, 3, 4}, {4, 5}, {5}}) == "");
  CHECK(alone([](In x) { return layer_norm(x[0], x[1], x[2]); }, {{3, 4}, {4}, {4}}) == "");
  CHECK(alone([](In x) { return rms_norm(x[0], x[1]); }, {{3, 4}, {4}}) == "");
  const std::vector<Shape> heads = {{2, 3, 4}, {2, 5, 4}, {2, 5, 2}};
  CHECK(alone([](In x) { return attention(x[0], x[1], x[2]).output; }, heads) == "");
  CHECK(alone([](In x) { return fused_attention(x[0], x[1], x[2]); }, heads) == "");
  CHECK(alone([](In x) { return linear_attention(x[0], x[1], x[2]); }, heads) == "");
}
