// The laboratory of variants: each agrees with explicit attention, and what is wrong is found.
#include "course/laboratory.hpp"

#include <chrono>
#include <cmath>
#include <thread>

#include "catch.hpp"
#include "ops/expect.hpp"
#include "tapestry/attention.hpp"
#include "tapestry/attention_variants.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

const LaboratoryOptions once{.repeats = 1, .least_time = 0};
static_assert(!LaboratoryOptions().bytes);  // a constant: nothing is measured to make options
constexpr double rounding = in_double ? 1e-12 : 2e-5;

const Variant& named(const std::vector<Variant>& list, const std::string& name) {
  for (const Variant& variant : list) {
    if (variant.name == name) return variant;
  }
  throw Error("no variant " + name);
}

// "" if both ways agree with explicit attention, and exact ones with all pairs.
std::string wrong(const Variant& variant, const Measurement& found) {
  if (!found.forward.skipped.empty()) return "";
  if (!(found.forward.error < rounding)) return std::to_string(found.forward.error);
  if (!(found.forward_backward.error < rounding))
    return std::to_string(found.forward_backward.error) + " back";
  const bool exact = variant.kind == VariantKind::exact;
  return exact && !(found.error_vs_full < rounding) ? std::to_string(found.error_vs_full) + " full"
                                                    : "";
}

}  // namespace

TEST_CASE("every variant of the laboratory agrees with explicit attention, both ways",
          "[phase6][laboratory]") {
  for (const bool causal : {false, true}) {
    for (const Index length : {1, 2, 33, 70}) {
      const LaboratoryInput input = laboratory_input({.batch = 2,
                                                      .num_heads = 4,
                                                      .length = length,
                                                      .width = 5,
                                                      .is_causal = causal,
                                                      .window = 3,
                                                      .stride = 4,
                                                      .block = 7,
                                                      .global = 2,
                                                      .chunk = 16},
                                                     once);
      for (const Variant& variant : attention_variants(input.sizes)) {
        CAPTURE(causal, length, variant.name);
        CHECK(wrong(variant, measure(variant, input, once)) == "");
      }
    }
  }
}

TEST_CASE("what theory says of the variants that keep all weights, or pieces of them",
          "[phase6][laboratory]") {
  const std::vector<Variant> list = attention_variants({});
  for (const char* name : {"explicit", "checkpointed"}) {
    CHECK(named(list, name).time_growth == 2);
    CHECK(named(list, name).memory_growth == 2);
  }
  CHECK(named(list, "chunked").time_growth == 2);
  CHECK(named(list, "chunked").memory_growth == 1);
}

TEST_CASE("multi-query attention has one head of keys and values, however many of queries",
          "[phase6][laboratory]") {
  for (const Index heads : {1, 2, 3, 4}) {
    const LaboratoryInput in =
        laboratory_input({.num_heads = heads, .length = 9, .width = 5}, once);
    const Variant variant = named(attention_variants(in.sizes), "multi-query");
    CHECK(wrong(variant, measure(variant, in, once)) == "");
    const auto first = [](const Tensor& x) { return expand(slice(x, -3, 0, 1), x.shape()); };
    CHECK(difference_to(variant.run(in.q, in.k, in.v),
                        attention(in.q, first(in.k), first(in.v)).output, rounding) == "");
  }
}

TEST_CASE("grouped-query attention has groups of equal size, if there can be some",
          "[phase6][laboratory]") {
  for (const Index heads : {4, 6, 9}) {
    CHECK(named(attention_variants({.num_heads = heads}), "grouped-query").skipped.empty());
  }
  for (const Index heads : {1, 2, 3, 5}) {
    CHECK_FALSE(named(attention_variants({.num_heads = heads}), "grouped-query").skipped.empty());
  }
}

TEST_CASE("how far another function is from softmax attention is told, not hidden",
          "[phase6][laboratory]") {
  const LaboratoryInput in = laboratory_input({.length = 40, .width = 8, .window = 4}, once);
  const std::vector<Variant> list = attention_variants(in.sizes);
  const Tensor full = attention(in.q, in.k, in.v).output;
  const auto error_vs_full = [&](const std::string& name) {
    return measure(named(list, name), in, once).error_vs_full;
  };
  const double linear = largest_difference(linear_attention(in.q, in.k, in.v), full);
  const Tensor near = attention(in.q, in.k, in.v, Mask::local(4)).output;
  CHECK(linear > 0.1);
  CHECK(error_vs_full("linear") == Approx(linear).margin(rounding));
  CHECK(error_vs_full("local") == Approx(largest_difference(near, full)).margin(rounding));
  CHECK(error_vs_full("multi-query") > 0.1);
  CHECK(named(list, "linear").kind == VariantKind::other);
  CHECK(named(list, "local").kind == VariantKind::pattern);
  CHECK(named(list, "cached").kind == VariantKind::pattern);
}

