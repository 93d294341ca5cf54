#include "tapestry/models/model_folder.hpp"

#include <cmath>
#include <map>
#include <set>

#include "models/tensors.hpp"
#include "nn/unused_options.hpp"
#include "tapestry/error.hpp"
#include "tapestry/file.hpp"
#include "tapestry/format.hpp"
#include "tapestry/io/weight_files.hpp"
#include "tapestry/memory.hpp"
#include "tapestry/models/architecture.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/unicode.hpp"

namespace tapestry {
namespace {

using Form = StoredName::Form;

// One folder while it is opened.
class Opening {
 public:
  Opening(const std::filesystem::path& folder, ModelConfig config)
      : folder_(folder),
        files_(folder),
        config_(std::move(config)),
        table_(architecture(config_.architecture)) {
    const std::string words = table_.names.front().tensor;
    const bool bare = files_.contains(words) && !files_.contains(table_.prefix + words);
    prefix_ = bare ? "" : table_.prefix;
    config_.options.has_logits = has_logits();
    leave_out_unused(config_.options);
  }

  // All tensors are accounted for; nothing is read but the small ones.
  void check(std::vector<std::string>* passed_over) {
    check_sizes();
    try {
      for (const Parameter& parameter : shapes_of(config_.options).parameters()) {
        shapes_.push_back(parameter);
      }
    } catch (const Error& error) {
      refuse(std::string("config.json: ") + error.what());
    }
    for (const Parameter& parameter : shapes_) check_parameter(parameter);
    for (const WeightEntry& entry : files_.entries()) {
      if (!expected_.contains(entry.name)) check_other(entry, passed_over);
    }
    check_memory();
  }

  Transformer read() {
    TransformerOptions options = config_.options;
    options.initializer = [](const Shape& shape, Random&) { return Tensor::empty(shape); };
    Random unused(0);
    Transformer model(options, unused);
    for (const Parameter& parameter : model.parameters()) read_parameter(parameter);
    check_copies(model);
    model.options.initializer = TransformerOptions().initializer;
    return model;
  }

 private:
  [[noreturn]] void refuse(const std::string& problem) const {
    throw Error("read_model: " + folder_.string() + ": " + problem);
  }

  // The name in this file, which may have an older ending; of two tied tensors the one it has.
  StoredName stored(std::string_view parameter) const {
    StoredName name = stored_name(table_, parameter, prefix_);
    for (const auto& [now, formerly] : table_.endings) {
      if (!name.tensor.ends_with(now) || files_.contains(name.tensor)) continue;
      const std::string old = name.tensor.substr(0, name.tensor.size() - now.size()) + formerly;
      if (files_.contains(old)) name.tensor = old;
    }
    for (const auto& [copy, of] : table_.copies) {
      const bool tied = config_.options.tied_logits && of == parameter;
      if (tied && !files_.contains(name.tensor) && files_.contains(copy)) name.tensor = copy;
    }
    return name;
  }

  // Whether there is a head: if it has tensors, or needs none, or the model's class asks for it.
  bool has_logits() const {
    if (table_.head.size() == 1 && config_.options.tied_logits) return true;
    for (const StoredName& name : table_.head) {
      if (files_.contains(stored(name.parameter).tensor)) return true;
    }
    return !config_.model_class.empty() && config_.model_class != table_.bare_class;
  }

  // A model with these options takes memory like the files, or its shapes disagree soon.
  void check_sizes() const {
    const TransformerOptions& o = config_.options;
    double stored = 0;
    for (const WeightEntry& entry : files_.entries()) {
      stored += static_cast<double>(entry.shape.numel());
    }
    const auto d = static_cast<double>(o.d_model);
    const double width = o.d_k == 0 ? d : static_cast<double>(o.num_heads * o.d_k);
    const double wanted =
        d * (static_cast<double>(o.vocab_size) +
             static_cast<double>(o.num_layers) * (width + static_cast<double>(o.d_ff)));
    const auto tensors = static_cast<Index>(files_.entries().size());
    if (wanted <= 64 * stored + 1e6 && o.num_layers <= tensors + 64) return;
    refuse("config.json describes " + std::to_string(o.num_layers) + " layers of width " +
           std::to_string(o.d_model) + " and " + std::to_string(o.vocab_size) +
           " words, far more than the files hold.");
  }

