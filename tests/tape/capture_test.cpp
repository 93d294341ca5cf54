// Capture: what layers file, under which names, and that it is what they used.
#include "tapestry/capture.hpp"

#include <thread>
#include <vector>

#include "catch.hpp"
#include "nn/layers.hpp"
#include "tapestry/nn/transformer.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

const Indices ids({2, 5}, {1, 2, 3, 4, 5, 6, 0, 1, 2, 3});

}  // namespace

TEST_CASE("without a Capture nothing is recorded, and names do nothing", "[phase2][nn]") {
  CHECK_FALSE(Capture::active());
  {
    const Capture::Name name("blocks", 3);
    Capture::record("weights", Tensor::ones({2}));
  }
  const Capture seen;
  CHECK(Capture::active());
  CHECK(seen.all().empty());
  CHECK(complaint([&] { seen["weights"]; }, {"capture: nothing was recorded as 'weights'",
                                             "Nothing was recorded at all"}) == "");
}

TEST_CASE("names are joined while in scope", "[phase2][nn]") {
  const Capture seen;
  Capture::record("embedding", Tensor(1));
  {
    const Capture::Name blocks("blocks", 0);
    {
      const Capture::Name attention("attention");
      Capture::record("weights", Tensor(2));
    }
    Capture::record("output", Tensor(3));
  }
  {
    const Capture::Name blocks("blocks", 12);
    Capture::record("output", Tensor(4));
  }
  Capture::record("logits", Tensor(5));
  CHECK(names(seen.all()) == std::vector<std::string>{"embedding", "blocks.0.attention.weights",
                                                      "blocks.0.output", "blocks.12.output",
                                                      "logits"});
  CHECK(seen["blocks.12.output"].item() == 4);
  CHECK(seen.contains("blocks.0.output"));
  CHECK_FALSE(seen.contains("output"));
  CHECK(complaint([&] { seen["blocks.1.output"]; },
                  {"nothing was recorded as 'blocks.1.output'", "There are: embedding, blocks.0.a",
                   "blocks.12.output, logits."}) == "");
}

TEST_CASE("a name ends with its scope, also when that is left by an error", "[phase2][nn]") {
  const Capture seen;
  const auto fails = [] {
    const Capture::Name name("blocks", 0);
    throw Error("stopped");
  };
  CHECK(complaint(fails, {"stopped"}) == "");
  Capture::record("after", Tensor(1));
  CHECK(names(seen.all()) == std::vector<std::string>{"after"});
}

TEST_CASE("of two passes the last is seen, in the order of the first", "[phase2][nn]") {
  const Capture seen;
  Capture::record("a", Tensor(1));
  Capture::record("b", Tensor(2));
  Capture::record("a", Tensor(3));
  CHECK(names(seen.all()) == std::vector<std::string>{"a", "b"});
  CHECK(seen["a"].item() == 3);
}

TEST_CASE("one Capture per thread, and one after the other", "[phase2][nn]") {
  {
    const Capture seen;
    CHECK(complaint([] { const Capture second; },
                    {"capture: another Capture is active on this thread", "scope ends"}) == "");
    CHECK(Capture::active());  // the refusal did not end the first
    Capture::record("kept", Tensor(1));
    CHECK(seen.contains("kept"));
    bool active = true;
    std::thread([&active] { active = Capture::active(); }).join();
    CHECK_FALSE(active);
  }
  const Capture next;
  CHECK(next.all().empty());
}

TEST_CASE("a transformer files every stage, in order", "[phase2][nn]") {
  const Transformer model = small_transformer();
  const Capture seen;
  model(ids, {}, {.need_weights = true});
  std::vector<std::string> expected = {"embedding"};
  for (const char* block : {"blocks.0.", "blocks.1."}) {
    for (const char* name : {"attention.query", "attention.key", "attention.value",
                             "attention.scores", "attention.weights", "attention.heads",
                             "attention.output", "middle", "feed_forward", "output"}) {
      expected.push_back(std::string(block) + name);
    }
  }
  expected.insert(expected.end(), {"norm", "logits"});
  CHECK(names(seen.all()) == expected);
  CHECK(seen["embedding"].shape() == Shape{2, 5, 8});
  CHECK(seen["blocks.1.attention.weights"].shape() == Shape{2, 2, 5, 5});
  CHECK(seen["blocks.1.middle"].shape() == Shape{2, 5, 8});
}

