#include "course/head_tables.hpp"

#include <algorithm>
#include <cstdio>

#include "tapestry/analysis/evidence.hpp"

namespace tapestry {
namespace {

Spread spread_of(const std::vector<real>& values) {
  return spread(Tensor({std::ssize(values)}, values));
}

}  // namespace

void print_single_cuts(const HeadStudy& study) {
  const Heads heads = heads_of(study.model);
  std::vector<real> again, other;
  for (const HeadOf one : heads) {
    again.push_back(real(study.fall_alone(one).again));
    other.push_back(real(study.fall_alone(one).other));
  }
  const auto row = [&](const std::string& name, HeadOf one) {
    const Falls& falls = study.fall_alone(one);
    const auto before = std::count_if(again.begin(), again.end(),
                                      [&](real fall) { return fall > real(falls.again); });
    std::printf("   %-16s %td.%td %10.3f %12.3f %12td\n", name.c_str(), one.layer, one.head,
                falls.again, falls.other, before + 1);
  };
  std::printf("   cut alone             read again    another   place of %zu\n", heads.size());
  for (const HeadKind kind : head_kinds) {
    row(to_string(kind), study.best(kind, 1, study.rows()).front());
  }
  const auto most = std::max_element(again.begin(), again.end()) - again.begin();
  row("costs most", heads[std::size_t(most)]);
  const Spread a = spread_of(again), b = spread_of(other);
  std::printf("   all, mean         %9.3f ±%.3f  %6.3f ±%.3f\n", a.mean, a.deviation, b.mean,
              b.deviation);
}

void print_costs(const std::vector<GroupCost>& costs) {
  for (const auto& [texts, joint, sum, means, others, alone] : costs) {
    std::printf("      %-16s %10.2f %7.2f %7.2f %7.2f ±%.2f %7.2f\n", texts, joint, sum, means,
                others.mean, others.deviation, alone);
  }
}

}  // namespace tapestry
