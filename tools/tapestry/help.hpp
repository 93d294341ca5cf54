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
    --text "the cat sat on the mat" --layer 1 --head 0
  tapestry analyze --model stories260K --pattern induction \
    --text "red box sun cat red box sun cat")";

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
    --text "the cat sat on the mat" --query mat --key the@5 --layer 1 --head 2
  tapestry why --model stories260K --text "Once upon a time" --query time \
    --key upon)";

inline constexpr const char* attribute_examples =
    R"(Direct logit attribution: the residual stream is a sum of what each part writes,
and the logits are a linear map of it once the scale of the last norm is held.
So the parts add up to the difference of two logits: --token minus --against
(without them, the two likeliest). Each is the part's own path to the logits;
what later layers make of it counts as theirs.
One text is no evidence: --texts FILE asks each line of a file, and prints the
means over the lines with their 95 % intervals. A line is a text, whose end is
asked about; its token and the other one may follow, with tabs between.

Examples:
  tapestry attribute --model stories260K --text "Once upon a time"
  tapestry attribute --model gpt2 --texts prompts.txt
  tapestry attribute --model gpt2 --token " Mary" --against " John" \
    --text "When Mary and John went to the store, John gave a drink to")";

inline constexpr const char* cut_examples =
    R"(Without a PART, each head, each layer's attention and feed-forward, and each
position alone: by how much the answer falls without it. With PARTs, each alone
and all together, beside as many parts of the same kinds drawn at random.
  2.3        head 3 of layer 2, counted from 0: its output is 0
  2.attention, 2.mlp   that layer's attention, or feed-forward
  2.3:7>4    the link from position 7 to 4 in that head: its weight is 0
  @5         position 5, hidden from all others
The answer is ln p(--token), which falls, too, when other words rise; with
--against it is the difference of two logits, and only these two count.
--texts FILE asks each line of a file (TEXT, or with tabs TEXT, TOKEN, OTHER)
and prints means with their 95 % intervals; each line is cut by the same draws.

Examples:
  tapestry cut --model stories260K --text "Once there was a big cat. The"
  tapestry cut 4.4 --model stories260K --texts stories.txt
  tapestry cut 4.4 3.6 @6 --model stories260K --json cuts.json \
    --text "Once there was a big cat. The")";

inline constexpr const char* patch_examples =
    R"(Activation patching: while the model reads --text, one place is set to what it
was in --from, and the answer moves part of the way to that of --from: 0 none, 1
all of it. Places: the residual stream before each layer and at the end, at each
position; each head, at all positions; with --layer each link of it, that is its
weight alone (a head's output has the values, too). Both texts must have equally
many tokens (see tapestry tokens). Without --token and --against, what --from
makes likeliest is compared with what --text does. As a control, patch from an
unrelated text with the same --token and --against. --texts FILE patches many
pairs, one a line, with tabs: FROM, TEXT, or FROM, TEXT, TOKEN, OTHER. It prints
means with their 95 % intervals; places only where all are equally long.

Examples:
  tapestry patch --model stories260K --from "Once there was a big cat. The" \
    --text "Once there was a big dog. The"
  tapestry patch --checkpoint out/checkpoints/induction.safetensors \
    --from "a b c d a" --text "a c b d a" --layer 1
  tapestry patch --model gpt2 --texts pairs.txt)";

inline constexpr const char* lens_examples =
    R"(The logit lens: the model's last norm and map to words, applied after each layer
as if it were the last; the norm is applied anew at each. With --against the
table shows the difference of two logits instead of ln p. With --fit, beside it
the same through an affine map for each layer, fitted to what the residual
stream is after the last one (a tuned lens, by least squares), and how much of
its variance each map explains on texts that it was not fitted on.
Writes a picture: at each position the word that the model says there in the
end, and its probability after each layer.

Examples:
  tapestry lens --model stories260K --text "Once upon a time, there was a"
  tapestry lens --model stories260K --text "Once upon a" --token " time" \
    --fit stories.txt)";

inline constexpr const char* circuit_examples =
    R"(The model reads no text: QK and OV of one head are tables of tokens, those of
--text, each once (of a model with few words, all). QK: the scores of their
embeddings, without positions. OV: what attending to a token adds to each logit,
by the direct path. Then the singular values of both, and how much the head
reads of what each earlier head writes, by its queries, keys and values, beside
random matrices. The norms are folded into the maps. Models with norms behind
their layers (BERT) are refused.

Examples:
  tapestry circuit --checkpoint out/checkpoints/induction.safetensors --layer 1
  tapestry circuit --checkpoint out/checkpoints/induction.safetensors \
    --layer 1 --head 2 --from 0.1
  tapestry circuit --model stories260K --layer 4 --head 4 --text "Lily Tom cat")";

