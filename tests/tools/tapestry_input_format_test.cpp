// `tapestry` reads a model's texts as the model was fed, which its file tells.
#include <algorithm>

#include "catch.hpp"
#include "ops/expect.hpp"
#include "process.hpp"
#include "tapestry/attention.hpp"
#include "tapestry/io/transformer_file.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/text/corpus.hpp"
#include "tapestry/text/input_format.hpp"

using namespace tapestry;

namespace {

const Vocabulary characters = Vocabulary::of_characters("0123456789+="),
                 words(split_words("the cat sat"));

// A random model, written as a program of one's own would.
Transformer written(const std::filesystem::path& path, const Vocabulary& vocabulary, bool causal,
                    const Batch& batch) {
  Random random(7);
  Transformer model({.vocab_size = vocabulary.size(),
                     .max_length = 6,
                     .d_model = 8,
                     .num_heads = 2,
                     .num_layers = 1,
                     .is_causal = causal,
                     .initializer = init::lecun_normal},
                    random);
  write_transformer(path, model, to_metadata(vocabulary, batch));
  return model;
}

Batch next_characters() { return next_word_batch(characters, {split_characters("1+2=3")}); }

// The same file without what it says of its input, as files were before.
void forget_format(const std::filesystem::path& from, const std::filesystem::path& to) {
  Safetensors file = read_safetensors(from);
  file.metadata.erase("feeding.bos");
  file.metadata.erase("feeding.guess");
  write_safetensors(to, file.tensors, file.metadata);
}

Indices after_bos(Indices ids) {
  ids.values.insert(ids.values.begin(), Vocabulary::bos);
  ids.shape = {ids.shape[0] + 1};
  return ids;
}

// The likeliest id behind a text of at most as many ids as the model has positions.
std::int32_t likeliest(const Transformer& model, const Indices& ids) {
  const Tensor logits = model(ids);
  std::int32_t best = 0;
  for (std::int32_t id = 1; id < model.options.vocab_size; ++id) {
    if (logits.at({ids.shape[0] - 1, id}) > logits.at({ids.shape[0] - 1, best})) best = id;
  }
  return best;
}

// Twelve greedy characters behind a text; of what is too long the last ones are read, behind <bos>
// if `bos`.
std::string written_by(const Transformer& model, const std::string& begin, bool bos) {
  std::string text = begin;
  for (int i = 0; i < 12; ++i) {
    const auto most = static_cast<std::size_t>(model.options.max_length - (bos ? 1 : 0));
    const Indices last = characters.encode(text.substr(text.size() - std::min(most, text.size())));
    const std::int32_t id = likeliest(model, bos ? after_bos(last) : last);
    if (id == Vocabulary::eos) break;
    text += characters.word(id);
  }
  return text;
}

}  // namespace

TEST_CASE("a model of characters is read with <bos> if it was trained so", "[phase5][tools]") {
  const TemporaryFolder folder;
  Random random(1);
  const Batch windows = random_windows(characters.encode("1+2=3+4=7"), 2, 5, random);
  const Transformer model = written(folder / "with", characters, true, next_characters());
  written(folder / "without", characters, true, windows);

  const Result with = tapestry_in(folder / "", "analyze --checkpoint with --text '1+2='");
  CHECK(wrong(with) == "");
  CHECK(has(with.out, "text:  <bos>1+2=\n"));
  CHECK(has(unfolded(with.out), "decoder, input with <bos>,"));
  const std::int32_t next = likeliest(model, after_bos(characters.encode("1+2=")));
  CHECK(has(with.out, "\nnext: " + characters.word(next) + " 0."));
  const Result why =
      tapestry_in(folder / "", "why --checkpoint with --text 1+ --query + --key '<bos>'");
  CHECK(why.err == "");
  CHECK(has(why.out, "the attention of +@2 to <bos>@0"));
  // 2 is a character that the model knows, and not the place 2.
  CHECK(has(tapestry_in(folder / "", "why --checkpoint with --text 1+ --query 2 --key 1").err,
            "--query '2' is not in the text, which is: <bos>@0 1@1 +@2"));

  const Result without = tapestry_in(folder / "", "analyze --checkpoint without --text '1+2='");
  CHECK(wrong(without) == "");
  CHECK(has(without.out, "text:  1+2=\n"));
  CHECK(has(unfolded(without.out), "decoder, input without"));
}

