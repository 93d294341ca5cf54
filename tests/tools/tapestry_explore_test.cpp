// `tapestry explore`: the page holds what the library computes, to the last bit, and words of texts
// and files are data in it.
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "analysis/planted_model.hpp"
#include "catch.hpp"
#include "process.hpp"
#include "small_folder.hpp"
#include "tapestry/analysis/evidence.hpp"
#include "tapestry/analysis/lens.hpp"
#include "tapestry/analysis/patterns.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/io/transformer_file.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/text/corpus.hpp"
#include "tapestry/text/input_format.hpp"

using namespace tapestry;

namespace {

using Json = nlohmann::json;

// What stands between an opening tag and the next "</script>".
std::string inside(const std::string& page, const std::string& tag) {
  const std::size_t at = page.find(tag);
  if (at == page.npos) return "no " + tag;
  const std::size_t begin = at + tag.size();
  return page.substr(begin, page.find("</script>", begin) - begin);
}

std::string decoded(const std::string& base64) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  unsigned bits = 0, count = 0;
  for (const char c : base64) {
    if (c == '=') break;
    bits = bits << 6 | static_cast<unsigned>(digits.find(c));
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 255U);
  }
  return bytes;
}

// A page as another program reads it.
struct Page {
  std::string text;
  Json json;

  explicit Page(const std::filesystem::path& path)
      : text(content(path)),
        json(Json::parse(inside(text, "<script type=\"application/json\" id=\"recording\">"))) {}

  const Json& run(std::size_t number) const { return json["runs"][number]; }

  template <class Number = float>
  std::vector<Number> numbers(std::size_t run, const Json& ref) const {
    const std::string tag =
        "<script type=\"text/plain\" id=\"numbers-" + std::to_string(run) + "\">";
    const std::string bytes = decoded(inside(text, tag));
    std::size_t count = 1;
    for (const Json& size : ref["shape"]) count *= size.get<std::size_t>();
    std::vector<Number> found(count);
    const std::size_t at = ref["at"].get<std::size_t>();
    REQUIRE(at % 4 == 0);
    REQUIRE(at + count * sizeof(Number) <= bytes.size());
    std::memcpy(found.data(), bytes.data() + at, count * sizeof(Number));
    return found;
  }
};

std::vector<float> floats(const Tensor& tensor) {
  std::vector<float> list;
  for (const real value : tensor.values()) list.push_back(static_cast<float>(value));
  return list;
}

Json shape_of(const Tensor& tensor) {
  Json shape = Json::array();
  for (const Index size : tensor.shape()) shape.push_back(size);
  return shape;
}

const Vocabulary vocabulary(split_words("a b c d e f"));

void write_model(const std::filesystem::path& path, const Transformer& model,
                 const Vocabulary& words = vocabulary) {
  Batch batch;
  batch.inputs = {{1, 2}, {5, 6}};
  batch.targets = {{1, 2}, {6, 7}};
  write_transformer(path, model, to_metadata(words, batch));
}

// A folder with the planted model as a checkpoint.
struct Bench {
  TemporaryFolder folder;
  Transformer model = planted_induction(vocabulary.size());

  Bench() { write_model(folder / "m.safetensors", model); }
  Result run(const std::string& arguments) const {
    return tapestry_in(folder / "", "explore " + arguments);
  }
  std::string problem(const std::string& arguments) const {
    const Result result = run(arguments);
    CHECK(result.status == 1);
    CHECK(result.out == "");
    CHECK(std::count(result.err.begin(), result.err.end(), '\n') == 1);
    CHECK(!std::filesystem::exists(folder / "o.html"));
    return result.err;
  }
};

// A small decoder with random weights.
Transformer small(const TransformerOptions& options) {
  Random random(3);
  return Transformer(options, random);
}

// The mean over the rows of a decoder of the sum over their keys of a term: of the weights, and of
// weights that are equal.
struct Sums {
  double seen = 0, even = 0;
};

// weights (heads, length, length); term(weight, distance).
template <class Term>
Sums over_rows(const Tensor& weights, Index head, Term term) {
  const Index length = weights.size(1);
  Sums sums;
  for (Index i = 0; i < length; ++i) {
    for (Index j = 0; j <= i; ++j) {
      const double w = weights.at({head, i, j});
      if (w > 0) sums.seen += term(w, i - j) / static_cast<double>(length);
      sums.even += term(1.0 / static_cast<double>(i + 1), i - j) / static_cast<double>(length);
    }
  }
  return sums;
}

}  // namespace