inline constexpr const char* explore_examples =
    R"(Writes one file that a browser opens without a server or a network. It holds
what the model computed for each text: all weights, queries, keys and values,
its next words, what it would say after each layer, and the patterns of its
heads beside untrained models, shuffled words and equal weights. With --beside
another model reads the same texts, and the page shows both and the difference.
Snapshots of the training, if there are any (tapestry train --snapshots), become
a slider. Of long texts the page has maps in bins, and computes exact windows.

Examples:
  tapestry explore out/checkpoints/grammar.safetensors \
    --text "the cat sat on the mat"
  tapestry explore stories260K --text "Once upon a time" \
    --text "Once there was a big dog" --out story.html)";

inline constexpr const char* train_examples =
    R"(The table gets a row after each tenth of the steps. The model is saved every
--save-every steps, and when Ctrl-C stops the training; writes are atomic.
--resume continues a run, with bitwise the same result. With it, --steps,
--save-every, --out and --format may change; other options must agree with the
file. NAME_best_model.safetensors, beside the last model, is the one with the
lowest loss on held-out texts, measured at each row, save and snapshot. All
losses go to train_NAME_loss.csv, and as a curve to train_NAME_loss.png (or
.svg). --snapshots N keeps N states of the model on its way, the first before
any step and the last at the end, denser at the beginning, as files of 16 bits
a weight in NAME.snapshots: every command opens them with --checkpoint.
--micro-batches M draws the texts of a step in M parts, and adds their gradients
in one fixed tree: the same bits on any number of ranks that share them. --ranks
N starts N ranks on this machine by MPI (built by make MPI=1); under an mpirun
of yours each process is one. If one fails, all end within seconds. A text
file is learned character by character; with --merges token by token, as a new
model, and with --model a real model goes on. The result of these is a folder
that other programs read, too, with NAME_best_model beside it. It is saved at
the end, and when Ctrl-C stops the training. Each row of their table has the
bits per byte of the last tenth of the text, which is held out, and a sample.
With --rank the weights of --model stay as they are, and only low-rank
adapters beside its maps learn (LoRA): query, key, value, output, and gate, up
and down of the feed-forward. The result is their file, which other commands
open with --model FOLDER --adapters FILE; with --whole it is a folder.

Examples:
  tapestry train sort --steps 1000
  tapestry train grammar --layers 1 --heads 2 --seed 7
  tapestry train induction --snapshots 40
  tapestry train grammar --micro-batches 8
  tapestry train grammar --micro-batches 8 --ranks 2
  tapestry train book.txt --length 128 --steps 5000
  tapestry train book.txt --resume --steps 10000
  tapestry train book.txt --merges 512 --width 128 --save mine
  tapestry train book.txt --model stories260K --steps 200 --save mine
  tapestry train book.txt --model stories260K --rank 4 --save book.safetensors
  tapestry generate --model stories260K --adapters book.safetensors)";

inline constexpr const char* hand_examples =
    R"(Nobody trains this model. Each head does what its phrase says, and nothing else:
  previous word     looks at the word before
  first word        looks at the first word
  same word         looks at earlier copies of its word; without any, at itself
  what followed the same word    looks behind earlier copies of its word, which
                    a head "previous word" of an earlier layer has to prepare
A head copies the word that it finds, and what the last of these finds is what
the model predicts. With "matrices" instead of a phrase a head is made of the
files --query and --key, each with a row for every column of the residual stream
(tapestry/models/hand_made.hpp lists them); in CSV the first line names columns.
Prints the maps of the heads, the patterns they follow as analyze does, and how
the model does on held-out texts of the task, beside a learned one. With
--sharpness 20 all weight is on what is looked for, with 2 some, with 0 all keys
get the same. Every command opens the file with --checkpoint.

Examples:
  tapestry hand --head "0.0 previous word" \
    --head "1.0 what followed the same word"
  tapestry hand --head "0.0 previous word" \
    --head "1.0 what followed the same word" --sharpness 2 \
    --beside out/checkpoints/induction.safetensors --text "d a c f a"
  tapestry hand --head "0.0 matrices" --query W_Q.npy --key W_K.npy)";

inline constexpr const char* generate_examples =
    R"(Samples each new word from the model's probabilities, given the words before it
(the last ones, if there are more than it has positions). The prompt must fit.
The file says whether <bos> is put before it. A folder has config.json,
model.safetensors and a tokenizer; how fast it was is told on standard error.
Without --text, what is piped in is the prompt.

