// Step 6h. What is wrong with this model?
//
// New here: broken models. Each was computed or trained with one mistake, and is drawn beside the
// same without it. The answers stand in the lesson, folded, and `tapestry zoo NAME --answer` tells
// one.
// Writes out/plots/zoo_*.png for each; takes about two seconds.
#include <cstdio>
#include <vector>

#include "course/grammar.hpp"
#include "course/zoo.hpp"
#include "tapestry/error.hpp"
#include "tapestry/mask.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/plot/png.hpp"

using namespace tapestry;

namespace {

// Least and greatest of the sums along an axis.
void print_sums(const Tensor& map, int axis) {
  const Tensor sums = sum(map, axis);  // (maps, n)
  std::printf("  %5.2f to %.2f", double{min(sums).item()}, double{max(sums).item()});
}

// The largest entry above the diagonal of (..., n, n).
double above(const Tensor& map) {
  const Tensor later = Mask::causal().to(MaskEncoding::drop, {6, 6});  // (6, 6)
  return double{max(map * later).item()};
}

void print_map(const Tensor& map) {
  print_sums(map, -1);
  print_sums(map, -2);
  std::printf("%9.2f%9.2f\n", double{max(map).item()}, above(map));
}

void print_losses(const Tensor& losses) {
  for (const Index step : {1, 5, 10, 50, 150}) {
    if (step <= losses.numel()) {
      std::printf("%10.2f", double{losses.at({step - 1})});
    } else {
      std::printf("%10s", "ended");
    }
  }
  std::printf("\n");
}

void print_inside() {
  std::printf("loss3, largest change of a number in step 1 / rate: broken %.2f, right %.2f\n",
              zoo_first_step(true), zoo_first_step(false));
  const ZooEnd end = zoo_end();
  std::printf("loss4, broken, up to step %lld: largest logit %.0f, least share of a target %.1g\n",
              static_cast<long long>(end.steps), end.largest_logit, end.least_share);
}

void print_norms(const Tensor& norms) {
  for (const real count : sum(norms > 0, 1).values()) std::printf("%4.0f", double{count});
  std::printf("%10.2f\n", above(norms));
}

void print(const ZooCase& one, const char* which, const Tensor& found) {
  std::printf("%-9s  %-6s", one.name.c_str(), which);
  if (one.kind == ZooKind::map) print_map(found);
  if (one.kind == ZooKind::loss) print_losses(found);
  if (one.kind == ZooKind::jacobian) print_norms(found);
}

void print_heading(ZooKind kind) {
  if (kind == ZooKind::map) {
    std::printf("\n1. Maps: least and greatest sum, largest weight\n");
    std::printf("%-17s   of a row      of a column   largest  j > i\n", "");
  } else if (kind == ZooKind::loss) {
    std::printf("\n2. Losses; the least possible is %.2f\n", Grammar().entropy() / 7);
    std::printf("%-17s    step 1         5        10        50       150\n", "");
  } else {
    std::printf("\n3. Jacobians: how many inputs each output depends on, largest entry\n");
    std::printf("%-17s   1   2   3   4   5   6     j > i\n", "");
  }
}

}  // namespace

int main() try {
  std::printf("Step 6h: a zoo of broken models (takes about two seconds)\n");
  const ZooCase* before = nullptr;
  const std::vector<ZooCase> all = zoo();
  for (const ZooCase& one : all) {
    if (before == nullptr || before->kind != one.kind) {
      if (before != nullptr && before->kind == ZooKind::loss) print_inside();
      print_heading(one.kind);
    }
    before = &one;
    const ZooPair pair = one.compute();
    print(one, "broken", pair.broken);
    print(one, "right", pair.right);
    plot::write_png(zoo_picture(one, pair), "out/plots/zoo_" + one.name + ".png");
  }
  std::printf("\nwrote out/plots/zoo_*.png for each\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