TEST_CASE("a page holds what the model computed, bit by bit", "[phase1][tools]") {
  const Bench bench;
  const Result said = bench.run("m.safetensors --text 'a b c a' --out o.html");
  CHECK(wrong(said) == "");
  CHECK(has(said.out, "wrote o.html ("));
  const Page page(bench.folder / "o.html");
  const Indices ids = vocabulary.encode("a b c a");
  const Capture seen;
  const Tensor logits = bench.model(ids, {}, {.need_weights = true});  // (4, words)

  CHECK(page.json["texts"][0]["words"] == Json({"a", "b", "c", "a"}));
  CHECK(page.json["texts"][0]["ids"] == Json(ids.values));
  CHECK(page.json["models"][0]["name"] == "m.safetensors");
  CHECK(page.json["models"][0]["causal"] == true);
  for (const std::string part : {"query", "key", "value"}) {
    for (std::size_t layer = 0; layer < 2; ++layer) {
      CAPTURE(part, layer);
      const Json& ref = page.run(0)["layers"][layer][part];
      const Tensor right =
          squeeze(seen["blocks." + std::to_string(layer) + ".attention." + part], 0);
      CHECK(ref["shape"] == shape_of(right));
      CHECK(page.numbers(0, ref) == floats(right));
    }
  }
  // Of a decoder's weights the lower triangle, row by row.
  const Json& layer = page.run(0)["layers"][1];
  const auto weights = page.numbers(0, layer["weights"]);
  const Tensor right = squeeze(seen["blocks.1.attention.weights"], 0);  // (heads, 4, 4)
  const Index heads = right.size(0);
  REQUIRE(weights.size() == static_cast<std::size_t>(heads * 10));
  for (Index head = 0; head < heads; ++head) {
    for (Index i = 0; i < 4; ++i) {
      for (Index j = 0; j <= i; ++j) {
        CHECK(weights[static_cast<std::size_t>(head * 10 + i * (i + 1) / 2 + j)] ==
              static_cast<float>(right.at({head, i, j})));
      }
    }
  }
  CHECK(layer["pooled"].is_null());
  CHECK(layer["bias"].is_null());
  CHECK(layer["entropy"].size() == static_cast<std::size_t>(heads));
  for (Index head = 0; head < heads; ++head) {
    CAPTURE(head);
    const std::size_t h = static_cast<std::size_t>(head);
    const Sums entropy = over_rows(right, head, [](double w, Index) { return -w * std::log(w); });
    const Sums distance = over_rows(right, head, [](double w, Index by) { return w * by; });
    CHECK(layer["entropy"][h] == Approx(entropy.seen).margin(1e-6));
    CHECK(layer["even_entropy"][h] == Approx(entropy.even).margin(1e-6));
    CHECK(layer["distance"][h] == Approx(distance.seen).margin(1e-6));
    CHECK(layer["even_distance"][h] == Approx(distance.even).margin(1e-6));
  }
}

TEST_CASE("a page holds what the model says, and would say after each layer", "[phase5][tools]") {
  const Bench bench;
  bench.run("m.safetensors --text 'a b c a' --out o.html");
  const Page page(bench.folder / "o.html");
  const Indices ids = vocabulary.encode("a b c a");
  const Tensor shares = [&] {  // (4, words)
    const Capture seen;        // it stores its weights, as explore has it do
    return softmax(bench.model(ids, {}, {.need_weights = true}));
  }();
  const Json& next = page.run(0)["next"];
  const auto words = page.numbers<std::int32_t>(0, next["words"]);
  const auto probabilities = page.numbers(0, next["probabilities"]);
  const auto actual = page.numbers(0, next["actual"]);
  const std::size_t count = next["words"]["shape"][1];
  CHECK(count == 10);
  CHECK(next["words"]["shape"][0] == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t k = 0; k < count; ++k) {
      const std::string word = page.json["words"][static_cast<std::size_t>(words[i * count + k])];
      CHECK(probabilities[i * count + k] ==
            static_cast<float>(shares.at({Index(i), vocabulary.id(word)})));
      if (k > 0) CHECK(probabilities[i * count + k] <= probabilities[i * count + k - 1]);
    }
  }
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(actual[i] == static_cast<float>(shares.at({Index(i), ids.values[i + 1]})));
  }
  CHECK(std::isnan(actual[3]));

  const Tensor lens = softmax(logit_lens(bench.model, ids));  // (3, 4, words)
  const auto said = page.numbers<std::int32_t>(0, page.run(0)["lens"]["words"]);
  const auto final = page.numbers(0, page.run(0)["lens"]["final"]);
  REQUIRE(final.size() == 12);
  for (std::size_t i = 0; i < 4; ++i) {
    const std::string last = page.json["words"][static_cast<std::size_t>(said[(2 * 4 + i) * 5])];
    for (std::size_t l = 0; l < 3; ++l) {
      const float right = static_cast<float>(lens.at({Index(l), Index(i), vocabulary.id(last)}));
      CHECK(std::abs(final[l * 4 + i] - right) < 1e-6F);
    }
  }
}