TEST_CASE("a model that writes reads the last words it has positions for, behind <bos> if fed so",
          "[phase5][tools]") {
  const TemporaryFolder folder;
  Random random(1);
  const Batch windows = random_windows(characters.encode("1+2=3+4=7"), 2, 5, random);
  const Transformer model = written(folder / "with", characters, true, next_characters());
  written(folder / "without", characters, true, windows);
  for (const bool bos : {true, false}) {
    const Result said = tapestry_in(
        folder / "", std::string("generate --temperature 0 --length 12 --text 1+2= --checkpoint ") +
                         (bos ? "with" : "without"));
    CHECK(wrong(said) == "");
    CHECK(said.out == written_by(model, "1+2=", bos) + "\n");
  }
  CHECK(written_by(model, "1+2=", true) != written_by(model, "1+2=", false));
  CHECK(written_by(model, "1+2=", true).size() > 6);  // longer than the model has positions
}

namespace {

// Models that were fed in three ways: two encoders, and a decoder that says neither.
void write_three(const std::filesystem::path& folder) {
  Random random(1);
  const std::vector<Words> texts = {split_words("the cat sat")};
  written(folder / "next", words, false, next_word_batch(words, texts));
  written(folder / "hidden", words, false, masked_lm_batch(words, texts, random));
  Batch other = next_word_batch(words, texts);
  other.targets.values = {0, 1, 0, 1};
  written(folder / "other", words, true, other);
}

}  // namespace

TEST_CASE("a model is asked for what it has learned: the next word, hidden ones, or nothing",
          "[phase5][tools]") {
  const TemporaryFolder folder;
  write_three(folder / "");
  const auto said = [&](const std::string& name) {
    const Result result =
        tapestry_in(folder / "", "analyze --checkpoint " + name + " --text 'the <mask> sat'");
    CHECK(wrong(result) == "");
    return result.out;
  };
  const std::string next = said("next"), hidden = said("hidden"), other = said("other");
  CHECK(has(next, "text:  <bos> the <mask> sat\n"));
  CHECK(has(next, "\nnext: "));
  CHECK_FALSE(has(next, "\n<mask>@2: "));
  CHECK(has(hidden, "text:  the <mask> sat\n"));
  CHECK(has(hidden, "\n<mask>@1: "));
  CHECK_FALSE(has(hidden, "\nnext: "));
  CHECK_FALSE(has(other, "\n<mask>@2: "));
  CHECK_FALSE(has(other, "\nnext: "));
}

TEST_CASE("a model that cannot generate names the command to use", "[phase5][tools]") {
  const TemporaryFolder folder;
  write_three(folder / "");
  std::filesystem::rename(folder / "hidden", folder / "it's");
  const auto refusal = [&](const std::string& name) {
    return tapestry_in(folder / "", "generate --checkpoint " + name).err;
  };
  CHECK(has(refusal("next"), "is an encoder: it sees all words"));
  CHECK(has(refusal("next"), "tapestry analyze --checkpoint next --text sat\n"));
  CHECK(has(refusal("\"it's\""), "tapestry analyze --checkpoint 'it'\\''s' --text '<mask>'\n"));
  CHECK(has(refusal("other"), "was not trained to predict the next word"));
}

TEST_CASE("a file without the input format is read in the default one, with a warning",
          "[phase5][tools]") {
  const TemporaryFolder folder;
  written(folder / "a", characters, true, next_characters());
  written(folder / "b", words, true, next_word_batch(words, {{}}));
  written(folder / "c", words, false, next_word_batch(words, {{}}));
  for (const std::string name : {"a", "b", "c"}) {
    forget_format(folder / name, folder / ("old_" + name));
  }
  const auto old = [&](const char* name, const char* text) {
    Result result = tapestry_in(
        folder / "", std::string("analyze --checkpoint old_") + name + " --text '" + text + "'");
    CHECK(result.status == 0);
    CHECK(result.err == std::string("tapestry: old_") + name +
                            " lacks the format of the model's input; texts are read " +
                            (*name == 'b' ? "with" : "without") + " <bos> before them.\n");
    return result.out;
  };
  CHECK(has(old("a", "1+2"), "text:  1+2\n"));
  CHECK(has(old("b", "the cat"), "text:  <bos> the cat\n"));
  CHECK(has(old("c", "the <mask>"), "text:  the <mask>\n"));
  CHECK(has(old("c", "the <mask>"), "\n<mask>@1: "));
}

TEST_CASE("a file that says nonsense of its input, or names no words, is refused",
          "[phase5][tools]") {
  const TemporaryFolder folder;
  const Transformer model = written(folder / "b", words, true, next_word_batch(words, {{}}));
  Safetensors file = read_safetensors(folder / "b");
  file.metadata["feeding.bos"] = "\x1b[31m";
  write_safetensors(folder / "bad", file.tensors, file.metadata);
  const Result bad = tapestry_in(folder / "", "analyze --checkpoint bad --text the");
  CHECK(bad.status == 1);
  CHECK(bad.err ==
        "tapestry: bad: the file's entry 'feeding.bos' is '?[31m', but must be true or false.\n");
  write_transformer(folder / "wordless", model);
  CHECK(has(tapestry_in(folder / "", "generate --checkpoint wordless").err,
            "wordless: the file names no words."));
}