TEST_CASE("what is recorded is what was used, stage by stage", "[phase2][nn]") {
  const Transformer model = small_transformer();
  const Capture seen;
  const Tensor logits = model(ids, {}, {.need_weights = true});
  CHECK(seen["logits"].buffer() == logits.buffer());
  CHECK(same_bits(model.lm_head(seen["norm"]), logits));
  CHECK(same_bits((*model.norm)(seen["blocks.1.output"]), seen["norm"]));
  for (std::size_t i = 0; i < 2; ++i) {
    const std::string block = "blocks." + std::to_string(i) + ".", part = block + "attention.";
    const Tensor x = i == 0 ? seen["embedding"] : seen["blocks.0.output"];
    const MultiHeadAttention& layer = model.blocks[i].attention;
    const Tensor query = layer.query(model.blocks[i].attention_norm(x));
    CHECK(same_bits(seen[part + "query"], split_heads(query, 2)));
    const Tensor scores = matmul(seen[part + "query"], transpose(seen[part + "key"])) * 0.5;
    CHECK(difference_to(seen[part + "scores"], scores, nearly) == "");
    const Tensor hidden = masked_fill(scores, 1 - Mask::causal().tensor({5, 5}), -infinity);
    CHECK(difference_to(seen[part + "weights"], softmax(hidden), nearly) == "");
    CHECK(difference(sum(seen[part + "weights"], -1), {2, 2, 5}, std::vector<double>(20, 1)) == "");
    const Tensor mixed = matmul(seen[part + "weights"], seen[part + "value"]);
    CHECK(difference_to(seen[part + "heads"], mixed, nearly) == "");
    const Tensor joined = layer.output(concat_heads(seen[part + "heads"]));
    CHECK(same_bits(seen[part + "output"], joined));
    CHECK(same_bits(seen[block + "middle"], x + joined));
  }
}

TEST_CASE("a Capture does not change the result, by a bit", "[phase2][nn]") {
  const Transformer model = small_transformer();
  const Tensor unseen = model(ids), one = model(Indices({4}, {1, 2, 3, 4}));
  const Capture seen;
  CHECK(same_bits(model(ids), unseen));
  CHECK(same_bits(model(Indices({4}, {1, 2, 3, 4})), one));
  CHECK(difference_to(model(ids, {}, {.need_weights = true}), unseen, nearly) == "");
}

TEST_CASE("asking for weights that were not stored is an error that tells how to store them",
          "[phase2][nn]") {
  const Transformer model = small_transformer();
  const Capture seen;
  model(ids);
  const std::string name = "blocks.0.attention.weights";
  CHECK_FALSE(seen.contains(name));
  CHECK(seen.contains("blocks.0.attention.heads"));
  CHECK(complaint([&] { seen[name]; }, {"capture: 'blocks.0.attention.weights' was not stored",
                                        "give the model {.need_weights = true}"}) == "");
  model(ids, {}, {.need_weights = true});
  CHECK(seen[name].shape() == Shape{2, 2, 5, 5});
  model(ids);  // of two passes the last is seen
  CHECK_FALSE(seen.contains(name));
}

TEST_CASE("what is below a name that was not stored was not stored either", "[phase2][nn]") {
  Capture seen;
  Capture::record("block.0.output", Tensor(1));
  Capture::record("block", Tensor(2));
  Capture::record("blocks", Tensor(3));
  Capture::not_stored("block", "look closer");
  CHECK(names(seen.all()) == std::vector<std::string>{"blocks"});
  for (const char* name : {"block", "block.0.output", "block.x"}) {
    CHECK(complaint([&] { (void)seen[name]; }, {"' was not stored: look closer."}) == "");
  }
  for (const char* name : {"bloc", "block0", "blockx.", "blocks.0", "xblock"}) {
    CHECK(complaint([&] { (void)seen[name]; }, {"nothing was recorded as"}) == "");
  }
  seen.replace("blocks.y", [](const Tensor& x) { return x; });
  Capture::not_stored("block", "look closer");  // not one of these
  seen.replace("block.y", [](const Tensor& x) { return x; });
  CHECK(complaint([] { Capture::not_stored("block", "look closer"); },
                  {"'block.y' was not stored: look closer."}) == "");
  Capture::record("block.z", Tensor(4));  // so it was stored, after all
  CHECK(complaint([&] { (void)seen["block"]; }, {"nothing was recorded as 'block'"}) == "");
}

TEST_CASE("a Capture while a tape records gives the same gradients", "[phase2][nn]") {
  const Transformer model = small_transformer();
  const auto gradients = [&](const ForwardContext& pass) {
    Tape tape(model.parameters());
    return tape.backward(cross_entropy(model(ids, {}, pass), ids));
  };
  const Gradients unseen = gradients({});
  const Capture seen;
  const Gradients looked = gradients({}), stored = gradients({.need_weights = true});
  for (std::size_t i = 0; i < unseen.size(); ++i) {
    CHECK(same_bits(looked.at(i), unseen.at(i)));
    CHECK(difference_to(stored.at(i), unseen.at(i), nearly) == "");
  }
  CHECK(seen.contains("blocks.1.attention.weights"));
}

TEST_CASE("what was recorded on a tape can be differentiated", "[phase2][nn]") {
  const Transformer model = small_transformer();
  Tape tape(std::vector<Tensor>{model.token_embedding.weight});
  const Capture seen;
  model(ids, {}, {.need_weights = true});
  const Tensor& weights = seen["blocks.0.attention.weights"];
  const Gradients gradients = tape.backward(weights, random_tensor(weights.shape()));
  CHECK(max(gradients[model.token_embedding.weight]).item() > 0);
}