Examples:
  tapestry generate --checkpoint out/checkpoints/grammar.safetensors --count 5
  tapestry generate --checkpoint out/checkpoints/sort.safetensors \
    --text "d a c b =>" --temperature 0
  tapestry generate --checkpoint out/checkpoints/book.safetensors \
    --text "It was" --length 500 --temperature 0.8 --top-p 0.95
  tapestry generate --model stories15M --text "Once upon" --stop "The end")";

inline constexpr const char* convert_examples =
    R"(Writes config.json, model.safetensors and tokenizer.json, as Hugging Face lays a
model out: programs for such folders then open it, too. Read are the files
that llama2.c's run reads (version 0).

Example:
  tapestry convert stories15M.bin stories15M --tokenizer tokenizer.bin)";

inline constexpr const char* tokens_examples =
    R"(Prints the ids of a text, and their tokens: a blank as ␣, bytes that do not
print as <0xNN>. It also says which special tokens are put around a text. Read
are tokenizer.json, vocab.json with merges.txt, vocab.txt, and llama2.c's
tokenizer.bin. --train makes a tokenizer as GPT-2 has one, in a new folder.

Examples:
  tapestry tokens --model models/gpt2 "Once upon a time"
  tapestry tokens --model models/gpt2/tokenizer.json --why "don't"
  tapestry tokens --model models/gpt2 --count <book.txt
  tapestry tokens --train book.txt --merges 4096 --out my_tokenizer)";

inline constexpr const char* plot_examples =
    R"(Draws each tensor: a list of numbers as a line, a matrix as a heatmap, more axes
as a grid of heatmaps. Attention weights, whose rows sum to 1, are recognised:
their entropy and distance are drawn too, their mean as arrows and as a 3-D
chart. Any program can write such a file; numpy.save does.

Examples:
  tapestry plot out/weights/attention_weights.safetensors
  tapestry plot out/checkpoints/grammar.safetensors --tensor words.weight
  tapestry plot --model stories260K --tensor model.embed_tokens.weight
  tapestry plot weights.npy --out pictures --format svg)";

inline constexpr const char* tape_examples =
    R"(Prints the records of one calculation and draws them: each operation with its
shape, its value, and its gradient. With --step one record after the other
instead, beside the line of the program that made it: forward its value, back
through the backward pass what it adds to the gradient of each input. The first
number that is not finite comes with what led to it (masked makes a NaN). On a
terminal keys go on (Enter, right) and back (left, p), to the backward pass (b),
to that number (f) and out (q). --json FILE writes the steps, and --step FILE
steps through such a file, also one that a program of yours wrote with
write_tape_steps() (io/tape_file.hpp); its name has a dot or a slash.

Examples:
  tapestry tape
  tapestry tape attention --out pictures
  tapestry tape softmax --step
  tapestry tape masked --step --json steps.json)";

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

inline constexpr const char* compare_examples =
    R"(Runs the model of a folder (config.json and weights, as Hugging Face lays them
out) on the tokens that another program ran it on, and compares. EXPECTED holds
ids (length), and of what follows as much as there is: logits (length, words),
weights.0, weights.1 and so on, the attention weights of each layer (heads,
length, length), token_types, and whatever a Capture calls by its name, such as
embedding or blocks.0.output. It tells which is the first to depart, and tries
the known mistakes one by one: the layout of rotary positions, the kind of GELU,
the scale, the norms, masks and windows, and the parallel residual. It ends with
an error if anything departs.

Examples:
  tapestry compare pythia-70m expected.safetensors
  tapestry compare gpt2 expected.safetensors --verbose)";

inline constexpr const char* bits_examples =
    R"(Two checkpoints are compared number by number, as they are stored: the weights
and what the optimizer remembers. Snapshots beside both (train --snapshots), and
the files of two folders, come first, in the order of their steps. Printed is
the first step and tensor that differ, the first number of it, both values, and
how many 32-bit (or 16-bit) numbers lie between them (ulp: 1 is the next one).
It exits with 0 if all bits are the same, 1 if they differ, 2 if a file cannot
be read.

Examples:
  tapestry train copy --micro-batches 8 --checkpoint a.safetensors
  tapestry train copy --micro-batches 8 --checkpoint b.safetensors
  tapestry bits a.safetensors b.safetensors
  tapestry bits a.snapshots b.snapshots)";

inline constexpr const char* zoo_examples =
    R"(Each was computed or trained with one mistake: maps of weights, loss curves, and
Jacobians (which output depends on which input). The picture shows it beside the
same without the mistake. It takes about a second.

Examples:
  tapestry zoo
  tapestry zoo map1
  tapestry zoo map1 --answer)";

inline constexpr const char* doctor_examples =
    R"(Checks compiler, kernels, attention, threads, fonts and the folders for
results, and prints a line for each.

Example:
  tapestry doctor)";

}  // namespace tapestry::command