  // Without it the system would end the program halfway, without a word.
  void check_memory() const {
    double numbers = 0;
    for (const Parameter& parameter : shapes_) {
      numbers += static_cast<double>(parameter.value.shape().numel());
    }
    const double bytes = numbers * sizeof(real), free = static_cast<double>(available_memory());
    if (bytes <= free) return;
    refuse(
        formatted("its %.0f numbers take %.2f GB of memory, but %.2f GB are free. Take a smaller "
                  "model, or a machine with more memory.",
                  numbers, bytes / 1e9, free / 1e9));
  }

  void check_parameter(const Parameter& parameter) {
    const StoredName name = stored(parameter.name);
    const Shape wanted = stored_shape(name, parameter.value.shape());
    if (name.tensor.empty() || !files_.contains(name.tensor)) {
      refuse("there is no tensor " + in_quotes(name.tensor) + ", which config.json asks for, " +
             to_string(wanted) + "." + advice(name));
    }
    const Shape& found = files_[name.tensor].shape;
    if (found != wanted) {
      refuse("tensor " + in_quotes(name.tensor) + " is " + to_string(found) +
             ", but config.json asks for " + to_string(wanted) + ".");
    }
    check_type(files_[name.tensor]);
    expected_.insert(name.tensor);
  }

  // Throws Error if its numbers are of a type that is not read: a part of none is asked for.
  void check_type(const WeightEntry& entry) const {
    files_.read(entry.name, Tensor::empty({0}), {.shape = {entry.shape.numel()}});
  }

  std::string advice(const StoredName& name) const {
    return name.parameter == "logits.weight" ? " If logits are tied to the words, say so there: "
                                               "\"tie_word_embeddings\": true."
                                             : "";
  }

  // A tensor that is no parameter: a copy, or one that is passed over.
  void check_other(const WeightEntry& entry, std::vector<std::string>* passed_over) {
    const bool prefixed = !prefix_.empty() && entry.name.starts_with(prefix_);
    const LayerName name(std::string_view(entry.name).substr(prefixed ? prefix_.size() : 0));
    for (const auto& [tensor, parameter] : table_.copies) {
      if (entry.name == tensor && config_.options.has_logits) return check_type(entry);
    }
    Index layer{};
    const bool of_layer = name.number.empty() ||
                          (read_number(name.number, layer) && layer < config_.options.num_layers);
    const auto find = [&](const std::vector<PassedOver>& list, const std::string& pattern) {
      for (const PassedOver& one : list) {
        if (one.tensor != pattern) continue;
        check_passed_over(entry, one);
        if (passed_over != nullptr) passed_over->push_back(entry.name);
        return true;
      }
      return false;
    };
    if (of_layer && (prefixed || prefix_.empty()) && find(table_.passed_over, name.pattern)) return;
    if (find(table_.passed_over_in_head, entry.name)) return;
    refuse("tensor " + in_quotes(entry.name) + " " + to_string(entry.shape) +
           " is none that a model of the architecture " + table_.name +
           " with this config.json has.");
  }

  void check_passed_over(const WeightEntry& entry, const PassedOver& one) const {
    using Kind = PassedOver::Kind;
    const Shape& s = entry.shape;
    bool good = true;
    if (one.kind == Kind::mask) {
      good = s.ndim() == 4 && s[0] == 1 && s[1] == 1 && s[2] == s[3];
    } else if (one.kind == Kind::number) {
      good = s.numel() == 1;
    } else if (one.kind == Kind::positions) {
      good = s.numel() == config_.options.max_length;
      for (Index i = 0; good && i < s.numel(); ++i) good = number(entry, i) == double(i);
    } else if (one.kind == Kind::frequencies) {
      good = has_frequencies(entry);
    }
    if (good) return;
    refuse("tensor " + in_quotes(entry.name) + " " + to_string(s) +
           " is not what config.json describes, though it is no weight.");
  }

