#include "kernels/parallel_all.hpp"
#include "ours.hpp"
#include "peers.hpp"
#include "tapestry/ops.hpp"

namespace tapestry::bench {
namespace {

// The kernel writes into an existing array, as those of the peers do: an operation would also make
// a new tensor, a tenth of the time of the smallest products.
Contestant our_product(const Product& p, const Tensor& a, const Tensor& b) {
  const Tensor c = Tensor::empty({p.m, p.n});
  return {"Tapestry", [=] {
            kernels::matmul({{}, p.m, p.n, p.k}, {a.data(), nullptr, a.strides()[0], 1},
                            {b.data(), nullptr, b.strides()[0], b.strides()[1]}, c.data());
          }};
}

Row product_row(const Product& p) {
  const auto m = double(p.m), n = double(p.n), k = double(p.k);
  Row row{"matmul", {}, 2 * m * n * k, bytes_of(m * k + k * n + m * n), {}};
  row.name = std::to_string(p.m) + " x " + std::to_string(p.n) + " x " + std::to_string(p.k) +
             (p.b_transposed ? ", B transposed" : "");
  row.curve = p.m == 1024 && p.n == 1024;
  row.prepare = [p] {
    const Tensor a = numbers({p.m, p.k});
    const Tensor b = p.b_transposed ? numbers({p.n, p.k}) : numbers({p.k, p.n});
    const Tensor right = p.b_transposed ? transpose(b) : b;
    std::vector<Contestant> contestants = product_peers(p, a, b);
    contestants.insert(contestants.begin(), our_product(p, a, right));
    return contestants;
  };
  return row;
}

// The products of attention, B32 H8 L128 D64: the scores, and what their gradients need.
Row batched_row(const std::string& name, const Product& p, bool a_transposed) {
  constexpr Index batch = 256;
  const auto m = double(p.m), n = double(p.n), k = double(p.k);
  Row row{
      "batched matmul", name, batch * 2 * m * n * k, bytes_of(batch * (m * k + k * n + m * n)), {}};
  row.prepare = [p, a_transposed] {
    const Tensor a =
        a_transposed ? transpose(numbers({batch, p.k, p.m})) : numbers({batch, p.m, p.k});
    const Tensor b =
        p.b_transposed ? transpose(numbers({batch, p.n, p.k})) : numbers({batch, p.k, p.n});
    return std::vector<Contestant>{ours([=] { return matmul(a, b); }), onednn_batched(a, b)};
  };
  return row;
}

}  // namespace

void add_matmul_rows(std::vector<Row>& rows) {
  const Product products[] = {
      {64, 64, 64},      {128, 128, 64, true}, {128, 64, 128},     {256, 256, 256},
      {512, 512, 512},   {1024, 1024, 1024},   {2048, 2048, 2048}, {4096, 512, 512},
      {4096, 2048, 512}, {4096, 512, 2048},    {512, 512, 4096},   {1, 768, 768, true},
      {63, 65, 67},
  };
  for (const Product& product : products) rows.push_back(product_row(product));
  rows.push_back(batched_row("256 x (128x64 . 64x128), B transp.", {128, 128, 64, true}, false));
  rows.push_back(batched_row("256 x (128x128 . 128x64)", {128, 64, 128}, false));
  rows.push_back(batched_row("256 x (64x128 . 128x128), A transp.", {64, 128, 128}, true));
}

}  // namespace tapestry::bench
