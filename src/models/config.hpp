// The entries of a config.json. Each is asked for by name; what nobody has asked for is refused.
#pragma once

#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "tapestry/nn/transformer.hpp"

namespace tapestry {

using OrderedJson = nlohmann::ordered_json;  // to write

class Config {
 public:
  // Some options have several names.
  using Names = std::initializer_list<const char*>;

  // Throws Error unless the text is a JSON object.
  explicit Config(const std::string& text);

  // The value; null counts as none, and then these are null. Throws Error if two names of one
  // option have different values.
  const Json* find(Names names);

  // The value, or `otherwise`. Throw Error for a value of another type, a size outside of 1 to
  // 2^24, and a number that is not above 0.
  Index size(Names names, Index otherwise);
  double number(Names names, double otherwise);
  bool flag(Names names, bool otherwise);
  std::string word(Names names, const std::string& otherwise);
  Activation activation(Names names, const std::string& otherwise);
  // The number of layers, of which there may be 65,536.
  Index layers(Names names, Index otherwise);

  // Refuses all values but this one, which a missing entry means.
  void only(const char* name, const Json& value);

  // Changes nothing, whatever it is.
  void harmless(Names names);

  // Whether it is there, and null: some options have another default.
  bool is_null(const char* name) { return json_.contains(name) && json_.at(name).is_null(); }

  // "architectures": its first one, or "".
  std::string model_class();

  // Throws Error for an entry that nobody has asked for, unless it is null, or false and a feature
  // that is known to be none of any architecture here.
  void refuse_others(const std::string& architecture);

  [[noreturn]] void refuse(const std::string& name, const std::string& rule);

 private:
  Json json_;
  std::set<std::string, std::less<>> known_;
};

// Which part of a head is rotated: the names of the share in config.json, none if there is no such
// option, the share that a missing entry means, and the width of a head.
struct RotaryShare {
  Config::Names names = {};
  double otherwise = 1;
  Index d_k = 0;
};

// Rotary positions with the layout half-split. Their base and share stand under the names given or,
// in later files, in "rope_parameters". Throws Error for a scaling ("rope_scaling"), and for a
// share that does not make an even width of at least 2.
RotaryOptions rotary_options(Config& config, Config::Names base_names,
                             const RotaryShare& share = {});

// The share of a head that is rotated, for config.json: one whose product with the head's width,
// rounded down as programs do, is the width that is rotated.
double rotary_share(const RotaryOptions& rotary, Index d_k);

// What config.json calls it.
std::string activation_name(Activation activation);

}  // namespace tapestry
