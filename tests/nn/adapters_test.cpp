// Adapters of a whole model: which maps get them, that only they learn, and merging.
#include "tapestry/nn/adapters.hpp"

#include <map>

#include "catch.hpp"
#include "nn/architectures.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/optim.hpp"

using namespace tapestry;

namespace {

using Names = std::vector<std::string>;

const Indices ids({2, 5}, {0, 3, 2, 6, 1, 4, 4, 0, 5, 2});
const Indices targets({2, 5}, {3, 2, 6, 1, 4, 4, 0, 5, 2, -1});

Names all_maps(const TransformerOptions& o) {
  Names list = {"query", "key", "value", "output"};
  if (!o.has_feed_forward) return list;
  if (o.gated) list.push_back("gate");
  list.insert(list.end(), {"up", "down"});
  return list;
}

std::vector<TransformerOptions> architectures() {
  TransformerOptions alibi = tiny();
  alibi.positions = Positions::alibi;
  return {tiny(),      like_llama(),           like_neox(), like_gpt_neo(),
          like_bert(), attention_only(tiny()), alibi};
}

// With adapters at every map, all of them random.
Transformer adapted(const TransformerOptions& options, Index rank = 2) {
  Transformer model = scattered(options);
  Random random(8);
  add_adapters(model, {.rank = rank, .alpha = 3, .maps = all_maps(options)}, random);
  scatter(adapter_parameters(model), random, 0.4);
  return model;
}

Transformer merged(Transformer model) {
  merge_adapters(model);
  return model;
}

std::map<std::string, std::vector<real>> numbers_of(const Transformer& model) {
  std::map<std::string, std::vector<real>> all;
  for (const Parameter& one : model.parameters()) all[one.name] = one.value.values();
  return all;
}

Tensor loss_of(const Transformer& model) {
  const Tensor logits = model(ids);
  return cross_entropy(logits, targets) + mean(logits * logits);
}

}  // namespace

TEST_CASE("a model gets adapters at the maps that are named, in every block", "[phase7][nn]") {
  Transformer model = scattered(like_llama());
  const Index before = model.num_parameters();
  Random random(1);
  CHECK_FALSE(has_adapters(model));
  CHECK(adapter_parameters(model).empty());
  add_adapters(model, {.rank = 3, .maps = {"down", "query"}}, random);
  CHECK(has_adapters(model));
  Names expected;
  for (const char* block : {"blocks.0.", "blocks.1."}) {
    for (const char* map : {"attention.query", "feed_forward.down"}) {
      for (const char* part : {".adapter.down", ".adapter.up"}) {
        expected.push_back(std::string(block) + map + part);
      }
    }
  }
  CHECK(names(adapter_parameters(model)) == expected);
  // rank (in + out): queries are 4 to 24, the feed-forward's last map is 3 to 4
  CHECK(model.num_parameters() == before + 2 * 3 * (4 + 24 + 3 + 4));
  Names listed;
  for (const std::string& name : names(model.parameters())) {
    if (name.find("adapter") != std::string::npos) listed.push_back(name);
  }
  CHECK(listed == expected);
  CHECK(model.summary().find("blocks.1.attention.query.adapter") != std::string::npos);
}

TEST_CASE("without a word queries and values get adapters of rank 8", "[phase7][nn]") {
  Transformer model = small_transformer();
  Random random(1);
  add_adapters(model, {}, random);
  CHECK(model.blocks[1].attention.query.adapter->rank() == 8);
  CHECK(model.blocks[1].attention.value.adapter->scale() == 1);
  CHECK_FALSE(model.blocks[1].attention.key.adapter);
  CHECK(adapter_parameters(model).size() == 2 * 2 * 2);
}

TEST_CASE("a model tells what its adapters are", "[phase7][nn]") {
  Transformer model = scattered(like_llama());
  Random random(1);
  add_adapters(model, {.rank = 3, .maps = {"down", "query"}}, random);
  const AdapterOptions options = adapter_options(model);
  CHECK(options.rank == 3);
  CHECK(options.alpha == 3);
  CHECK(options.maps == Names{"query", "down"});
  CHECK(complaint([] { adapter_options(scattered(tiny())); }, {"the model has none"}) == "");
  const auto differs = [&](const std::string& name) {
    const std::string words = "at " + name + " the model's differ from its others";
    return complaint([&] { adapter_options(model); }, {words.c_str()});
  };
  std::optional<Lora>& last = model.blocks[1].attention.query.adapter;
  last.emplace(4, 24, 2, 3, random);
  CHECK(differs("blocks.1.attention.query") == "");
  last.emplace(4, 24, 3, 2, random);
  CHECK(differs("blocks.1.attention.query") == "");
  last.reset();
  CHECK(differs("blocks.1.attention.query") == "");
}

TEST_CASE("new adapters change no logit of a model", "[phase7][nn]") {
  for (const TransformerOptions& options : architectures()) {
    CAPTURE(options.gated, int(options.positions), options.has_feed_forward);
    const Transformer plain = scattered(options);
    Transformer model = plain;
    Random random(1);
    add_adapters(model, {.rank = 2, .maps = all_maps(options)}, random);
    CHECK(same_bits(model(ids), plain(ids)));
    CHECK_FALSE(has_adapters(plain));  // a copy has its own list
  }
}

