// The explorer's engine: texts that a model writes, against the library's generation.
#include "engine_bench.hpp"
#include "small_folder.hpp"
#include "tapestry/generation.hpp"
#include "tapestry/models/model_folder.hpp"
#include "tapestry/text/tokenizer.hpp"

using namespace tapestry;

namespace {

// The words of the steps that `more` made.
Words words_in(const Json& steps) {
  Words words;
  for (const Json& step : steps) words.push_back(step["word"]);
  return words;
}

// What the library writes after a prompt.
Words written(const EngineBench& bench, const Transformer& model, const char* prompt,
              const GenerationOptions& options, std::uint64_t seed) {
  const Indices ids = bench.ids(prompt);
  Random random(seed);
  const Indices all =
      generate(next_logits_of(model, model.options.max_length), ids, random, options);
  Words words;
  for (std::size_t i = ids.values.size(); i < all.values.size(); ++i) {
    words.push_back(bench.vocabulary.word(all.values[i]));
  }
  return words;
}

bool is_near(const Json& value, real right) {
  return std::abs(value.get<double>() - double{right}) < 2e-6;
}

}  // namespace

TEST_CASE("the engine's greedy text is the library's", "[tools][engine]") {
  EngineBench bench;
  CHECK(bench.ask("{'call': 'write', 'model': 'planted', 'text': 'a b c d e f a b', 'temperature': "
                  "0}")["length"] == 20);
  const std::string more = "{'call': 'more', 'model': 'planted', 'count': ";
  Json steps = bench.ask(more + "4}")["steps"];
  CHECK(words_in(steps) == split_words("c d e f"));
  CHECK(steps[0]["text"] == " c");
  CHECK(steps[0]["drawn"] == 1.0);
  // In pieces, and beyond the positions of the model.
  bench.ask("{'call': 'write', 'model': 'decoder', 'text': 'a b c', 'temperature': 0}");
  Words all;
  for (const char* count : {"1", "6", "0", "5"}) {
    const Json said =
        bench.ask("{'call': 'more', 'model': 'decoder', 'count': " + std::string(count) + "}");
    for (const std::string& word : words_in(said["steps"])) all.push_back(word);
  }
  const Words right = written(bench, bench.decoder, "a b c",
                              {.sampling = greedy, .max_new_tokens = std::ssize(all)}, 1);
  CHECK(all == right);
  CHECK((all.size() == 12 || all.back() == "<eos>"));
}

TEST_CASE("the engine draws what the library draws from the same seed", "[tools][engine]") {
  EngineBench bench;
  const SamplingOptions sampling{.temperature = 1.5, .top_k = 7, .top_p = 0.95};
  const std::string how = "'temperature': 1.5, 'top_k': 7, 'top_p': 0.95";
  for (const char* seed : {"3", "4"}) {
    bench.ask(
        "{'call': 'write', 'model': 'decoder', 'text': 'a b c', 'repetition_penalty': 1.3, "
        "'seed': " +
        std::string(seed) + ", " + how + "}");
    const Json said = bench.ask("{'call': 'more', 'model': 'decoder', 'count': 5}");
    const GenerationOptions options{.sampling = sampling,
                                    .max_new_tokens = std::ssize(said["steps"]),
                                    .repetition_penalty = 1.3};
    CHECK(words_in(said["steps"]) ==
          written(bench, bench.decoder, "a b c", options, std::stoull(seed)));
    CHECK((said["steps"].size() == 5 || said["ended"] == true));
  }
  // The seed is 1 if none is given, and the temperature may change on the way.
  bench.ask("{'call': 'write', 'model': 'decoder', 'text': 'd e', 'temperature': 3}");
  const Json one = bench.ask("{'call': 'more', 'model': 'decoder'}");
  CHECK(words_in(one["steps"]) == written(bench, bench.decoder, "d e",
                                          {.sampling = {.temperature = 3}, .max_new_tokens = 1},
                                          1));
  const Json cold = bench.ask("{'call': 'more', 'model': 'decoder', 'temperature': 0}");
  if (one["ended"] == false) CHECK(cold["steps"][0]["drawn"] == 1.0);
}

TEST_CASE("the engine shows what may follow, and the text stays", "[tools][engine]") {
  EngineBench bench;
  bench.ask("{'call': 'write', 'model': 'decoder', 'text': 'a b c', 'repetition_penalty': 2}");
  const std::string next = "{'call': 'next', 'model': 'decoder', 'temperature': 0.5, 'top_k': 3}";
  const Json said = bench.ask(next)["words"];
  const Indices ids = bench.ids("a b c");
  const Tensor logits = next_logits_of(bench.decoder, 8)(ids);  // (vocabulary)
  const Tensor own = sampling_probabilities(logits);
  const Tensor drawn =
      sampling_probabilities(without_repetition(logits, ids, 2), {.temperature = 0.5, .top_k = 3});
  REQUIRE(said.size() == 10);  // of eleven words
  for (std::size_t i = 0; i < said.size(); ++i) {
    const std::int32_t id = bench.vocabulary.id(said[i]["word"].get<std::string>());
    CHECK(is_near(said[i]["own"], own.at({id})));
    CHECK(is_near(said[i]["drawn"], drawn.at({id})));
    CHECK((i == 0 || said[i]["own"] <= said[i - 1]["own"]));
  }
  CHECK(said[0]["own"] == double{*std::max_element(own.data(), own.data() + own.numel())});
  CHECK(bench.ask(next)["words"] == said);
  const Json more =
      bench.ask("{'call': 'more', 'model': 'decoder', 'temperature': 0.5, 'top_k': 3}");
  CHECK(more["words"] == said);
  const Json step = more["steps"][0];
  const std::int32_t id = bench.vocabulary.id(step["word"].get<std::string>());
  CHECK(is_near(step["own"], own.at({id})));
  CHECK(is_near(step["drawn"], drawn.at({id})));
}