  // Rounded, perhaps to 8 digits in binary.
  bool has_frequencies(const WeightEntry& entry) const {
    const TransformerOptions& o = config_.options;
    const Index width = o.rotary.width == 0 ? o.d_k : o.rotary.width;  // one of them is given
    if (entry.shape.numel() != width / 2) return false;
    for (Index i = 0; i < width / 2; ++i) {
      const double wanted =
          std::pow(o.rotary.base, -2.0 * static_cast<double>(i) / static_cast<double>(width));
      if (!(std::abs(number(entry, i) - wanted) <= 0.01 * wanted + 1e-7)) return false;
    }
    return true;
  }

  double number(const WeightEntry& entry, Index i) const {
    const Tensor one = Tensor::empty({1});
    files_.read(entry.name, one, {.shape = {entry.shape.numel()}, .axis = 0, .begin = i});
    return static_cast<double>(one.item());
  }

  void read_parameter(const Parameter& parameter) const {
    const StoredName name = stored(parameter.name);
    const Tensor& ours = parameter.value;
    if (name.form == Form::by_head) {
      const Index heads = config_.options.num_heads;
      const Tensor rows = ours.ndim() == 2 ? transpose(ours) : ours;  // (heads d_k, ...)
      const Shape parts =
          rows.shape().with(0, rows.size(0) / heads).inserted(0, 1).inserted(0, heads);
      files_.read(name.tensor, reshape(rows, parts),  // (heads, 1, d_k, ...)
                  {.shape = parts.with(1, 3), .axis = 1, .begin = name.part});
    } else if (name.form == Form::side) {
      files_.read(name.tensor, ours, {.axis = -1, .begin = name.part * ours.size(-1)});
    } else {
      // (out, in) if transposed
      files_.read(name.tensor, name.form == Form::transposed ? transpose(ours) : ours);
    }
  }

  // Stored a second time, tied weights must be equal. Compared in parts, to take little memory.
  void check_copies(const Transformer& model) const {
    for (const auto& [tensor, name] : table_.copies) {
      if (!files_.contains(tensor) || expected_.contains(tensor)) continue;
      for (const Parameter& parameter : model.parameters()) {
        if (parameter.name != name) continue;
        if (files_[tensor].shape == parameter.value.shape() && same(tensor, parameter.value)) break;
        refuse("tensor " + in_quotes(tensor) + " " + to_string(files_[tensor].shape) +
               " is tied to " + in_quotes(stored(name).tensor) +
               " by config.json, but it is not equal. If it is a weight of its own, say so there: "
               "\"tie_word_embeddings\": false.");
      }
    }
  }

  bool same(const std::string& tensor, const Tensor& ours) const {
    constexpr Index step = 256;
    const Index rows = ours.size(0);
    for (Index begin = 0; begin < rows; begin += step) {
      // (step rows or fewer, ...)
      const Tensor part = slice(ours, 0, begin, std::min(begin + step, rows));
      const Tensor copy = Tensor::empty(part.shape());  // (step rows or fewer, ...)
      files_.read(tensor, copy, {.axis = 0, .begin = begin});
      if (largest_difference(copy, part) != 0) return false;
    }
    return true;
  }

  const std::filesystem::path& folder_;
  WeightFiles files_;
  ModelConfig config_;
  const Architecture& table_;
  std::string prefix_;
  Parameters shapes_;                            // of the model, without numbers
  std::set<std::string, std::less<>> expected_;  // the tensors that are parameters
};

}  // namespace

Transformer read_model(const std::filesystem::path& folder, std::vector<std::string>* passed_over) {
  Opening opening(folder, read_config(folder));
  opening.check(passed_over);
  return opening.read();
}

}  // namespace tapestry
