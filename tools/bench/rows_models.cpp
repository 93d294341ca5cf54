// Models in folders: opening one, reading a prompt, and decoding in turn with llama2.c's `run`,
// whose path the environment variable LLAMA2C gives. Both get the same random model.
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>

#include "course/timing.hpp"
#include "ours.hpp"
#include "tapestry/error.hpp"
#include "tapestry/generation.hpp"
#include "tapestry/kernels.hpp"
#include "tapestry/models/llama2c.hpp"
#include "tapestry/models/model_folder.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/unicode.hpp"

namespace tapestry::bench {
namespace {

namespace fs = std::filesystem;

struct Llama {
  const char* name;
  Index width, hidden, layers, heads, key_value_heads, words, positions;
  Index decoded;  // tokens of one measurement

  Index of_layer() const {
    const Index shared = width / heads * key_value_heads;
    return 2 * width * width + 2 * width * shared + 3 * width * hidden;
  }
  Index weights() const { return words * width + layers * (of_layer() + 2 * width) + width; }
};

constexpr Llama small = {"stories260K", 64, 172, 5, 8, 4, 512, 512, 256};
constexpr Llama large = {"500 MB", 1024, 2816, 7, 16, 16, 32000, 1024, 12};

// The files of random models, in a temporary folder until the bench ends.
class Files {
 public:
  Files() : folder_(fs::temp_directory_path() / ("tapestry-bench-" + std::to_string(::getpid()))) {}
  ~Files() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  const fs::path& of(const Llama& size) {
    fs::path& made = made_[size.name];
    if (!made.empty()) return made;
    const fs::path folder = folder_ / std::to_string(made_.size());
    fs::create_directories(folder);
    write_model(size, folder / "model.bin");
    write_tokenizer(size, folder / "tokenizer.bin");
    convert_llama2c(folder / "model.bin", {}, folder / "converted");
    return made = folder;
  }

 private:
  static void put(std::ofstream& file, const void* data, std::size_t bytes) {
    if (!file.write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes))) {
      throw Error("bench: cannot write a model of 500 MB into " +
                  fs::temp_directory_path().string() + " (TMPDIR names another folder).");
    }
  }

  // llama2.c ends a text at token 1: its embedding, which makes its logit, is 0.
  static void write_model(const Llama& s, const fs::path& path) {
    std::ofstream file(path, std::ios::binary);
    for (const Index size :
         {s.width, s.hidden, s.layers, s.heads, s.key_value_heads, s.words, s.positions}) {
      const auto number = static_cast<std::int32_t>(size);
      put(file, &number, sizeof number);
    }
    Random random(42);
    const std::vector<real> drawn = random.normal({1 << 20}, 0, 0.05).values();
    std::vector<float> block(drawn.begin(), drawn.end());
    const Index turned = s.positions * (s.width / s.heads);  // cosines and sines
    Index left = s.weights() + turned;
    for (bool first = true; left > 0; first = false) {
      std::vector<float> part = block;
      if (first) std::fill_n(part.begin() + s.width, s.width, 0.0F);
      const auto count = static_cast<std::size_t>(std::min<Index>(left, Index(part.size())));
      put(file, part.data(), count * sizeof(float));
      left -= static_cast<Index>(count);
    }
  }

  static void write_tokenizer(const Llama& s, const fs::path& path) {
    std::ofstream file(path, std::ios::binary);
    const std::int32_t longest = 6;
    put(file, &longest, sizeof longest);
    for (Index id = 0; id < s.words; ++id) {
      const std::string text = "t" + std::to_string(id);
      const auto length = static_cast<std::int32_t>(text.size());
      const float score = 0;
      put(file, &score, sizeof score);
      put(file, &length, sizeof length);
      put(file, text.data(), text.size());
    }
  }

  fs::path folder_;
  std::map<std::string, fs::path> made_;
};

Files& files() {
  static Files all;
  return all;
}

std::shared_ptr<const Transformer> opened(const Llama& size) {
  return std::make_shared<const Transformer>(read_model(files().of(size) / "converted"));
}

