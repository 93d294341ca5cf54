#include "train_settings.hpp"

#include <concepts>
#include <optional>

#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/unicode.hpp"

namespace tapestry::command {
namespace {

const char* const snapshots_key = "train.snapshots";
const char* const micro_batches_key = "train.micro_batches";

std::string exact(double value) { return exact_text(value); }
template <std::integral Number>
std::string exact(Number value) {
  return std::to_string(value);
}

template <class Number>
void parse(const Metadata& metadata, const std::string& key, Number low, Number high,
           Number& value) {
  const std::string& text = metadata.at(key);
  if (read_number(text, value) && value >= low && value <= high) return;
  throw Error("its entry '" + key + "' is " + in_quotes(text) + ", which is not valid.");
}

template <class Number, class Given>
void check_same(const char* option, Number of_file, const std::optional<Given>& given) {
  if (!given || Number(*given) == of_file) return;
  throw Error("its run has " + std::string(option) + " " + exact(of_file) + ", not " +
              exact(*given) + ". Leave the option out, or start again with --overwrite.");
}

}  // namespace

Metadata to_metadata(const Settings& s) {
  Metadata metadata = {{"train.task", s.task},
                       {"train.fingerprint", s.fingerprint},
                       {"train.length", exact(s.length)},
                       {"train.batch", exact(s.batch)},
                       {"train.steps", exact(s.steps)},
                       {"train.rate", exact(s.rate)},
                       {"train.seed", exact(s.seed)}};
  if (s.snapshots > 0) metadata[snapshots_key] = exact(s.snapshots);
  if (s.micro_batches > 0) metadata[micro_batches_key] = exact(s.micro_batches);
  return metadata;
}

void check_micro_batches(Index micro_batches, Index batch) {
  if (micro_batches == 0 || batch % micro_batches == 0) return;
  throw Error("--micro-batches " + exact(micro_batches) + " must divide --batch " + exact(batch) +
              ": each gets as many texts.");
}

Settings settings_in(const Metadata& metadata) {
  for (const auto& [key, text] : to_metadata(Settings{})) {
    if (metadata.contains(key)) continue;
    throw Error("was not written by `tapestry train` (it has no entry '" + key +
                "'), so that it cannot be resumed.");
  }
  Settings s{.task = metadata.at("train.task"), .fingerprint = metadata.at("train.fingerprint")};
  parse<Index>(metadata, "train.length", 1, most_length, s.length);
  parse<Index>(metadata, "train.batch", 1, most_batch, s.batch);
  parse<Index>(metadata, "train.steps", 0, most_steps, s.steps);
  parse<double>(metadata, "train.rate", 0, 1, s.rate);
  parse<std::uint64_t>(metadata, "train.seed", 0, ~std::uint64_t{0}, s.seed);
  if (metadata.contains(snapshots_key)) {
    parse<Index>(metadata, snapshots_key, 2, most_snapshots, s.snapshots);
  }
  if (metadata.contains(micro_batches_key)) {
    parse<Index>(metadata, micro_batches_key, 1, s.batch, s.micro_batches);
    check_micro_batches(s.micro_batches, s.batch);
  }
  return s;
}

void check_same(const TrainOptions& o, const Settings& s, const TransformerOptions& model) {
  check_same("--batch", s.batch, o.batch);
  check_same("--rate", s.rate, o.rate);
  check_same("--seed", s.seed, o.seed);
  if (o.snapshots && s.snapshots == 0) {
    throw Error(
        "its run has no --snapshots. Leave the option out, or start again with --overwrite.");
  }
  check_same("--snapshots", s.snapshots, o.snapshots);
  if (o.micro_batches && s.micro_batches == 0) {
    throw Error(
        "its run has no --micro-batches. Leave the option out, or start again with --overwrite.");
  }
  check_same("--micro-batches", s.micro_batches, o.micro_batches);
  if (!s.fingerprint.empty()) check_same("--length", s.length, o.length);  // not for tasks
  check_same("--layers", model.num_layers, o.layers);
  check_same("--heads", model.num_heads, o.heads);
  check_same("--width", model.d_model, o.width);
  if (!o.attention_only || !model.has_feed_forward) return;
  throw Error(
      "its run has feed-forward layers, not --attention-only. Leave the option out, or start again "
      "with --overwrite.");
}

}  // namespace tapestry::command
