#include "tapestry/analysis/cuts.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "analysis/part.hpp"
#include "analysis/reading.hpp"
#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"
#include "tensor/raw.hpp"

namespace tapestry {
namespace {

using Parts = std::vector<ModelPart>;

// By how much the answer falls without each of these sets of parts: (sets).
Tensor falls_without(const Reading& reading, const std::vector<Parts>& sets) {
  std::vector<TextVariant> variants;
  for (const Parts& parts : sets) variants.push_back(without(reading, parts));
  const Tensor falls = Tensor::empty({static_cast<Index>(sets.size())});  // (sets)
  real* next = raw(falls);
  for (const double answer : reading.answers(variants)) {
    *next++ = static_cast<real>(reading.answer - answer);
  }
  return falls;
}

// Each part of a kind alone: (parts).
Tensor each_alone(const Reading& reading, PartKind kind) {
  std::vector<Parts> sets;
  for (Index i = 0; i < count_of(reading, kind); ++i) sets.push_back({part_of(reading, kind, i)});
  return falls_without(reading, sets);
}

Tensor heads_of(const Reading& reading) {
  const TransformerOptions& o = reading.model.options;
  return reshape(each_alone(reading, PartKind::head), {o.num_layers, o.num_heads});
}

Tensor layers_of(const Reading& reading) {
  const Tensor attention = each_alone(reading, PartKind::attention);  // (layers)
  const Tensor feed_forward = reading.model.options.has_feed_forward
                                  ? each_alone(reading, PartKind::feed_forward)
                                  : Tensor::zeros(attention.shape());  // (layers)
  return stack({attention, feed_forward}, -1);                         // (layers, 2)
}

const char* name_of(PartKind kind) {
  switch (kind) {
    case PartKind::attention:
      return "attention layers";
    case PartKind::feed_forward:
      return "feed-forward layers";
    case PartKind::link:
      return "links";
    case PartKind::position:
      return "positions";
    case PartKind::head:
      break;
  }
  return "heads";
}

bool among(const Parts& parts, const ModelPart& part) {
  return std::find(parts.begin(), parts.end(), part) != parts.end();
}

// Draws parts of the same kinds as those given, but none of these.
class Others {
 public:
  Others(const Reading& reading, const Parts& parts) : reading_(reading), parts_(parts) {
    for (const ModelPart& part : parts) ++wanted_[part.kind];
    for (const auto& [kind, wanted] : wanted_) check(kind, wanted);
  }

  Parts draw(Random& random) const {
    Parts drawn;
    for (const auto& [kind, wanted] : wanted_) {
      for (Index i = 0; i < wanted; ++i) drawn.push_back(draw_one(kind, drawn, random));
    }
    return drawn;
  }

 private:
  bool may_be_drawn(const ModelPart& part) const {
    return can_matter(reading_, part) && !among(parts_, part);
  }

  void check(PartKind kind, Index wanted) const {
    Index there_are = 0;
    for (Index i = 0; i < count_of(reading_, kind); ++i) {
      there_are += may_be_drawn(part_of(reading_, kind, i)) ? 1 : 0;
      if (there_are >= wanted) return;
    }
    throw Error("cut_at_random: " + std::to_string(wanted) + " other " + name_of(kind) +
                " are to be drawn, but there are only " + std::to_string(there_are) +
                " that can matter: cut fewer.");
  }

  ModelPart draw_one(PartKind kind, const Parts& drawn, Random& random) const {
    while (true) {
      const ModelPart part = part_of(reading_, kind, random.randint(count_of(reading_, kind)));
      if (may_be_drawn(part) && !among(drawn, part)) return part;
    }
  }

  const Reading& reading_;
  const Parts& parts_;
  std::map<PartKind, Index> wanted_;
};

}  // namespace

double cut(const Transformer& model, const Indices& ids, const Question& question,
           std::span<const ModelPart> parts) {
  const Reading reading("cut", model, ids, question);
  return reading.answer - reading.answers({without(reading, parts)}).front();
}

Tensor cut_heads(const Transformer& model, const Indices& ids, const Question& question) {
  return heads_of(Reading("cut_heads", model, ids, question));
}

Tensor cut_layers(const Transformer& model, const Indices& ids, const Question& question) {
  return layers_of(Reading("cut_layers", model, ids, question));
}

Tensor cut_positions(const Transformer& model, const Indices& ids, const Question& question) {
  return each_alone(Reading("cut_positions", model, ids, question), PartKind::position);
}

PartFalls cut_each(const Transformer& model, const Indices& ids, const Question& question) {
  const Reading reading("cut_each", model, ids, question);
  return {heads_of(reading), layers_of(reading), each_alone(reading, PartKind::position)};
}

RandomCuts cut_at_random(const Transformer& model, const Indices& ids, const Question& question,
                         std::span<const ModelPart> parts, Index draws, Random& random) {
  const Reading reading("cut_at_random", model, ids, question);
  if (draws < 1) {
    throw Error("cut_at_random: draws is " + std::to_string(draws) + ", but must be at least 1.");
  }
  if (parts.empty()) throw Error("cut_at_random: no parts are given: there is nothing to compare.");
  Parts own;  // each once
  for (const ModelPart& part : parts) {
    if (!among(own, part)) own.push_back(part);
  }
  std::vector<Parts> sets{own};
  (void)without(reading, own);  // they are there
  const Others others(reading, own);
  for (Index i = 0; i < draws; ++i) sets.push_back(others.draw(random));
  const Tensor all = falls_without(reading, sets);  // (1 + draws)
  RandomCuts result;
  result.fall = double{all.at({0})};
  result.falls = slice(all, 0, 1, draws + 1).contiguous();  // (draws)
  result.spread = spread(result.falls);
  for (const real other : result.falls.values()) {
    const double far = result.fall < 0 ? -double{other} : double{other};
    if (far >= std::abs(result.fall)) ++result.as_far;
  }
  return result;
}

}  // namespace tapestry
