#include "token_lesson.hpp"

#include <algorithm>
#include <cmath>

#include "screen.hpp"
#include "tapestry/error.hpp"
#include "tapestry/generation.hpp"
#include "tapestry/models/architecture.hpp"
#include "tapestry/models/model_folder.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/text/corpus.hpp"
#include "tapestry/text/text_stream.hpp"
#include "tapestry/unicode.hpp"
#include "token_text.hpp"
#include "train_adapters.hpp"

namespace tapestry::command {
namespace {

// Rotary positions, RMS norms and gates, as Llama has them.
TransformerOptions new_options(const TrainOptions& o, Index words) {
  const Index heads = o.heads.value_or(4), width = o.width.value_or(64);
  if (width % (2 * heads) != 0) {
    throw Error("--width " + std::to_string(width) + " must be an even multiple of --heads " +
                std::to_string(heads) + ".");
  }
  TransformerOptions options{.vocab_size = words,
                             .max_length = o.length.value_or(128),
                             .d_model = width,
                             .num_heads = heads,
                             .num_layers = o.layers.value_or(2),
                             .d_ff = (8 * width / 3 + 7) / 8 * 8};
  options.positions = Positions::rotary;
  options.norm_kind = NormKind::rms;
  options.activation = Activation::silu;
  options.gated = true;
  options.feed_forward_bias = false;
  options.tied_logits = true;
  return options;
}

// ids (n) of the text, in two parts.
void set_text(Lesson& lesson, const std::string& text, const Path& file) {
  const SplitText parts = split_text(lesson.tokenizer.encode(text, false));
  lesson.train = parts.train;
  lesson.held_out = parts.held_out;
  lesson.held_out_bytes =
      static_cast<double>(lesson.tokenizer.decode(parts.held_out.values).size());
  for (const Indices* ids : {&lesson.train, &lesson.held_out}) {
    if (ids->shape[0] > lesson.length + 1) continue;
    throw Error(in_quotes(file.string()) + " has too few tokens for pieces of " +
                std::to_string(lesson.length) + ": give a longer text, or a smaller --length.");
  }
  check_belongs(lesson.tokenizer, lesson.train, lesson.model.options.vocab_size);
}

Lesson new_lesson(const TrainOptions& o, const std::string& text) {
  const std::string_view learned(text.data(), text.size() / 10 * 9);  // nothing of what is held out
  std::vector<BytePair> merges = learn_byte_pairs(learned, *o.merges);
  Tokenizer tokenizer = byte_pair_tokenizer(merges);
  Random random(static_cast<std::uint64_t>(o.seed.value_or(1)));
  Transformer model(new_options(o, tokenizer.size()), random);
  const Index length = model.options.max_length;
  return {std::move(tokenizer), std::move(merges), "llama", std::move(model), length, {}, {}, 0};
}

Lesson continued_lesson(const TrainOptions& o) {
  const ModelConfig config = read_config(o.model);
  Tokenizer tokenizer = read_tokenizer(o.model);
  Transformer model = read_model(o.model);
  if (!model.options.is_causal || !model.options.has_logits) {
    throw Error(o.model.string() + ": only a decoder learns to predict the next token.");
  }
  adapt(model, o);
  const Index length = o.length.value_or(std::min<Index>(128, model.options.max_length));
  if (length > model.options.max_length) {
    throw Error("--length " + std::to_string(length) + ": the model has " +
                std::to_string(model.options.max_length) + " positions.");
  }
  return {std::move(tokenizer), {}, config.architecture, std::move(model), length, {}, {}, 0};
}

}  // namespace

Lesson make_lesson(const TrainOptions& o) {
  const std::string text = read_text(o.task);
  Lesson lesson = o.model.empty() ? new_lesson(o, text) : continued_lesson(o);
  set_text(lesson, text, o.task);
  return lesson;
}

double held_out_loss(const Lesson& lesson) {
  constexpr Index most = 64;
  const Index pieces =
      std::min(most, (lesson.held_out.shape[0] - 1) / lesson.length);  // without overlap
  double sum = 0;
  for (Index i = 0; i < pieces; ++i) {
    const auto begin = lesson.held_out.values.begin() + i * lesson.length;
    const Indices inputs({lesson.length}, {begin, begin + lesson.length});
    const Indices targets({lesson.length}, {begin + 1, begin + lesson.length + 1});
    sum += double{cross_entropy(lesson.model(inputs), targets).item()};
  }
  return sum / static_cast<double>(pieces);
}

double bits_per_byte(const Lesson& lesson, double loss) {
  const double tokens = static_cast<double>(lesson.held_out.shape[0]);
  return loss / std::log(2.0) * tokens / lesson.held_out_bytes;
}

std::string sample_of(const Lesson& lesson, Index step) {
  constexpr Index shown = 24, prompt_length = 4;
  Random random(7, static_cast<std::uint64_t>(step));
  const Indices prompt({prompt_length}, {lesson.held_out.values.begin(),
                                         lesson.held_out.values.begin() + prompt_length});
  const Indices ids = generate(next_logits_of(lesson.model, lesson.length), prompt, random,
                               {.sampling = {.temperature = 0.8}, .max_new_tokens = shown});
  TextStream stream;
  std::string text = stream.add(lesson.tokenizer.decode(ids.values));
  text += stream.finish();  // behind add(), which a + does not promise
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos;) {
    text.replace(at, 1, "↵");
  }
  return printable(text);
}

}  // namespace tapestry::command
