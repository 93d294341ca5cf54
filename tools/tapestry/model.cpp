#include "model.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tapestry/capture.hpp"
#include "tapestry/error.hpp"
#include "tapestry/io/adapter_file.hpp"
#include "tapestry/io/transformer_file.hpp"
#include "tapestry/models/model_folder.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/unicode.hpp"

namespace tapestry::command {
namespace {

Tensor matrix(const Safetensors& file, const char* name, Index rows, Index columns) {
  const Tensor found = file[name];
  const bool fits = found.ndim() == 2 && found.numel() > 0 && (rows < 0 || found.size(0) == rows) &&
                    (columns < 0 || found.size(1) == columns);
  if (fits) return found;
  throw Error("its tensor '" + std::string(name) + "' is " + to_string(found.shape()) +
              ", which does not fit the others of a single head.");
}

TransformerOptions sizes_of(const OneHead& head) {
  return {.vocab_size = head.words.size(0),
          .max_length = head.positions.size(0),
          .d_model = head.words.size(1),
          .num_heads = 1,
          .num_layers = 1,
          .has_feed_forward = false,
          .is_causal = false};
}

// As init::lecun_normal, but pieces of one list that begin at random places: a hundred million
// random numbers would take seconds.
Tensor lecun_normal_by_pieces(const Shape& shape, Random& random) {
  static const std::vector<real> pool = Random(0).normal({Index{1} << 22}).values();
  const auto deviation = static_cast<real>(1 / std::sqrt(static_cast<double>(shape[-2])));
  const Tensor result = Tensor::empty(shape);
  real* const numbers = result.data();
  Index at = random.randint(std::ssize(pool));
  for (Index done = 0; done < result.numel(); at = 0) {
    const Index piece = std::min(std::ssize(pool) - at, result.numel() - done);
    std::transform(pool.begin() + at, pool.begin() + at + piece, numbers + done,
                   [&](real number) { return number * deviation; });
    done += piece;
  }
  return result;
}

// For a safetensors file without a model.
[[noreturn]] void refuse(const Safetensors& file) {
  constexpr std::size_t shown = 3;
  std::string names;
  for (std::size_t i = 0; i < std::min(shown, file.tensors.size()); ++i) {
    names += (i > 0 ? ", " : "") + in_quotes(file.tensors[i].name);
  }
  if (file.tensors.size() > shown) names += ", ...";
  const auto step = file.metadata.find("step");
  throw Error("it holds no transformer, but " + std::to_string(file.tensors.size()) + " tensors (" +
              names + ")" +
              (step == file.metadata.end() ? "" : " of step " + in_quotes(step->second)) +
              ", without the options of a model. `tapestry plot` draws them.");
}

}  // namespace

OneHead::OneHead(const Safetensors& file)
    : words(matrix(file, "words", -1, -1)),
      positions(matrix(file, "positions", -1, words.size(1))),
      attention([&] {
        const Index d_model = words.size(1);
        const Tensor query = matrix(file, "head.query.weight", d_model, -1);
        const Tensor value = matrix(file, "head.value.weight", d_model, -1);
        Random random(0);  // these weights are overwritten
        MultiHeadAttention made(d_model, 1, random, {.d_k = query.size(1), .d_v = value.size(1)});
        made.query.weight = query;
        made.key.weight = matrix(file, "head.key.weight", d_model, query.size(1));
        made.value.weight = value;
        made.output.weight = matrix(file, "head.output.weight", value.size(1), d_model);
        return made;
      }()),
      guess(matrix(file, "guess", words.size(1), words.size(0))) {}

// As in step 14.
OneHead::OneHead(const TransformerOptions& o, Random& random)
    : words(random.normal({o.vocab_size, o.d_model}, 0, 0.1)),
      positions(random.normal({o.max_length, o.d_model}, 0, 0.1)),
      attention(o.d_model, 1, random, {.initializer = init::lecun_normal}),
      guess(init::lecun_normal({o.d_model, o.vocab_size}, random)) {}

Tensor OneHead::operator()(const Indices& ids, const ForwardContext& pass) const {
  const Tensor x =
      Capture::record("embedding", embedding(words, ids) + slice(positions, 0, 0, ids.shape[-1]));
  const Capture::Name block("blocks", 0), layer("attention");
  return matmul(attention(x, {}, pass), guess);
}

Model::Model(Transformer transformer)
    : options_(transformer.options), parts_(std::move(transformer)) {}

Model::Model(OneHead head) : options_(sizes_of(head)), parts_(std::move(head)) {}

const MultiHeadAttention& Model::attention(Index layer) const {
  if (const auto* head = std::get_if<OneHead>(&parts_)) return head->attention;
  return std::get<Transformer>(parts_).blocks[static_cast<std::size_t>(layer)].attention;
}

Tensor Model::operator()(const Indices& ids, const ForwardContext& pass) const {
  if (const auto* head = std::get_if<OneHead>(&parts_)) return (*head)(ids, pass);
  return std::get<Transformer>(parts_)(ids, {}, pass);
}

Index Model::num_parameters() const {
  if (const auto* transformer = std::get_if<Transformer>(&parts_)) {
    return transformer->num_parameters();
  }
  const OneHead& head = std::get<OneHead>(parts_);
  return head.words.numel() + head.positions.numel() + head.attention.num_parameters() +
         head.guess.numel();
}

bool is_large(const Model& model) { return model.num_parameters() > 10'000'000; }

Model Model::untrained(std::uint64_t seed) const {
  Random random(seed);
  if (is_one_head()) return Model(OneHead(options_, random));
  TransformerOptions options = options_;
  // Its own initial weights are not stored.
  options.initializer = is_large(*this) ? lecun_normal_by_pieces : init::lecun_normal;
  return Model(Transformer(options, random));
}

Transformer read_folder(const std::filesystem::path& folder,
                        const std::filesystem::path& adapters) {
  Transformer model = read_model(folder);
  if (adapters.empty()) return model;
  load_adapters(adapters, model);
  merge_adapters(model);
  return model;
}

Model to_model(const Safetensors& file) {
  if (file.metadata.contains("transformer.vocabulary")) return Model(to_transformer(file));
  const bool one_head = std::any_of(file.tensors.begin(), file.tensors.end(), [](const auto& one) {
    return one.name == "head.query.weight";
  });
  if (one_head) return Model(OneHead(file));
  refuse(file);
}

}  // namespace tapestry::command