TEST_CASE("merged adapters are the same model, of any architecture", "[phase7][nn]") {
  for (const TransformerOptions& options : architectures()) {
    CAPTURE(options.gated, int(options.positions), options.has_feed_forward);
    const Transformer plain = scattered(options), model = adapted(options), one = merged(model);
    CHECK(difference_to(one(ids), model(ids), 10 * nearly) == "");
    CHECK(largest_difference(one(ids), plain(ids)) > 0.1);  // they do something
    CHECK_FALSE(has_adapters(one));
    CHECK(names(one.parameters()) == names(plain.parameters()));
    CHECK(has_adapters(model));
    CHECK(
        same_bits(model.blocks[0].attention.query.weight, plain.blocks[0].attention.query.weight));
  }
}

TEST_CASE("to merge no adapters changes nothing", "[phase7][nn]") {
  Transformer model = scattered(tiny());
  const auto before = numbers_of(model);
  merge_adapters(model);
  CHECK(numbers_of(model) == before);
}

TEST_CASE("a model with adapters writes what its merged one does, with a cache and without",
          "[phase7][nn]") {
  for (const TransformerOptions& options : {tiny(), like_llama(), like_neox(), like_gpt_neo()}) {
    const Transformer model = adapted(options), one = merged(model);
    std::vector<KeyValueCache> caches, of_one;
    for (Index i = 0; i < 5; ++i) {
      CAPTURE(options.gated, int(options.positions), i);
      const Indices next({1, 1}, {ids.values[static_cast<std::size_t>(i)]});
      const Tensor whole =
          model(Indices({i + 1}, {ids.values.begin(), ids.values.begin() + i + 1}));
      const Tensor row = reshape(slice(whole, 0, i, i + 1), {1, 1, 7});
      CHECK(difference_to(model.next(next, caches), row, 10 * nearly) == "");
      CHECK(difference_to(one.next(next, of_one), row, 10 * nearly) == "");
    }
  }
}

TEST_CASE("the gradients of all adapters of a model are right", "[phase7][nn]") {
  for (const TransformerOptions& options : architectures()) {
    CAPTURE(options.gated, int(options.positions), options.has_feed_forward);
    const Transformer model = adapted(options);
    GradcheckOptions fine;
    fine.eps = in_double ? 1e-4 : 4e-3;
    CHECK(wrong_gradient_of(adapter_parameters(model), [&] { return loss_of(model); }, fine) == "");
  }
}

TEST_CASE("training by adapters changes nothing but them, and lowers the loss", "[phase7][nn]") {
  Transformer model = scattered(like_llama());
  const auto before = numbers_of(model);
  Random random(1);
  add_adapters(model, {.rank = 2, .maps = all_maps(model.options)}, random);
  const double at_first = double{cross_entropy(model(ids), targets).item()};
  Adam adam(adapter_parameters(model), {.learning_rate = 0.05});
  for (int step = 0; step < 100; ++step) {
    Tape tape(adapter_parameters(model));
    adam.step(tape.backward(cross_entropy(model(ids), targets)));
  }
  CHECK(double{cross_entropy(model(ids), targets).item()} < 0.8 * at_first);
  for (const auto& [name, values] : numbers_of(model)) {
    CAPTURE(name);
    const bool of_adapter = name.find(".adapter.") != std::string::npos;
    CHECK(before.contains(name) == !of_adapter);
    if (!of_adapter) CHECK(values == before.at(name));
    if (name.ends_with(".up")) {
      CHECK(values != std::vector<real>(values.size()));  // each has learned
    }
  }
}

TEST_CASE("one seed, the same adapters; another seed, others", "[phase7][nn]") {
  Transformer a = scattered(tiny()), b = scattered(tiny()), c = scattered(tiny());
  Random one(4), same(4), other(5);
  add_adapters(a, {.rank = 1}, one);
  add_adapters(b, {.rank = 1}, same);
  add_adapters(c, {.rank = 1}, other);
  CHECK(numbers_of(a) == numbers_of(b));
  CHECK(numbers_of(a) != numbers_of(c));
}

TEST_CASE("adapters that cannot be are refused, and nothing is added", "[phase7][nn]") {
  Transformer model = scattered(tiny());
  Random random(1);
  const auto problem = [&](const AdapterOptions& options,
                           std::initializer_list<const char*> words) {
    const std::string missing = complaint([&] { add_adapters(model, options, random); }, words);
    CHECK_FALSE(has_adapters(model));
    return missing;
  };
  CHECK(problem({.rank = 1, .maps = {"quary"}},
                {"no map 'quary'", "query, key, value, output, up and down."}) == "");
  CHECK(problem({.rank = 1, .maps = {"query", "gate"}}, {"no map 'gate'"}) == "");
  CHECK(problem({.rank = 1, .maps = {""}}, {"no map ''"}) == "");
  Transformer few = scattered(attention_only(tiny()));
  CHECK(complaint([&] { add_adapters(few, {.rank = 1, .maps = {"up"}}, random); },
                  {"no map 'up'", "are query, key, value and output."}) == "");
  CHECK(problem({.rank = 1, .maps = {}}, {"no map is named", "query"}) == "");
  CHECK(problem({.rank = 1, .maps = {"key", "key"}}, {"'key' is named twice"}) == "");
  CHECK(problem({.rank = 4, .maps = {"query", "up"}}, {"(4, 3)", "1 to 3"}) == "");
  CHECK(problem({.rank = 0}, {"the rank is 0"}) == "");
  CHECK(problem({.rank = 1, .alpha = -2}, {"alpha is -2"}) == "");
  add_adapters(model, {.rank = 1}, random);
  CHECK(complaint([&] { add_adapters(model, {.rank = 1}, random); }, {"has adapters already"}) ==
        "");
  TransformerOptions empty = tiny();
  empty.num_layers = 0;
  model = Transformer(empty, random);
  CHECK(problem({.rank = 1}, {"no blocks"}) == "");
}
