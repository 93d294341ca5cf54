// The table of an architecture: how a model of other programs is called and stored.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/config.hpp"

namespace tapestry {

// Where a parameter of ours stands in the file. In both names # is the number of the layer.
struct StoredName {
  enum class Form {
    same,        // as it is
    transposed,  // the matrix of a map as (out, in); ours are (in, out)
    side,        // (in, 3 out): the maps of query, key and value side by side
    by_head,     // (heads 3 d_k, in): the rows of query, key and value of a head, then the next
  };
  std::string parameter, tensor;
  Form form = Form::same;
  int part = 0;  // of `side` and `by_head`: 0 query, 1 key, 2 value
};

// A tensor of some files that is no weight of the model.
struct PassedOver {
  enum class Kind {
    mask,         // (1, 1, n, n)
    number,       // one number, which stood for minus infinity
    frequencies,  // base^(-2i / width) of the rotary positions
    positions,    // 0, 1, 2, ...
    weights,      // of a part that a Transformer does not have
  };
  std::string tensor;
  Kind kind;
};

struct Architecture {
  std::string name;         // the "model_type"
  std::string model_class;  // with logits, "GPT2LMHeadModel" ...
  std::string bare_class;   // ... and without, "GPT2Model"
  std::string prefix;       // of all names but those of the head; some files leave it out
  std::vector<StoredName> names;
  std::vector<StoredName> head;                             // what makes logits
  std::vector<std::pair<std::string, std::string>> copies;  // of the head: tensor, our parameter
  std::vector<PassedOver> passed_over = {};
  std::vector<PassedOver> passed_over_in_head = {};
  std::vector<std::pair<std::string, std::string>> endings = {};  // of names, now and formerly
  TransformerOptions (*options)(Config&);
  void (*write_config)(const TransformerOptions&, OrderedJson&);
};

// Throws Error naming those that are known.
const Architecture& architecture(std::string_view name);
const std::vector<Architecture>& all_architectures();

// One in each file; all_architectures() lists them.
Architecture gpt2();
Architecture gpt_neo();
Architecture gpt_neox();
Architecture llama();
Architecture mistral();
Architecture qwen2();
Architecture bert();
Architecture stablelm();

// The entry of a map with weight and bias, for tables: both are stored.
void add_map(std::vector<StoredName>& names, const std::string& parameter,
             const std::string& tensor, StoredName::Form form, int part = 0);

// The entries of the maps of a block, each {"attention.query", its name in the file's layer}.
using MapNames = std::initializer_list<std::pair<const char*, const char*>>;
void add_maps(std::vector<StoredName>& names, const std::string& layer, const MapNames& maps,
              StoredName::Form form = StoredName::Form::transposed);

// Those of query, key and value, which are parts of one tensor.
void add_fused_maps(std::vector<StoredName>& names, const std::string& tensor,
                    StoredName::Form form);

// The entries of a layer norm.
void add_norm(std::vector<StoredName>& names, const std::string& parameter,
              const std::string& tensor);

// What GPT-2 and GPT-Neo have in common: all but the maps of a layer, its buffers and the options.
Architecture gpt(const std::string& name, const std::string& class_begin);

// The entries of the maps of a layer of Llama, which others took over.
void add_llama_maps(std::vector<StoredName>& names);

}  // namespace tapestry