// Greedily from token 1 on; seconds for a token.
double decode(const Transformer& model, Index tokens) {
  Random random(1);
  const double start = now();
  (void)generate(next_logits_of(model, model.options.max_length), Indices({1}, {1}), random,
                 {.sampling = greedy, .max_new_tokens = tokens});
  return (now() - start) / static_cast<double>(tokens);
}

double decode_by_llama2c(const std::string& program, const fs::path& folder, Index tokens) {
  const std::string line = "OMP_NUM_THREADS=" + std::to_string(threads_in_use()) + " " +
                           shell_quote(program) + " " + (folder / "model.bin").string() + " -z " +
                           (folder / "tokenizer.bin").string() + " -t 0 -n " +
                           std::to_string(tokens) + " 2>&1 >/dev/null";
  std::FILE* const pipe = ::popen(line.c_str(), "r");
  double rate = 0;
  char said[256] = {};
  while (pipe != nullptr && std::fgets(said, sizeof said, pipe) != nullptr) {
    (void)std::sscanf(said, "achieved tok/s: %lf", &rate);
  }
  if (pipe != nullptr) ::pclose(pipe);
  if (rate > 0) return 1 / rate;
  throw Error("bench: LLAMA2C=" + program + " is not llama2.c's run, or was too fast to measure.");
}

Row decoding_row(const Llama& s) {
  Row row{"models",
          std::string("decode ") + s.name,
          2.0 * double(s.weights()),
          4.0 * double(s.weights()),
          {}};
  row.prepare = [s] {
    const auto model = opened(s);
    std::vector<Contestant> all = {{"Tapestry", {}, {}, [=] { return decode(*model, s.decoded); }}};
    if (const char* const program = std::getenv("LLAMA2C")) {
      all.push_back({"llama2.c", {}, {}, [=, folder = files().of(s)] {
                       return decode_by_llama2c(program, folder, s.decoded);
                     }});
    }
    return all;
  };
  return row;
}

// The products of a prompt alone, as many rows as it has tokens.
std::function<void()> products_of(const Llama& s, Index tokens) {
  const Index shared = s.width / s.heads * s.key_value_heads;
  const Tensor x = numbers({tokens, s.width}), wide = numbers({tokens, s.hidden});
  const Tensor square = numbers({s.width, s.width}), some = numbers({s.width, shared});
  const Tensor up = numbers({s.width, s.hidden}), down = numbers({s.hidden, s.width});
  return [=] {
    for (Index i = 0; i < s.layers; ++i) {
      for (const Tensor* map : {&square, &some, &some, &square, &up, &up}) {
        const Tensor product = matmul(x, *map);
      }
      const Tensor product = matmul(wide, down);
    }
  };
}

Row prompt_row(const Llama& s) {
  const Index tokens = 512;
  const double pairs = 2.0 * double(s.layers * s.width) * double(tokens * (tokens + 1) / 2);
  const double maps = double(tokens * s.layers * s.of_layer()) + double(s.words * s.width);
  Row row{
      "models", "prompt of 512 tokens, 500 MB", 2 * (maps + pairs), 4.0 * double(s.weights()), {}};
  row.prepare = [=] {
    const auto model = opened(s);
    const Indices ids({1, tokens}, std::vector<std::int32_t>(std::size_t(tokens), 3));
    const auto read = [=] {
      std::vector<KeyValueCache> caches;
      const Tensor logits = model->next(ids, caches, NextOf::last);
    };
    return std::vector<Contestant>{{"Tapestry", read}, {"products", products_of(s, tokens)}};
  };
  return row;
}

Row opening_row(const Llama& s) {
  Row row{"models", "open 500 MB", double(s.weights()), 4.0 * double(s.weights()), {}};
  row.prepare = [s] {
    const fs::path folder = files().of(s) / "converted";
    return std::vector<Contestant>{{"Tapestry", [=] { const auto model = read_model(folder); }}};
  };
  return row;
}

}  // namespace

void add_models_rows(std::vector<Row>& rows) {
  rows.push_back(decoding_row(small));
  rows.push_back(decoding_row(large));
  rows.push_back(prompt_row(large));
  rows.push_back(opening_row(large));
}

}  // namespace tapestry::bench