TEST_CASE("a page compares each head with models that learned nothing", "[phase3][tools]") {
  const Bench bench;
  bench.run("m.safetensors --text 'a b c d a b c d' --out o.html");
  const Page page(bench.folder / "o.html");
  REQUIRE(page.json["models"].size() == 2);
  CHECK(page.json["models"][1]["kind"] == "untrained");
  CHECK(page.json["models"][1]["of"] == 0);
  const Json& names = page.json["patterns"];
  REQUIRE(names.size() == all_patterns.size());
  const auto induction =
      static_cast<std::size_t>(std::find(names.begin(), names.end(), "induction") - names.begin());
  const Json& head = page.run(0)["layers"][1]["patterns"][0][induction];
  CHECK(head["score"] > 0.9);
  CHECK(head["untrained"][0] < 0.5);
  CHECK(head["uniform"] < 0.5);
  CHECK(page.run(0)["layers"][1]["named"][0] == "induction");
  // The untrained model's score is its own.
  const Json& untrained = page.run(1)["layers"][1];
  CHECK(untrained["patterns"][0][induction]["score"] < 0.5);
  CHECK(untrained["named"][0].is_null());
  CHECK(page.run(1)["model"] == 1);
}

TEST_CASE("a page holds several texts and several models", "[phase1][tools]") {
  const Bench bench;
  write_model(bench.folder / "other", small({.vocab_size = vocabulary.size(),
                                             .max_length = 9,
                                             .d_model = 8,
                                             .num_heads = 2,
                                             .num_layers = 1}));
  CHECK(wrong(bench.run("m.safetensors --text 'a b' --text 'c d e' --beside other --beside "
                        "untrained --out o.html")) == "");
  const Page page(bench.folder / "o.html");
  CHECK(page.json["models"].size() == 3);
  CHECK(page.json["models"][1]["name"] == "other");
  CHECK(page.json["models"][1]["of"] == 1);
  CHECK(page.json["texts"].size() == 2);
  CHECK(page.json["runs"].size() == 6);
  CHECK(page.run(3)["text"] == 1);
  CHECK(page.run(3)["layers"].size() == 1);

  CHECK(wrong(bench.run("m.safetensors --text 'a b' --beside none")) == "");
  CHECK(Page(bench.folder / "out/explorer/m.html").json["models"].size() == 1);
}

TEST_CASE("a page holds the states of a model while it was trained", "[phase5][tools]") {
  const Bench bench;
  REQUIRE(tapestry_in(bench.folder / "",
                      "train copy --steps 8 --batch 2 --width 8 --heads 2 "
                      "--snapshots 4 --checkpoint c.safetensors")
              .status == 0);
  CHECK(wrong(bench.run("c.safetensors --text 'a b =>' --out o.html")) == "");
  const Page page(bench.folder / "o.html");
  const Json& models = page.json["models"];
  REQUIRE(models.size() == 6);
  std::vector<Index> steps;
  for (std::size_t i = 2; i < 6; ++i) {
    CHECK(models[i]["kind"] == "snapshot");
    CHECK(models[i]["of"] == 0);
    steps.push_back(models[i]["step"]);
  }
  CHECK(steps.front() == 0);
  CHECK(steps.back() == 8);
  CHECK(std::is_sorted(steps.begin(), steps.end()));
  CHECK(models[0]["step"] == 8);
  // The last is the model itself, in 16 bits.
  const auto last = page.numbers(5, page.run(5)["layers"][0]["weights"]);
  const auto own = page.numbers(0, page.run(0)["layers"][0]["weights"]);
  REQUIRE(last.size() == own.size());
  for (std::size_t i = 0; i < own.size(); ++i) CHECK(std::abs(last[i] - own[i]) < 1e-2F);
  CHECK(page.numbers(2, page.run(2)["layers"][0]["weights"]) != own);
}

