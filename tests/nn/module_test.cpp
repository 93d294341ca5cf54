// Modules: names, copies, counts, files, the table; and layers one behind the other.
#include "tapestry/nn/module.hpp"

#include <optional>
#include <string>
#include <vector>

#include "catch.hpp"
#include "nn/layers.hpp"
#include "tapestry/io/safetensors.hpp"
#include "tapestry/nn/sequential.hpp"
#include "tapestry/ops.hpp"
#include "temporary_folder.hpp"

using namespace tapestry;

namespace {

// A user's own, with a member of every sort.
struct Own : Module {
  Tensor scale = Tensor::full({3}, 2), missing;
  Linear map;
  std::optional<LayerNorm> norm, no_norm;
  std::vector<Linear> list;
  bool has_map = true;

  explicit Own(Random& random) : map(3, 2, random), norm(3) {
    for (Index i = 0; i < 2; ++i) list.emplace_back(1, 1, random, LinearOptions{.bias = false});
  }

  Members members() const override {
    return {{"scale", scale}, {"missing", missing}, {"map", has_map ? &map : nullptr},
            {"norm", norm},   {"no_norm", no_norm}, {"list", list}};
  }
};

Own own() {
  Random random(1);
  return Own(random);
}

}  // namespace

TEST_CASE("a module's parameters have the names of its members, in order", "[phase2][nn]") {
  Own model = own();
  const std::vector<std::string> all = {"scale",     "map.weight",    "map.bias",     "norm.gain",
                                        "norm.bias", "list.0.weight", "list.1.weight"};
  CHECK(names(model.parameters()) == all);
  CHECK(names(model.parameters("a.b."))[1] == "a.b.map.weight");
  CHECK(model.parameters()[1].value.buffer() == model.map.weight.buffer());
  CHECK(model.num_parameters() == 3 + 8 + 6 + 2);
  model.has_map = false;
  CHECK(names(model.parameters())[1] == "norm.gain");
  CHECK(model.num_parameters() == 3 + 6 + 2);
}

TEST_CASE("parameters of several modules are joined under names", "[phase2][nn]") {
  Random random(1);
  const Linear one(2, 3, random), two(3, 1, random, {.bias = false});
  const Parameters all = parameters({{"one", one}, {"two", two}});
  CHECK(names(all) == std::vector<std::string>{"one.weight", "one.bias", "two.weight"});
  CHECK(names(parameters({{"one", one}}, "net.")) ==
        std::vector<std::string>{"net.one.weight", "net.one.bias"});
  CHECK(parameters({}).empty());
}

TEST_CASE("a copy of a module shares its numbers, and names its own members", "[phase2][nn]") {
  const Own model = own();
  Own copy = model;
  CHECK(copy.parameters()[1].value.buffer() == model.map.weight.buffer());
  copy.map.weight = Tensor::ones({3, 2});
  CHECK(copy.parameters()[1].value.buffer() == copy.map.weight.buffer());
  CHECK(model.parameters()[1].value.buffer() == model.map.weight.buffer());
  copy = model;
  CHECK(copy.parameters()[1].value.buffer() == model.map.weight.buffer());
}

TEST_CASE("a module is written to a file and read from it", "[phase2][nn]") {
  const TemporaryFolder folder;
  const Own model = own(), other = own();
  Random random(5);
  scatter(model.parameters(), random);
  write_safetensors(folder / "a", model.parameters());
  load_parameters(other.parameters(), read_safetensors(folder / "a"));
  for (std::size_t i = 0; i < model.parameters().size(); ++i) {
    CHECK(same_bits(other.parameters()[i].value, model.parameters()[i].value));
  }
}

TEST_CASE("a summary tells of every layer its shapes, numbers and bytes", "[phase2][nn]") {
  const std::string in_floats =
      "layer   shapes      parameters  bytes\n"
      "        (3)                  3     12\n"
      "map     (3, 2) (2)           8     32\n"
      "norm    (3) (3)              6     24\n"
      "list.0  (1, 1)               1      4\n"
      "list.1  (1, 1)               1      4\n"
      "all                         19     76\n";
  if (!in_double) CHECK(own().summary() == in_floats);
  const std::string table = small_transformer().summary();
  CHECK(table.find("blocks.1.feed_forward.up") != std::string::npos);
  CHECK(table.find("\nall ") != std::string::npos);
  for (std::size_t begin = 0, end; begin < table.size(); begin = end + 1) {
    end = table.find('\n', begin);
    CHECK(end - begin <= 80);
  }
}

TEST_CASE("a sequence of layers computes one behind the other", "[phase2][nn]") {
  Random random(1);
  const Linear one(3, 4, random), two(4, 5, random);
  const Sequential net(one, gelu, two, [](const Tensor& x) { return x * 2; });
  const Tensor x = random_tensor({5, 3});
  CHECK(same_bits(net(x), two(gelu(one(x))) * 2));
  CHECK(names(net.parameters("net.")) ==
        std::vector<std::string>{"net.0.weight", "net.0.bias", "net.2.weight", "net.2.bias"});
  CHECK(net.parameters()[0].value.buffer() == one.weight.buffer());
  const Sequential nested(net, LayerNorm(5));
  CHECK(names(nested.parameters())[3] == "0.2.bias");
  CHECK(names(nested.parameters())[4] == "1.gain");
  CHECK(nested(x).shape() == Shape{5, 5});
  CHECK(wrong_gradient_of(nested.parameters(), [&] { return nested(x); }) == "");
}

TEST_CASE("a sequence hands mask and context on to the layers that take them", "[phase2][nn]") {
  Random random(1);
  const TransformerBlock block(4, 2, random, {.dropout = 0.5});
  const Linear map(4, 4, random);
  const Sequential net(block, map);
  const Tensor x = random_tensor({2, 3, 4});
  const Mask mask = Mask::padding({3, 1});
  CHECK(same_bits(net(x, mask), map(block(x, mask))));
  Random one(5), same(5);
  CHECK(same_bits(net(x, {}, {.random = &one}), map(block(x, {}, {.random = &same}))));
  CHECK_FALSE(same_bits(net(x, {}, {.random = &one}), net(x)));
  KeyValueCache cache;
  CHECK(complaint([&] { net(x, {}, {.cache = &cache}); }, {"sequential: a cache is of one"}) == "");
}

TEST_CASE("a sequence grows, and without layers changes nothing", "[phase2][nn]") {
  Sequential net;
  const Tensor x = random_tensor({2, 3});
  CHECK(same_bits(net(x), x));
  CHECK(net.parameters().empty());
  net.add(LayerNorm(3));
  const Sequential copy = net;
  net.add(LayerNorm(3));
  CHECK(copy.parameters().size() == 2);
  CHECK(net.parameters().size() == 4);
  CHECK(copy.parameters()[0].value.buffer() == net.parameters()[0].value.buffer());
}