TEST_CASE("the laboratory finds a variant that is wrong, also in the backward pass",
          "[phase6][laboratory]") {
  const LaboratoryInput in = laboratory_input({.length = 20, .width = 8}, once);
  Variant variant = attention_variants(in.sizes).front();
  variant.run = [](const Tensor& q, const Tensor& k, const Tensor& v) {
    return attention(q * 1.1, k, v).output;
  };
  CHECK(measure(variant, in, once).forward.error > 1e-3);
  variant.run = [](const Tensor& q, const Tensor& k, const Tensor& v) {
    return attention(q, k.detach(), v).output;
  };
  const Measurement found = measure(variant, in, once);
  CHECK(found.forward.error < rounding);
  CHECK(found.forward_backward.error > 1e-3);
}

TEST_CASE("only the last queries are compared where all would take long", "[phase6][laboratory]") {
  const LaboratoryInput in =
      laboratory_input({.num_heads = 3, .length = 100, .width = 2},
                       {.repeats = 1, .least_time = 0, .compared_pairs = 9000});
  CHECK(in.first == 70);
  CHECK(in.full.shape() == Shape{1, 3, 30, 2});
  CHECK(in.d_output.at({0, 2, 69, 0}) == 0);
  CHECK(in.d_output.at({0, 2, 70, 0}) != 0);
  const Variant variant = named(attention_variants(in.sizes), "blocked");
  CHECK(wrong(variant, measure(variant, in, once)) == "");
}

TEST_CASE("the laboratory's bytes are those of the weights, and grow as in theory",
          "[phase6][laboratory]") {
  std::vector<double> lengths, of_explicit, of_fused;
  for (const Index length : {64, 128, 256}) {
    const LaboratoryInput in =
        laboratory_input({.num_heads = 2, .length = length, .width = 4}, once);
    const std::vector<Variant> list = attention_variants(in.sizes);
    const auto bytes = [&](const std::string& name) {
      const Variant& variant = named(list, name);
      const Measurement found = measure(variant, in, once);
      CHECK(found.forward_backward.bytes >= found.forward.bytes);
      CHECK(measure(variant, in, once).forward_backward.bytes == found.forward_backward.bytes);
      return found.forward_backward.bytes;
    };
    lengths.push_back(static_cast<double>(length));
    of_explicit.push_back(bytes("explicit"));
    of_fused.push_back(bytes("fused"));
    CHECK(of_explicit.back() > static_cast<double>(2 * length * length * sizeof(real)));
    CHECK(of_fused.back() < of_explicit.back() / 2);
    CHECK(bytes("checkpointed") < of_explicit.back());
  }
  CHECK(growth(lengths, of_explicit) == Approx(2).margin(0.1));
  CHECK(growth(lengths, of_fused) == Approx(1).margin(0.3));
}

TEST_CASE("what does not fit the sizes, the time or the memory is skipped, and why is said",
          "[phase6][laboratory]") {
  const LaboratorySizes sizes{.num_heads = 3, .length = 600, .width = 4, .is_causal = true};
  const LaboratoryInput in = laboratory_input(sizes, once);
  const std::vector<Variant> list = attention_variants(sizes);
  const auto reason = [&](const std::string& name, const LaboratoryOptions& options) {
    const Measurement found = measure(named(list, name), in, options);
    for (const Timing& one : {found.forward, found.forward_backward}) {
      CHECK((one.skipped.empty() ? one.seconds > 0 : one.seconds + one.bytes + one.error == 0));
    }
    if (!found.forward.skipped.empty()) CHECK(found.error_vs_full == 0);
    return found.forward.skipped + "/" + found.forward_backward.skipped;
  };
  const std::string later = "it sees what comes later; causal linear does not";
  CHECK(reason("linear", once) == later + "/" + later);
  CHECK(missing_word(reason("grouped-query", once), {"between 1 and 3"}) == "");
  CHECK(reason("cached", once) == "/a tape would keep the cache of every position");
  const std::string large = reason("explicit", {.bytes = 8.0 * (1 << 20), .repeats = 1});
  CHECK(missing_word(large, {"it would need about", "MiB, of 8 that"}) == "");
  CHECK(reason("fused", {.bytes = 8.0 * (1 << 20), .repeats = 1}) == "/");
  const std::string slow = reason("explicit", {.seconds = 1e-9, .repeats = 1});
  CHECK(missing_word(slow, {"it would take about", "seconds a run"}) == "");
}

