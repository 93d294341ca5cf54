#include "peers.hpp"

#include <dlfcn.h>
#include <dnnl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
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

// The names by which each peer is held to the instructions of one of our kernel sets.
struct Level {
  std::string kernel_set;
  std::vector<std::string> openblas_cores;  // the first one unless it has chosen another of them
  std::string onednn, pytorch;              // "" where its own choice is right
};
const std::vector<Level> levels{
    {"avx512", {"SkylakeX", "Cooperlake", "SapphireRapids"}, "", ""},
    {"avx2", {"Haswell", "Zen"}, "AVX2", "avx2"},
    {"sse2", {"Nehalem", "Core2", "Penryn", "Dunnington", "Barcelona"}, "SSE41", "default"}};

void set_variable(const char* name, const std::string& value) {
  if (!value.empty()) setenv(name, value.c_str(), 1);
}

}  // namespace

void hold_peers_to_our_instructions(char** arguments) {
  const auto ours = std::ranges::find(levels, kernel_set(), &Level::kernel_set);
  if (ours == levels.end()) return;
  set_variable("DNNL_MAX_CPU_ISA", ours->onednn);
  set_variable("ATEN_CPU_CAPABILITY", ours->pytorch);
  if (std::ranges::count(ours->openblas_cores, openblas_core()) > 0) return;
  const std::string& core = ours->openblas_cores.front();
  const char* const told = std::getenv("OPENBLAS_CORETYPE");
  if (told != nullptr && told == core) return;  // it does not know this one
  set_variable("OPENBLAS_CORETYPE", core);
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
