#include "peers.hpp"

#include <dlfcn.h>
#include <dnnl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <type_traits>

#if __has_include(<openblas/cblas.h>)
#include <openblas/cblas.h>
#else
#include <cblas.h>
#endif

#include "tapestry/kernels.hpp"

namespace tapestry::bench {
namespace {

static_assert(std::is_same_v<real, float>, "the peers compute with float: build in release mode");

// Its kernels for AVX-512, and for AVX2.
const std::set<std::string> avx512_cores{"SkylakeX", "Cooperlake", "SapphireRapids"};
const std::set<std::string> avx2_cores{"Haswell", "Zen"};

// A better choice than `core`, or "" where it is a good one for this machine.
std::string better_core(const std::string& core) {
  const std::vector<std::string> sets = kernel_sets();
  const auto machine_has = [&](const char* set) { return std::ranges::count(sets, set) > 0; };
  if (avx512_cores.contains(core)) return "";
  if (machine_has("avx512")) return "SkylakeX";
  return machine_has("avx2") && !avx2_cores.contains(core) ? "Haswell" : "";
}

}  // namespace

void give_openblas_its_best(char** arguments) {
  const std::string better = better_core(openblas_core());
  if (better.empty() || std::getenv("OPENBLAS_CORETYPE") != nullptr) return;
  setenv("OPENBLAS_CORETYPE", better.c_str(), 1);
  execv("/proc/self/exe", arguments);  // returns only if it fails: then continue as it is
}

std::string openblas_version() {
  const std::string text = openblas_get_config();  // "OpenBLAS 0.3.21 NO_LAPACKE ..."
  const std::size_t start = text.find(' ') + 1;
  return text.substr(start, text.find(' ', start) - start);
}

std::string openblas_core() { return openblas_get_corename(); }

std::string onednn_version() {
  const dnnl_version_t* version = dnnl_version();
  return std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
         std::to_string(version->patch);
}

void use_threads_everywhere(int count) {
  use_threads(count);
  // oneDNN uses OpenMP, through whichever library it is linked to.
  const auto set = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
  if (set != nullptr) set(count);
  openblas_set_num_threads(count);
}

std::vector<Contestant> product_peers(const Product& product, const Tensor& a, const Tensor& b) {
  const Tensor c = Tensor::empty({product.m, product.n});
  const Index b_row = product.b_transposed ? product.k : product.n;
  auto openblas = [=] {
    cblas_sgemm(CblasRowMajor, CblasNoTrans, product.b_transposed ? CblasTrans : CblasNoTrans,
                blasint(product.m), blasint(product.n), blasint(product.k), 1, a.data(),
                blasint(product.k), b.data(), blasint(b_row), 0, c.data(), blasint(product.n));
  };
  auto onednn = [=] {
    dnnl_sgemm('N', product.b_transposed ? 'T' : 'N', product.m, product.n, product.k, 1, a.data(),
               product.k, b.data(), b_row, 0, c.data(), product.n);
  };
  return {{"OpenBLAS", openblas}, {"oneDNN", onednn}};
}

}  // namespace tapestry::bench