TEST_CASE("the same model and text make the same page, within its limits", "[phase1][tools]") {
  const Bench bench;
  bench.run("m.safetensors --text 'a b c a' --out o.html");
  const std::string once = content(bench.folder / "o.html");
  bench.run("m.safetensors --text 'a b c a' --out o.html");
  CHECK(content(bench.folder / "o.html") == once);

  std::string twenty;
  for (int i = 0; i < 20; ++i) twenty += std::string(1, "abcdef"[i % 6]) + " ";
  write_model(bench.folder / "w", small({.vocab_size = vocabulary.size(),
                                         .max_length = 20,
                                         .d_model = 64,
                                         .num_heads = 4,
                                         .num_layers = 2}));
  CHECK(wrong(bench.run("w --recorded --text '" + twenty + "' --out o.html")) == "");
  CHECK(content(bench.folder / "o.html").size() <= 300'000);
}

TEST_CASE("biases of distances are recorded, and scores follow from them", "[phase6][tools]") {
  const Bench bench;
  const Transformer model = small({.vocab_size = vocabulary.size(),
                                   .max_length = 9,
                                   .d_model = 8,
                                   .num_heads = 2,
                                   .num_layers = 1,
                                   .positions = Positions::alibi});
  write_model(bench.folder / "alibi", model);
  REQUIRE(wrong(bench.run("alibi --text 'a b c d' --out o.html")) == "");
  const Page page(bench.folder / "o.html");
  const Json& layer = page.run(0)["layers"][0];
  const auto q = page.numbers(0, layer["query"]), k = page.numbers(0, layer["key"]),
             bias = page.numbers(0, layer["bias"]);
  const double scale = page.json["models"][0]["attention"][0]["scale"];
  const Capture seen;
  model(vocabulary.encode("a b c d"), {}, {.need_weights = true});
  const Tensor scores = squeeze(seen["blocks.0.attention.scores"], 0);  // (2, 4, 4)
  for (std::size_t head = 0; head < 2; ++head) {
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        double score = 0;
        for (std::size_t d = 0; d < 4; ++d) {
          score += double{q[(head * 4 + i) * 4 + d]} * double{k[(head * 4 + j) * 4 + d]};
        }
        score = score * scale + double{bias[head * 7 + 3 + j - i]};
        CHECK(std::abs(score - double{scores.at({Index(head), Index(i), Index(j)})}) < 1e-5);
      }
    }
  }
}

TEST_CASE("a long text is recorded in bins", "[phase6][tools]") {
  const Bench bench;
  const Index length = 1000;
  const Transformer model = small({.vocab_size = vocabulary.size(),
                                   .max_length = length,
                                   .d_model = 8,
                                   .num_heads = 4,
                                   .num_layers = 2});
  write_model(bench.folder / "long", model);
  std::string text;
  for (Index i = 0; i < length; ++i) text += std::string(1, "abcdef"[(i * i + i / 7) % 6]) + " ";
  REQUIRE(wrong(bench.run("long --beside none --text '" + text + "' --out o.html")) == "");
  const Page page(bench.folder / "o.html");
  const Json& layer = page.run(0)["layers"][1];
  CHECK(layer["weights"].is_null());
  CHECK(layer["pooled"]["shape"] == Json({4, 64, 64}));
  const auto pooled = page.numbers(0, layer["pooled"]);
  for (std::size_t row = 0; row < 4 * 64; ++row) {
    double sum = 0;
    for (std::size_t bin = 0; bin < 64; ++bin) sum += double{pooled[row * 64 + bin]};
    CHECK(std::abs(sum - 1) < 1e-4);  // the mean of rows that sum to 1
  }
  const Capture seen;
  model(vocabulary.encode(text), {}, {.need_weights = true});
  const Tensor weights = squeeze(seen["blocks.1.attention.weights"], 0);  // (4, 1000, 1000)
  double cell = 0;  // of head 2, queries of bin 40 (625 to 639), keys of bin 3 (46 to 61)
  for (Index i = 625; i < 640; ++i) {
    for (Index j = 46; j < 62; ++j) cell += double{weights.at({2, i, j})} / 15;
  }
  CHECK(std::abs(cell - double{pooled[(2 * 64 + 40) * 64 + 3]}) < 1e-6);
}

