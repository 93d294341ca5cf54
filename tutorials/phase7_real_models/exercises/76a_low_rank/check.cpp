#include <cmath>

#include "adapter_check.hpp"
#include "number_by_number.hpp"

using namespace tapestry;

namespace solution {
decltype(learn::adapted) adapted;
}

namespace {

Attempt mapped(const std::function<decltype(learn::adapted)>& function) {
  return [=](const NamedTensors& in) -> NamedTensors {
    return {{"y", function(in[0].value, map_of(in, 1))}};
  };
}

// What is done; the defaults are right.
struct How {
  double (*scale)(const AdaptedMap& map) = [](const AdaptedMap& map) {
    return map.alpha / double(map.a.size(1));
  };
  double fixed = 1;           // so many times x W
  bool scales_all = false;    // the sum gets the scale
  bool scales_twice = false;  // behind A and behind B
  bool reads_result = false;  // the adapter reads x W
};

double adapter_scale(const How& how, const AdaptedMap& map) {
  return how.scale(map) * (how.scales_twice ? how.scale(map) : 1);
}

Attempt by_library(How how) {
  return mapped([=](const Tensor& x, const AdaptedMap& map) {
    const Tensor plain = matmul(x, map.w);  // (n, out)
    const double scale = adapter_scale(how, map);
    const Tensor read = how.reads_result ? plain : x;         // (n, in)
    const Tensor added = matmul(matmul(read, map.a), map.b);  // (n, out)
    const double of_plain = how.fixed * (how.scales_all ? scale : 1);
    return of_plain * plain + scale * added;  // (n, out)
  });
}

// With one matrix for both, number by number.
Attempt by_loops(How how) {
  return mapped([=](const Tensor& t, const AdaptedMap& map) {
    const Numbers x(t), w(map.w), a(map.a), b(map.b);
    const double scale = adapter_scale(how, map);
    const Numbers change = matrix(a.rows(), b.columns(), [&](Index i, Index j) {
      return scale * total(a.columns(), [&](Index r) { return a(i, r) * b(r, j); });
    });
    const Numbers plain = matrix(x.rows(), w.columns(), [&](Index i, Index j) {
      return total(w.rows(), [&](Index c) { return x(i, c) * w(c, j); });
    });
    const Numbers& read = how.reads_result ? plain : x;
    return matrix(x.rows(), w.columns(),
                  [&](Index i, Index j) {
                    const double added =
                        total(change.rows(), [&](Index c) { return read(i, c) * change(c, j); });
                    return how.fixed * (how.scales_all ? scale : 1) * plain(i, j) + added;
                  })
        .tensor();
  });
}

// W is square, so that an adapter behind it would fit.
NamedTensors inputs(Random& random, Index size) {
  const Index width = 3 + size, rank = size == 1 ? 2 : 2 + random.randint(2);
  NamedTensors in = {{"x", random.normal({size + 1, width})}};
  append_map(in, random, width, width, rank);
  return in;
}

KnownMistake mistake(const char* name, const char* sentence, const How& how) {
  return {name, sentence, by_library(how), by_loops(how)};
}

const std::vector<KnownMistake> mistakes = {
    mistake("no scale",
            "What the adapter makes is added as it is. It counts alpha / rank times: a file of an "
            "adapter is meant with its alpha, and says something else without.",
            {.scale = [](const AdaptedMap&) { return 1.0; }}),
    mistake("alpha times rank", "The scale is alpha * rank. It is alpha / rank.",
            {.scale = [](const AdaptedMap& map) { return map.alpha * double(map.a.size(1)); }}),
    mistake(
        "alpha alone",
        "The scale is alpha. Divide it by the rank: with twice as many columns in A the sum has "
        "twice as many terms.",
        {.scale = [](const AdaptedMap& map) { return map.alpha; }}),
    mistake(
        "alpha divided by the root of the rank",
        "The scale is alpha / sqrt(rank). Some adapters are meant so (rsLoRA), and say it in "
        "their files; here it is alpha / rank.",
        {.scale = [](const AdaptedMap& m) { return m.alpha / std::sqrt(double(m.a.size(1))); }}),
    mistake(
        "alpha divided by the width",
        "alpha is divided by the number of rows of A, the width of x. The rank is the number of "
        "its columns: map.a.size(1).",
        {.scale = [](const AdaptedMap& map) { return map.alpha / double(map.a.size(0)); }}),
    mistake("the scale turned over", "The scale is rank / alpha. It is alpha / rank.",
            {.scale = [](const AdaptedMap& map) { return double(map.a.size(1)) / map.alpha; }}),
    mistake("the scale twice", "The scale counts behind A and once more behind B. Once is enough.",
            {.scales_twice = true}),
    mistake(
        "the map scaled, too",
        "The sum is multiplied by the scale. Only what the adapter makes is; x W has to stay as "
        "it was learned.",
        {.scales_all = true}),
    mistake("the map left out",
            "This is what the adapter adds. x W is missing: the adapter stands beside the map, not "
            "in its place.",
            {.fixed = 0}),
    mistake("the adapter behind the map",
            "The adapter reads what W makes. It stands beside W, and reads x.",
            {.reads_result = true}),
    mistake("no scale, and the map left out",
            "Two things at once. x W is missing, and what the adapter makes is not multiplied by "
            "alpha / rank.",
            {.scale = [](const AdaptedMap&) { return 1.0; }, .fixed = 0})};

}  // namespace

int main(int count, char** arguments) {
  const auto in_one_matrix = [](const Tensor& x, const AdaptedMap& map) {
    const double scale = map.alpha / double(map.a.size(1));
    return matmul(x, map.w + scale * matmul(map.a, map.b));  // (n, out)
  };
  return judge(
      {.inputs = inputs,
       .learner = mapped(learn::adapted),
       .right = {mapped(solution::adapted), by_library({}), by_loops({}), mapped(in_one_matrix)},
       .mistakes = mistakes,
       .hints = {"Two products of matrices on the adapter's way, one on the map's.",
                 "The rank is the number of columns of A: map.a.size(1). Divide doubles, "
                 "not whole numbers.",
                 "matmul(x, map.w) + (map.alpha / double(map.a.size(1))) * "
                 "matmul(matmul(x, map.a), map.b)"}},
      count, arguments);
}
