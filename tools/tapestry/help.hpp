// The text of --help: usage, options, and examples.
#pragma once

#include <CLI/Formatter.hpp>
#include <string>

namespace tapestry::command {

// One layout for every version of CLI11, at most 80 columns wide.
class Help : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override;
};

inline constexpr const char* app_examples = R"(Begin with:
  tapestry train grammar
  tapestry analyze --checkpoint out/checkpoints/grammar.safetensors \
    --text "the cat sat on the mat"

`tapestry COMMAND --help` tells more about each.)";

inline constexpr const char* analyze_examples =
    R"(Prints for each head its entropy, the mean distance of its keys, its strongest
links, and the pattern it follows (previous word, induction, ...), with the
scores of untrained models, shuffled words and equal weights. For a single head
all patterns, and the table of weights. Then the prediction: of a decoder for
the next word, of an encoder for each <mask>.
Writes pictures: a heatmap and a flow of arrows (of one head, or of the mean of
several), and a grid of all heads chosen.

Examples:
  tapestry analyze --checkpoint out/checkpoints/grammar.safetensors \
    --text "the cat sat on the mat"
  tapestry analyze --checkpoint out/checkpoints/grammar.safetensors \
    --text "the cat sat on the mat" --layer 1 --head 0)";

inline constexpr const char* why_examples =
    R"(Prints every step from two words to one weight: the product of query and key,
the division by the root of d_k, the mask, the softmax over all keys,
and what the value then adds to the output. A repeated word is given with its
position, counted from 0: the@4. A number alone is a position, too, unless it is
a word of the model.

Examples:
  tapestry why --checkpoint out/checkpoints/grammar.safetensors \
    --text "the cat sat on the mat" --query sat --key cat
  tapestry why --checkpoint out/checkpoints/grammar.safetensors \
    --text "the cat sat on the mat" --query mat --key the@5 --layer 1 --head 2)";

inline constexpr const char* train_examples =
    R"(The table gets a row after each tenth of the steps. The model is saved every
--save-every steps, and when Ctrl-C stops the training; writes are atomic.
--resume continues a run, with bitwise the same result. With it, --steps,
--save-every, --out and --format may change; other options must agree with the
file. NAME_best_model.safetensors, beside the last model, is the one with the
lowest loss on held-out texts, measured at each row and each save. All losses go
to train_NAME_loss.csv, and as a curve to train_NAME_loss.png (or .svg). A text
file is learned character by character.

Examples:
  tapestry train sort --steps 1000
  tapestry train grammar --layers 1 --heads 2 --seed 7
  tapestry train book.txt --length 128 --steps 5000
  tapestry train book.txt --resume --steps 10000)";

inline constexpr const char* generate_examples =
    R"(Samples each new word from the model's probabilities, given the words before it
(the last ones, if there are more than it has positions). The prompt must fit.
The file says whether <bos> is put before it.

Examples:
  tapestry generate --checkpoint out/checkpoints/grammar.safetensors --count 5
  tapestry generate --checkpoint out/checkpoints/sort.safetensors \
    --text "d a c b =>" --temperature 0
  tapestry generate --checkpoint out/checkpoints/book.safetensors \
    --text "It was" --length 500 --temperature 0.8 --top-p 0.95)";

inline constexpr const char* plot_examples =
    R"(Draws each tensor: a list of numbers as a line, a matrix as a heatmap, more axes
as a grid of heatmaps. Attention weights, whose rows sum to 1, are recognised:
their entropy and distance are drawn too, their mean as arrows and as a 3-D
chart. Any program can write such a file; numpy.save does.

Examples:
  tapestry plot out/weights/attention_weights.safetensors
  tapestry plot out/checkpoints/grammar.safetensors --tensor words.weight
  tapestry plot weights.npy --out pictures --format svg)";

inline constexpr const char* tape_examples =
    R"(Prints the records of one calculation and draws them: each operation with its
shape, its value, and its gradient.

Examples:
  tapestry tape
  tapestry tape attention --out pictures)";

inline constexpr const char* lab_examples =
    R"(The same queries, keys and values through explicit, fused, chunked, sliding
window, linear, grouped-query attention and so on: the largest difference, time
and bytes, forward and both ways (with the backward pass), and how these grow
with the length. What would need too much time or memory is skipped, with the
reason. Growth is printed if the longest length is at least four times the
shortest.

Examples:
  tapestry lab
  tapestry lab --lengths 512,2048,8192 --heads 8 --width 512 --causal)";

inline constexpr const char* doctor_examples =
    R"(Checks compiler, kernels, attention, threads, fonts and the folders for
results, and prints a line for each.

Example:
  tapestry doctor)";

}  // namespace tapestry::command
