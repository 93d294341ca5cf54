// BERT: folders of random weights against a forward pass written out, with and without a head.
#include "catch.hpp"
#include "models/plain.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/models/model_folder.hpp"

using namespace plain;

namespace {

const Json config = {{"model_type", "bert"},          {"vocab_size", 11},
                     {"max_position_embeddings", 12}, {"hidden_size", 12},
                     {"num_hidden_layers", 2},        {"num_attention_heads", 3},
                     {"intermediate_size", 10},       {"type_vocab_size", 3}};

Shapes shapes_of(const std::string& p) {
  Shapes s = {{p + "embeddings.word_embeddings.weight", {11, 12}},
              {p + "embeddings.position_embeddings.weight", {12, 12}},
              {p + "embeddings.token_type_embeddings.weight", {3, 12}},
              {p + "embeddings.LayerNorm.weight", {12}},
              {p + "embeddings.LayerNorm.bias", {12}}};
  for (Index i = 0; i < 2; ++i) {
    const std::string l = p + "encoder.layer." + std::to_string(i) + ".";
    for (const char* one : {"self.query", "self.key", "self.value", "output.dense"}) {
      s.push_back({l + "attention." + one + ".weight", {12, 12}});
      s.push_back({l + "attention." + one + ".bias", {12}});
    }
    for (const char* one : {"attention.output.LayerNorm", "output.LayerNorm"}) {
      s.push_back({l + one + ".weight", {12}});
      s.push_back({l + one + ".bias", {12}});
    }
    s.insert(s.end(), {{l + "intermediate.dense.weight", {10, 12}},
                       {l + "intermediate.dense.bias", {10}},
                       {l + "output.dense.weight", {12, 10}},
                       {l + "output.dense.bias", {12}}});
  }
  return s;
}

Shapes with_head(Shapes s) {
  const std::string t = "cls.predictions.transform.";
  s.insert(s.end(), {{t + "dense.weight", {12, 12}},
                     {t + "dense.bias", {12}},
                     {t + "LayerNorm.weight", {12}},
                     {t + "LayerNorm.bias", {12}},
                     {"cls.predictions.bias", {11}}});
  return s;
}

Tensor encoded(const Weights& w, const std::string& p, const Indices& types,
               const std::string& activation = "gelu", double eps = 1e-12) {
  Tensor x = rows_of(w, p + "embeddings.word_embeddings.weight") +
             first_rows(w, p + "embeddings.position_embeddings.weight") +
             embedding(w.at(p + "embeddings.token_type_embeddings.weight"), types);
  x = layer_norm(w, p + "embeddings.LayerNorm", x, eps);
  for (Index i = 0; i < 2; ++i) {
    const std::string l = p + "encoder.layer." + std::to_string(i) + ".";
    const auto part = [&](const char* name) {
      return heads_of(map(w, l + "attention.self." + name, x), 3);
    };
    const Tensor y =
        attend(part("query"), part("key"), part("value"), {.scale = 0.5, .causal = false});
    x = layer_norm(w, l + "attention.output.LayerNorm", x + map(w, l + "attention.output.dense", y),
                   eps);
    const Tensor up = activated(activation, map(w, l + "intermediate.dense", x));
    x = layer_norm(w, l + "output.LayerNorm", x + map(w, l + "output.dense", up), eps);
  }
  return x;
}

Tensor logits_of(const Weights& w, const Tensor& x, const std::string& words,
                 const std::string& activation = "gelu", double eps = 1e-12) {
  const std::string t = "cls.predictions.transform.";
  const Tensor y =
      layer_norm(w, t + "LayerNorm", activated(activation, map(w, t + "dense", x)), eps);
  return matmul(y, transpose(w.at(words))) + w.at("cls.predictions.bias");
}

const Indices zeros({9}, std::vector<std::int32_t>(9)), types({9}, {0, 0, 0, 1, 1, 2, 2, 1, 0});
const std::string words = "embeddings.word_embeddings.weight";

}  // namespace

TEST_CASE("bert as written out, with token types or without", "[phase7][architectures]") {
  for (const std::string activation : {"gelu", "gelu_new", "relu"}) {
    for (const double eps : {1e-12, 0.1}) {
      Json changed = config;
      changed["hidden_act"] = activation;
      changed["layer_norm_eps"] = eps;
      const Weights w = random_weights(with_head(shapes_of("bert.")));
      const TemporaryFolder folder;
      write_folder(folder, changed, w);
      const Transformer model = read_model(folder / "");
      const auto expected = [&](const Indices& kinds) {
        return logits_of(w, encoded(w, "bert.", kinds, activation, eps), "bert." + words,
                         activation, eps);
      };
      CHECK(difference_to(model(ids), expected(zeros), 10 * nearly) == "");
      CHECK(difference_to(model(ids, {}, {.token_type_ids = &types}), expected(types),
                          10 * nearly) == "");
    }
  }
}