TEST_CASE("a text of the engine ends where the model ends it", "[tools][engine]") {
  EngineBench bench;
  bench.ask("{'call': 'write', 'model': 'planted', 'text': 'a b <eos> c a', 'temperature': 0}");
  const Json said = bench.ask("{'call': 'more', 'model': 'planted', 'count': 9}");
  CHECK(words_in(said["steps"]) == Words{"b", "<eos>"});
  CHECK(said["steps"][1]["text"] == "");
  CHECK(said["ended"] == true);
  const Json after = bench.ask("{'call': 'more', 'model': 'planted', 'count': 9}");
  CHECK(after["steps"].empty());
  CHECK(after["ended"] == true);
  // A new text has not ended; what is shown first has no blank before it.
  bench.ask("{'call': 'write', 'model': 'planted', 'text': '<bos> a <bos>', 'temperature': 0}");
  const Json anew = bench.ask("{'call': 'more', 'model': 'planted'}");
  CHECK(anew["ended"] == false);
  CHECK(anew["steps"][0]["text"] == " a");
  bench.ask("{'call': 'write', 'model': 'planted', 'text': '<bos>', 'temperature': 0}");
  const Json first = bench.ask("{'call': 'more', 'model': 'planted', 'count': 3}")["steps"];
  std::string text;
  for (const Json& step : first) text += step["text"].get<std::string>();
  CHECK((text.empty() || text.front() != ' '));
}

TEST_CASE("the engine writes with the model of a folder", "[tools][engine]") {
  EngineBench bench;
  const std::filesystem::path folder = small_desk() / "m";
  bench.ask("{'call': 'open', 'model': 'm', 'folder': '" + folder.string() + "'}");
  const Json length = bench.ask("{'call': 'write', 'model': 'm', 'text': 'ab', 'temperature': 0}");
  const Json said = bench.ask("{'call': 'more', 'model': 'm', 'count': 6}");
  const Transformer model = read_model(folder);
  const Tokenizer tokenizer = read_tokenizer(folder);
  const Indices prompt = tokenizer.encode("ab");
  CHECK(length["length"] == 32 - prompt.shape[0]);
  Random random(1);
  const Indices all = generate(next_logits_of(model, 32), prompt, random,
                               {.sampling = greedy, .max_new_tokens = std::ssize(said["steps"])});
  std::string right, text;
  for (std::size_t i = prompt.values.size(); i < all.values.size(); ++i) {
    right += tokenizer.bytes_of(all.values[i]);
  }
  for (const Json& step : said["steps"]) text += step["text"].get<std::string>();
  REQUIRE(said["steps"].size() == 6);
  CHECK(text == right);
}

TEST_CASE("texts that the engine cannot write are refused", "[tools][engine]") {
  EngineBench bench;
  CHECK(bench.problem("{'call': 'next', 'model': 'decoder'}") == "no text was begun.");
  CHECK(bench.problem("{'call': 'more', 'model': 'decoder'}") == "no text was begun.");
  CHECK(has(bench.problem("{'call': 'write', 'model': 'encoder', 'text': 'a'}"), "encoder"));
  CHECK(has(bench.problem("{'call': 'write', 'model': 'decoder', 'text': 'a z'}"), "'z'"));
  CHECK(bench.problem("{'call': 'write', 'model': 'none', 'text': 'a'}") ==
        "the engine has no model \"none\".");
  CHECK(bench.problem("{'call': 'write', 'model': 'decoder', 'text': 'a', 'top_k': 2.5}") ==
        "the engine wants a whole number as 'top_k'.");
  // The text that was begun before stays.
  bench.ask("{'call': 'write', 'model': 'planted', 'text': 'a b c a', 'temperature': 0}");
  bench.problem("{'call': 'write', 'model': 'planted', 'text': 'z'}");
  CHECK(
      has(bench.problem("{'call': 'next', 'model': 'planted', 'temperature': -1}"), "temperature"));
  CHECK(has(bench.problem("{'call': 'next', 'model': 'planted', 'top_p': 0}"), "top_p"));
  bench.problem("{'call': 'more', 'model': 'planted', 'count': -1}");
  bench.problem("{'call': 'more', 'model': 'none'}");
  CHECK(words_in(bench.ask("{'call': 'more', 'model': 'planted'}")["steps"]) == Words{"b"});
}
