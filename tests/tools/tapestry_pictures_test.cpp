// Pictures that `tapestry` draws without a model, and its doctor.
#include <cmath>

#include "catch.hpp"
#include "io/raw_safetensors.hpp"
#include "process.hpp"
#include "tapestry/io/npy.hpp"
#include "tapestry/io/safetensors.hpp"
#include "tapestry/random.hpp"

using namespace tapestry;

TEST_CASE("plot draws lists and matrices", "[phase5][tools]") {
  const TemporaryFolder folder;
  Random random(3);
  write_npy(folder / "list.npy", random.normal({70}));
  write_npy(folder / "matrix.npy", random.normal({5, 3}));
  write_npy(folder / "number.npy", Tensor(2));
  for (const std::string name : {"list", "matrix"}) {
    CHECK(wrong(tapestry_in(folder / "", "plot " + name + ".npy --out o")) == "");
    CHECK(is_picture(folder / ("o/plot_" + name + ".png")));
  }
  CHECK(all_in(folder / "o").size() == 2);
  CHECK(has(tapestry_in(folder / "", "plot number.npy --out o").out, "nothing to draw"));
}

TEST_CASE("plot draws a grid of maps, and knows attention when it sees it", "[phase5][tools]") {
  const TemporaryFolder folder;
  write_npy(folder / "heads.npy", Tensor::full({2, 1, 4, 4}, 0.25));
  CHECK(wrong(tapestry_in(folder / "", "plot heads.npy --out o")) == "");
  CHECK(is_picture(folder / "o/plot_heads.png"));
  for (const char* name :
       {"plot_heads_measures.png", "plot_heads_flow.png", "plot_heads_surface.png"}) {
    CHECK(is_picture(folder / "o" / name));
  }
}

TEST_CASE("pictures are SVG where that is asked for", "[phase5][tools]") {
  const TemporaryFolder folder;
  write_npy(folder / "heads.npy", Tensor::full({2, 1, 4, 4}, 0.25));
  CHECK(wrong(tapestry_in(folder / "", "plot heads.npy --out o --format svg")) == "");
  CHECK(wrong(tapestry_in(folder / "", "tape --out o --format svg")) == "");
  const std::vector<std::string> names = {"plot_heads.svg", "plot_heads_flow.svg",
                                          "plot_heads_measures.svg", "plot_heads_surface.svg",
                                          "tape_neuron.svg"};
  CHECK(all_in(folder / "o") == names);
  for (const std::string& name : names) {
    CAPTURE(name);
    const std::string svg = content(folder / ("o/" + name));
    CHECK(svg.starts_with("<svg xmlns="));
    CHECK(has(svg, "</text>"));
  }
}

TEST_CASE("plot keeps to its folder, whatever tensors are called", "[phase5][tools]") {
  const TemporaryFolder folder;
  write_safetensors(folder / "names", {{"../../up", Tensor({2, 2}, {1, 2, 3, 4})},
                                       {"a b", Tensor({2}, {1, 2})},
                                       {"a/b", Tensor({2}, {1, 2})},
                                       {"\x1b[31m", Tensor({2}, {1, 2})}});
  CHECK(wrong(tapestry_in(folder / "", "plot names --out o")) == "");
  const std::vector<std::string> names = {"plot__._.._up.png", "plot___31m.png", "plot_a_b.png",
                                          "plot_a_b_2.png"};
  CHECK(all_in(folder / "o") == names);
}

TEST_CASE("plot names the tensors that cannot be read", "[phase5][tools]") {
  const TemporaryFolder folder;
  const std::string odd = R"("odd":{"dtype":"F8_E4M3","shape":[2],"data_offsets":[0,2]})";
  std::ofstream(folder / "one", std::ios::binary) << with_length("{" + odd + "}", "ab");
  std::ofstream(folder / "two", std::ios::binary) << with_length(
      "{" + odd + R"(,"half":{"dtype":"F16","shape":[2],"data_offsets":[2,6]}})", "ab1234");
  const Result two = tapestry_in(folder / "", "plot two --out o");
  CHECK(wrong(two) == "");
  CHECK(has(two.out, "odd: numbers of its dtype, F8_E4M3, are not read"));
  CHECK(all_in(folder / "o") == std::vector<std::string>{"plot_half.png"});
  const Result one = tapestry_in(folder / "", "plot one --out o");
  CHECK(one.status == 1);
  CHECK(has(one.err, "one holds no readable tensor. Of 'odd': numbers of its dtype"));
  CHECK(has(tapestry_in(folder / "", "plot two --tensor odd").err, "'odd' was not read"));
}

TEST_CASE("tape draws a neuron and prints the gradients", "[phase5][tools]") {
  const TemporaryFolder folder;
  const Result result = tapestry_in(folder / "", "tape --out o");
  CHECK(wrong(result) == "");
  CHECK(is_picture(folder / "o/tape_neuron.png"));
  const double y = std::tanh(0.7), slope = 2 * (y - 0.2) * (1 - y * y);
  CHECK(has(result.out, "d loss / d w = () " + four_digits(2 * slope)));
  CHECK(has(result.out, "d loss / d b = () " + four_digits(slope)));
}

TEST_CASE("tape draws a softmax and prints the gradient", "[phase5][tools]") {
  const TemporaryFolder folder;
  const Result result = tapestry_in(folder / "", "tape softmax --out o");
  CHECK(wrong(result) == "");
  CHECK(is_picture(folder / "o/tape_softmax.png"));
  const double up[] = {std::exp(1.0), std::exp(-0.5), std::exp(0.5)};
  CHECK(has(result.out, four_digits(up[0] / (up[0] + up[1] + up[2]))));  // the gradient is p - y
  CHECK(has(result.out, four_digits(up[2] / (up[0] + up[1] + up[2]) - 1)));
}

TEST_CASE("tape draws attention", "[phase5][tools]") {
  const TemporaryFolder folder;
  CHECK(wrong(tapestry_in(folder / "", "tape attention --out o")) == "");
  CHECK(is_picture(folder / "o/tape_attention.png"));
}

TEST_CASE("doctor finds all well, or says what is not", "[phase5][tools]") {
  const TemporaryFolder folder;
  const Result well = tapestry_in(folder / "", "doctor");
  CHECK(wrong(well) == "");
  for (const char* part : {"compiler", "kernels", "threads", "fonts", "out/plots", "all is well"}) {
    CHECK(has(well.out, part));
  }
  std::filesystem::remove_all(folder / "out");
  std::ofstream(folder / "out") << "in the way";
  const Result ill = tapestry_in(folder / "", "doctor");
  CHECK(ill.status == 1);
  CHECK(has(ill.out, "FAIL  out/plots"));
  CHECK(has(ill.err, "2 of 8 checks failed"));
}