TEST_CASE("sizes that make no sense, or do not fit, are refused", "[phase6][laboratory]") {
  const auto refused = [](const LaboratorySizes& sizes, std::initializer_list<const char*> words) {
    return complaint([&] { laboratory_input(sizes, once); }, words);
  };
  CHECK(refused({.num_heads = 0}, {"laboratory", "0", "at least 1"}) == "");
  CHECK(refused({.length = -3}, {"-3", "at least 1"}) == "");
  CHECK(refused({.window = -1}, {"window is -1", "not be negative"}) == "");
  CHECK(complaint([] { attention_variants({.chunk = 0}); }, {"at least 1"}) == "");
  CHECK(complaint([] { attention_variants({.global = -1}); }, {"global is -1"}) == "");
  CHECK(attention_variants({.window = 0, .global = 0}).size() > 10);
  const Index large = Index{1} << 40;
  CHECK(refused({.batch = large, .length = large}, {"too much for the memory"}) == "");
}

TEST_CASE("without sizes, the laboratory has four heads of width 32 and 256 positions",
          "[phase6][laboratory]") {
  const LaboratoryInput in = laboratory_input({}, {.repeats = 1, .compared_pairs = 1000});
  CHECK(in.q.shape() == Shape{1, 4, 256, 32});
  const LaboratorySizes s;
  CHECK((s.window == 32 && s.stride == 32 && s.block == 64 && s.global == 4 && s.chunk == 64));
  const LaboratoryOptions options;
  CHECK((options.seconds == 5 && options.repeats == 5 && options.least_time == 0.002));
  CHECK(options.compared_pairs == 16777216);
}

TEST_CASE("the laboratory's time is the median of its repeats", "[phase6][laboratory]") {
  const LaboratoryInput in = laboratory_input({.length = 4}, once);
  Variant variant = named(attention_variants(in.sizes), "explicit");
  for (const int repeats : {1, 2, 3, 4}) {
    variant.run = [](const Tensor& q, const Tensor& k, const Tensor& v) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      return attention(q, k, v).output;
    };
    const Measurement found = measure(variant, in, {.repeats = repeats, .least_time = 0});
    CHECK(found.forward.seconds >= 0.01);
    CHECK(found.forward.seconds < 10);
  }
}

TEST_CASE("growth is the slope on logarithmic axes", "[phase6][laboratory]") {
  CHECK(growth({1, 2, 4, 8}, {3, 12, 48, 192}) == Approx(2));
  CHECK(growth({64, 4096}, {5, 5}) == Approx(0).margin(1e-12));
  CHECK(growth({1, 2, 4}, {1, 3, 4}) == Approx(1));
  CHECK(std::isnan(growth({}, {})));
  CHECK(std::isnan(growth({7, 7}, {1, 2})));
  for (std::size_t count = 1; count < 20; ++count) {  // also where a mean is not exact
    CHECK(std::isnan(growth(std::vector<double>(count, 7), std::vector<double>(count, 3))));
  }
  CHECK(complaint([] { growth({1, 2}, {1}); }, {"2 x and 1 y"}) == "");
  CHECK(complaint([] { growth({1, 2}, {1, 0}); }, {"above 0"}) == "");
  CHECK(complaint([] { growth({0, 2}, {1, 1}); }, {"above 0"}) == "");
}

TEST_CASE("the laboratory finds NaN in any gradient, and compares all pairs if asked to",
          "[phase6][laboratory]") {
  const LaboratoryInput input = laboratory_input({.length = 16}, {.compared_pairs = INFINITY});
  CHECK(input.first == 0);
  Variant variant = named(attention_variants(input.sizes), "explicit");
  const auto run = variant.run;
  variant.run = [run](const Tensor& q, const Tensor& k, const Tensor& v) {
    return run(q, k, v) + sqrt(q * 0.0) * 0.0;  // 0 / 0 in the backward pass, to q alone
  };
  CHECK(std::isnan(measure(variant, input, once).forward_backward.error));
}