TEST_CASE("a page shows a single head, an encoder and a folder, too", "[phase1][tools]") {
  const Bench bench;
  const TransformerOptions options{.vocab_size = vocabulary.size(),
                                   .max_length = 9,
                                   .d_model = 8,
                                   .num_heads = 2,
                                   .num_layers = 1,
                                   .is_causal = false};
  write_model(bench.folder / "encoder", small(options));
  CHECK(bench.run("encoder --text 'a b c' --out o.html").status == 0);
  const Page page(bench.folder / "o.html");
  CHECK(page.json["models"][0]["causal"] == false);
  CHECK(page.run(0)["layers"][0]["weights"]["shape"] == Json({2, 9}));

  write_llama2c(bench.folder / "");
  REQUIRE(tapestry_in(bench.folder / "", "convert m.bin f").status == 0);
  CHECK(wrong(bench.run("f/ --text 'abc' --out o.html")) == "");
  const Page folder(bench.folder / "o.html");
  CHECK(folder.json["models"][0]["name"] == "f");
  CHECK(folder.json["models"][0]["unit"] == "tokens");
  CHECK(folder.json["models"][0]["groups"].get<int>() <=
        folder.json["models"][0]["heads"].get<int>());
}

TEST_CASE("words and names are data in a page, never markup", "[phase1][tools]") {
  const Bench bench;
  const std::string hostile =
      "</script><img src=x onerror=alert(1)><!--\"'&\u05d0\U0001F600e\u0301";
  const Vocabulary letters = Vocabulary::of_characters(hostile);
  const std::string name = "<b>&\"x";
  write_model(bench.folder / name,
              small({.vocab_size = letters.size(),
                     .max_length = 99,
                     .d_model = 8,
                     .num_heads = 2,
                     .num_layers = 1}),
              letters);
  std::ofstream(bench.folder / "t") << hostile;
  CHECK(wrong(bench.run("'" + name + "' --text \"$(cat t)\" --out o.html")) == "");
  const Page page(bench.folder / "o.html");
  CHECK(page.json["texts"][0]["given"] == hostile);
  CHECK(page.json["models"][0]["name"] == name);
  const std::string data = inside(page.text, "id=\"recording\">");
  CHECK(data.find('<') == data.npos);
  CHECK(Json::parse(data) == page.json);  // no "</script>" ended it early
}

TEST_CASE("without a text explore takes one of the checkpoint's task", "[phase1][tools]") {
  const Bench bench;
  REQUIRE(tapestry_in(bench.folder / "",
                      "train grammar --steps 3 --batch 2 --width 8 --heads 2 "
                      "--checkpoint g")
              .status == 0);
  CHECK(wrong(bench.run("g --out g.html")) == "");
  const Json texts = Page(bench.folder / "g.html").json["texts"];
  CHECK(texts.size() == 1);
  CHECK(texts[0]["words"].size() >= 3);
  CHECK(has(bench.problem("m.safetensors --out o.html"), "give a text that the model reads"));
}

TEST_CASE("explore refuses what it cannot show in one line", "[phase1][tools]") {
  const Bench bench;
  const std::string to = " --out o.html";
  CHECK(has(bench.problem("m.safetensors --text 'a x'" + to), "'x'"));
  CHECK(has(bench.problem("m.safetensors --text ''" + to), "the text is empty"));
  CHECK(has(bench.problem("none --text a" + to), "none"));
  CHECK(has(bench.problem("m.safetensors --text a --beside nobody" + to), "nobody"));
  std::string many;
  for (int i = 0; i < 10000; ++i) many += "a ";
  CHECK(has(bench.problem("m.safetensors --text '" + many + "'" + to), "10000 words"));
  const std::string whole = content(bench.folder / "m.safetensors");
  std::ofstream(bench.folder / "cut") << whole.substr(0, whole.size() / 2);
  CHECK(has(bench.problem("cut --text a" + to), "cut"));
  std::filesystem::create_directory(bench.folder / "d");
  const Result folder = bench.run("m.safetensors --text a --out d");
  CHECK(folder.status == 1);
  CHECK(has(folder.err, "is a folder: name a file."));
  CHECK(all_in(bench.folder / "d").empty());
}