TEST_CASE("bert without a head gives what its last layer gives", "[phase7][architectures]") {
  for (const std::string prefix : {"bert.", ""}) {
    for (const bool pooler : {true, false}) {
      for (const bool told : {true, false}) {
        Shapes shapes = shapes_of(prefix);
        if (pooler) {
          shapes.push_back({prefix + "pooler.dense.weight", {12, 12}});
          shapes.push_back({prefix + "pooler.dense.bias", {12}});
        }
        const Weights w = random_weights(shapes);
        Json changed = config;
        if (told) changed["architectures"] = {"BertModel"};
        const TemporaryFolder folder;
        write_folder(folder, changed, w);
        std::vector<std::string> passed_over;
        const Transformer model = read_model(folder / "", &passed_over);
        CHECK_FALSE(model.options.has_logits);
        CHECK(passed_over.size() == (pooler ? 2 : 0));
        CHECK(difference_to(model(ids), encoded(w, prefix, zeros), 10 * nearly) == "");
      }
    }
  }
}

TEST_CASE("bert with a head of its own, copies, a pooler, and names of old",
          "[phase7][architectures]") {
  Weights w = random_weights(with_head(shapes_of("bert.")));
  const Tensor expected = logits_of(w, encoded(w, "bert.", zeros), "bert." + words);
  Weights stored;
  for (const auto& [name, tensor] : w) {
    std::string old = name;
    for (const auto& [now, formerly] : {std::pair{"LayerNorm.weight", "LayerNorm.gamma"},
                                        std::pair{"LayerNorm.bias", "LayerNorm.beta"}}) {
      if (const std::size_t at = old.find(now); at != old.npos) old.replace(at, 99, formerly);
    }
    stored[old] = tensor;
  }
  stored["cls.predictions.decoder.weight"] = w.at("bert." + words);
  stored["cls.predictions.decoder.bias"] = w.at("cls.predictions.bias");
  stored["bert.embeddings.position_ids"] = reshape(Tensor::arange(12), {1, 12});
  for (const char* name : {"bert.pooler.dense.weight", "cls.seq_relationship.weight"}) {
    stored[name] = random_tensor({2, 12});
  }
  const TemporaryFolder folder;
  write_folder(folder, config, stored);
  std::vector<std::string> passed_over;
  CHECK(difference_to(read_model(folder / "", &passed_over)(ids), expected, 10 * nearly) == "");
  CHECK(passed_over.size() == 3);
  Json untied = config;
  untied["tie_word_embeddings"] = false;
  w["cls.predictions.decoder.weight"] = random_tensor({11, 12});
  write_folder(folder, untied, w);
  CHECK(difference_to(read_model(folder / "")(ids),
                      logits_of(w, encoded(w, "bert.", zeros), "cls.predictions.decoder.weight"),
                      10 * nearly) == "");
}

TEST_CASE("bert's buffers are checked, and a norm has one name", "[phase7][architectures]") {
  const auto said = [](const std::string& name, const Tensor& tensor, const std::string& part) {
    Weights w = random_weights(with_head(shapes_of("bert.")));
    w[name] = tensor;
    const TemporaryFolder folder;
    write_folder(folder, config, w);
    return complaint([&] { read_model(folder / ""); }, {part.c_str()});
  };
  const std::string buffer = "bert.embeddings.position_ids", wrong = "is not what config.json";
  CHECK(said(buffer, Tensor::arange(12), "") == "nothing was thrown");
  CHECK(said(buffer, Tensor::arange(11), "'" + buffer + "' (11) " + wrong) == "");
  for (const Index place : {0, 5, 11}) {
    Tensor numbers = Tensor::arange(12);
    numbers.set({place}, 3.5);
    CHECK(said(buffer, numbers, "'" + buffer + "' (12) " + wrong) == "");
  }
  const std::string old = "bert.embeddings.LayerNorm.gamma";
  CHECK(said(old, Tensor::ones({12}), "tensor '" + old + "' (12) is none") == "");
}

TEST_CASE("a class that has a head must have its tensors", "[phase7][architectures]") {
  const TemporaryFolder folder;
  Json changed = config;
  changed["architectures"] = {"BertForMaskedLM"};
  write_folder(folder, changed, random_weights(shapes_of("bert.")));
  CHECK(complaint([&] { read_model(folder / ""); },
                  {"there is no tensor 'cls.predictions.transform.dense.weight'", "(12, 12)"}) ==
        "");
}

TEST_CASE("the gradients of a tiny bert are right", "[phase7][architectures]") {
  const TemporaryFolder folder;
  write_folder(folder, config, random_weights(with_head(shapes_of("bert."))));
  const Transformer model = read_model(folder / "");
  GradcheckOptions fine;
  fine.eps = in_double ? 1e-4 : 4e-3;
  const auto loss = [&] { return cross_entropy(model(ids, {}, {.token_type_ids = &types}), ids); };
  CHECK(wrong_gradient_of(model.parameters(), loss, fine) == "");
}
