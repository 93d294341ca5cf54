#include "course/hidden_links.hpp"

#include "course/grammar.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/ops.hpp"

namespace tapestry {
namespace {

constexpr Index length = 6;

}  // namespace

std::vector<Words> sentences_of_form(bool has_object, std::size_t count) {
  Random random(123);
  std::vector<Words> texts;
  while (texts.size() < count) {
    const Sentence sentence = Grammar().sentence(random);
    const bool has_one = sentence.links[2].role == Role::verb_object;
    if (has_one == has_object) texts.push_back(sentence.words);
  }
  return texts;
}

Batch hide_word(const Vocabulary& vocabulary, const HiddenLink& link) {
  const std::vector<Words> texts = sentences_of_form(link.has_object, 2000);
  Indices ids = vocabulary.batch(texts);                                         // (rows, length)
  Indices targets(ids.shape, std::vector<std::int32_t>(ids.values.size(), -1));  // (rows, length)
  for (auto at = static_cast<std::size_t>(link.hidden); at < ids.values.size(); at += length) {
    targets.values[at] = ids.values[at];
    ids.values[at] = Vocabulary::mask;
  }
  return {ids, targets, std::vector<Index>(texts.size(), length)};
}

Batch with_other_form(const Batch& form, const Batch& other) {
  const Index rows = 2 * form.inputs.shape[0];
  std::vector<std::int32_t> ids, targets;
  for (Index at = 0; at < rows * length; ++at) {
    const bool is_own = at / length % 2 == 0;
    const auto from = static_cast<std::size_t>(at / length / 2 * length + at % length);
    ids.push_back((is_own ? form : other).inputs.values[from]);
    targets.push_back(is_own ? form.targets.values[from] : -1);
  }
  const std::vector<Index> lengths(static_cast<std::size_t>(rows), length);
  return {{{rows, length}, ids}, {{rows, length}, targets}, lengths};
}

double loss_without_link(const Transformer& model, const Batch& batch, const HiddenLink& link,
                         const CutIn& cut) {
  std::vector<Mask> masks;
  for (const bool is_cut : cut) {
    Tensor keep = Tensor::ones({length, length});  // (length, length)
    if (is_cut) keep.set({link.hidden, link.linked}, 0);
    masks.push_back(Mask::from(MaskEncoding::zero_one, keep));
  }
  const Tensor logits = model(batch.inputs, Mask::per_head(masks));  // (rows, length, vocabulary)
  return double{cross_entropy(logits, batch.targets).item()};
}

Indices with_swapped(const Indices& ids, Index position) {
  Indices result = ids;  // (rows, length)
  for (auto at = static_cast<std::size_t>(position); at < ids.values.size(); at += length) {
    result.values[at] = ids.values[(at + length) % ids.values.size()];
  }
  return result;
}

double loss_with_swap(const Transformer& model, const Batch& batch, const HiddenLink& link,
                      const CutIn& swapped) {
  const Indices ids = with_swapped(batch.inputs, link.linked);  // (rows, length)
  Tensor of_swapped = Tensor::zeros({4, 1, 1});                 // (heads, 1, 1)
  for (Index h = 0; h < 4; ++h) of_swapped.set({h, 0, 0}, swapped[static_cast<std::size_t>(h)]);
  Capture heads;
  model(ids);
  const Tensor other = heads["blocks.0.attention.heads"];  // (rows, heads, length, d_v)
  heads.replace("blocks.0.attention.heads", [&](const Tensor& own) {
    return own * (1.0 - of_swapped) + other * of_swapped;  // (rows, heads, length, d_v)
  });
  return double{cross_entropy(model(batch.inputs), batch.targets).item()};
}

double loss_without_heads(const Transformer& model, const Batch& batch, const CutIn& cut,
                          Replacement by) {
  std::vector<HeadOf> heads;
  for (std::size_t h = 0; h < cut.size(); ++h) {
    if (cut[h]) heads.push_back({0, static_cast<Index>(h)});
  }
  return -said_without(model, batch, heads, by).log_probability;
}

std::vector<double> weights_on_link(const Transformer& model, const Batch& batch,
                                    const HiddenLink& link) {
  const Tensor map = mean(weights_of(model, batch.inputs).at(0), 0);  // (heads, length, length)
  std::vector<double> result;
  for (Index h = 0; h < map.size(0); ++h) {
    result.push_back(double{map.at({h, link.hidden, link.linked})});
  }
  return result;
}

}  // namespace tapestry