namespace {

// A single head as step 14 writes it, of d_k 4 and d_v 2, with its words.
Parameters single_head() {
  Random random(3);
  return {
      {"words", random.normal({words.size(), 6})},  {"positions", random.normal({5, 6})},
      {"head.query.weight", random.normal({6, 4})}, {"head.key.weight", random.normal({6, 4})},
      {"head.value.weight", random.normal({6, 2})}, {"head.output.weight", random.normal({2, 6})},
      {"guess", random.normal({6, words.size()})}};
}

std::map<std::string, std::string> hidden_words() {
  Random random(1);
  return to_metadata(words, masked_lm_batch(words, {split_words("the cat sat")}, random));
}

}  // namespace

TEST_CASE("the single head of step 14 is looked into like any model", "[phase1][tools]") {
  const TemporaryFolder folder;
  const Parameters head = single_head();
  write_safetensors(folder / "m", head, hidden_words());
  const auto part = [&](std::size_t i) { return head[i].value; };
  const Tensor x = embedding(part(0), words.encode("the <mask> sat")) + slice(part(1), 0, 0, 3);
  const Attention made = attention(matmul(x, part(2)), matmul(x, part(3)), matmul(x, part(4)));
  const Tensor shares = softmax(matmul(matmul(made.output, part(5)), part(6)));

  const std::string text = " --checkpoint m --text 'the <mask> sat'";
  const Result why = tapestry_in(folder / "", "why --query sat --key the" + text);
  CHECK(wrong(why) == "");
  const std::string weight = four_digits(double{made.weights.at({2, 0})});
  CHECK(has(why.out, "The weight of sat@2 on the@0 is " + weight + "."));
  CHECK(has(why.out, "which are a part of the prediction at sat"));

  const Result seen = tapestry_in(folder / "", "analyze --out o" + text);
  CHECK(wrong(seen) == "");
  CHECK(has(seen.out, "a single head, width 6, vocabulary of 8 words, encoder, input without"));
  Index best = 0;
  for (Index id = 1; id < words.size(); ++id) {
    if (shares.at({1, id}) > shares.at({1, best})) best = id;
  }
  char guess[64];
  std::snprintf(guess, sizeof guess, "\n<mask>@1: %s %.2f, ",
                words.word(std::int32_t(best)).c_str(), double{shares.at({1, best})});
  CHECK(has(seen.out, guess));
  CHECK(is_picture(folder / "o/analyze_heatmap.png"));
}

TEST_CASE("a single head is refused what it cannot do", "[phase1][tools]") {
  const TemporaryFolder folder;
  write_safetensors(folder / "m", single_head(), hidden_words());
  CHECK(has(tapestry_in(folder / "", "generate --checkpoint m").err, "is an encoder"));
  CHECK(has(tapestry_in(folder / "", "analyze --checkpoint m --text 'the the the the the the'").err,
            "has 6 words, but at most 5 can be read"));
  CHECK(
      has(tapestry_in(folder / "", "why --checkpoint m --text the --layer 1 --query 0 --key 0").err,
          "no layer 1"));
}

TEST_CASE("a single head whose tensors do not fit together is refused in one line",
          "[phase1][tools]") {
  const TemporaryFolder folder;
  for (std::size_t i = 0; i < single_head().size(); ++i) {
    Parameters head = single_head();
    const std::string name = head[i].name;
    CAPTURE(name);
    head[i].value = Tensor::zeros({3, 7});
    write_safetensors(folder / "m", head, hidden_words());
    const Result other = tapestry_in(folder / "", "analyze --checkpoint m --text the");
    CHECK(other.status == 1);
    CHECK(has(other.err, "which does not fit the others of a single head."));
    head[i].value = Tensor::zeros({3});
    write_safetensors(folder / "m", head, hidden_words());
    CHECK(has(tapestry_in(folder / "", "analyze --checkpoint m --text the").err,
              "its tensor '" + name + "' is (3), which does not fit"));
    head.erase(head.begin() + std::ptrdiff_t(i));
    write_safetensors(folder / "m", head, hidden_words());
    const Result missing = tapestry_in(folder / "", "analyze --checkpoint m --text the");
    CHECK(missing.status == 1);
    CHECK(has(missing.err, name == "head.query.weight" ? "holds no transformer" : name));
  }
}
