// The options of the sub-commands that make models, texts and files.
#include "command_line.hpp"
#include "help.hpp"
#include "material.hpp"

namespace tapestry::command {
namespace {

void add_adapters(Command<TrainOptions>& c) {
  using Options = TrainOptions;
  c.number("--rank", &Options::rank, 1, most, "of it, train only low-rank adapters of this rank");
  c.name("--maps", &Options::maps, "the maps with adapters (query,value)")->type_name("NAMES");
  c.number("--alpha", &Options::alpha, 0, 1e6, "their scale is alpha / rank (the rank)");
  c.name("--adapters", &Options::adapters, "go on with these adapters")->type_name("FILE");
  c.app->add_flag("--whole", c.options->whole, "save a whole model, adapters merged into it");
}

void add_train(CLI::App& app) {
  using Options = TrainOptions;
  Command<Options> c(app, "train", "train a small transformer", train, train_examples);
  c.name("TASK", &Options::task, (task_names() + ", or a file").c_str());
  c.name("--checkpoint", &Options::checkpoint, "output (out/checkpoints/TASK.safetensors)")
      ->type_name("FILE");
  c.number("--steps", &Options::steps, 0, most_steps, "number of steps (500; induction: 1000)");
  c.number("--batch", &Options::batch, 1, most_batch, "texts per step (32; with tokens: 16)");
  c.number("--micro-batches", &Options::micro_batches, 1, most_batch,
           "parts of a batch, whose gradients are added in a fixed tree");
  c.number("--ranks", &Options::ranks, 1, 1024, "processes that share the micro-batches (1)");
  c.number("--rate", &Options::rate, 0, 1,
           "Adam's highest learning rate (0.003; all weights of --model: 0.0003)");
  c.number("--layers", &Options::layers, 1, 64, "number of layers (2)");
  c.number("--heads", &Options::heads, 1, 64, "heads per layer (4)");
  c.number("--width", &Options::width, 1, 1024, "d_model, a multiple of the heads (64)");
  c.number("--length", &Options::length, 8, most_length,
           "of a file's pieces: characters (64), or tokens (128)");
  c.number("--merges", &Options::merges, 0, 1000000, "learn tokens: byte pairs, so many merges");
  c.name("--model", &Options::model, "go on with this model, as Hugging Face lays it out")
      ->type_name("FOLDER");
  add_adapters(c);
  c.name("--save", &Options::save, "where the result goes (out/models/NAME, out/adapters/NAME)")
      ->type_name("PATH");
  c.number("--save-every", &Options::save_every, 1, most_steps, "steps between saves (100)");
  c.number("--snapshots", &Options::snapshots, 2, most_snapshots,
           "keep so many states of the model on its way, in NAME.snapshots");
  c.number("--seed", &Options::seed, 0, most, "random seed (1)");
  c.pictures("for the loss curve (out/plots)");
  c.app->add_flag("--attention-only", c.options->attention_only, "no feed-forward layers");
  c.app->add_flag("--divide-state", c.options->shard_state, "each rank keeps a part of Adam's");
  c.app->add_flag("--overwrite", c.options->overwrite, "replace an existing file");
  c.app->add_flag("--resume", c.options->resume, "continue the file's run with its options");
}

void add_hand(CLI::App& app) {
  using Options = HandOptions;
  Command<Options> c(app, "hand", "a model made by hand: heads from phrases or matrices", hand,
                     hand_examples);
  c.add("--head", &Options::heads,
        "\"0.0 previous word\", layer and head first; repeat it for more")
      ->required()
      ->expected(1)
      ->take_all()
      ->type_name("HEAD");
  c.name("--query", &Options::query, "W_Q of the head \"... matrices\", .npy or CSV")
      ->type_name("FILE");
  c.name("--key", &Options::key, "its W_K")->type_name("FILE");
  c.name("--value", &Options::value, "its W_V (the word read)")->type_name("FILE");
  c.name("--output", &Options::output, "its W_O (what it finds comes next)")->type_name("FILE");
  c.number("--sharpness", &Options::sharpness, 0, 1000, "score of a key looked for (20)");
  c.name("--task", &Options::task, (task_names() + ", or a file (induction)").c_str());
  c.number("--length", &Options::length, 8, most_length, "positions (as many as the task has)");
  c.add("--text", &Options::text, "the model's input (one of the task)");
  c.name("--beside", &Options::beside, "a learned checkpoint, scored on the same texts")
      ->type_name("FILE");
  c.name("--out", &Options::out, "the model (out/checkpoints/hand.safetensors)")->type_name("FILE");
  c.files();
}

void add_generate(CLI::App& app) {
  using Options = GenerateOptions;
  Command<Options> c(app, "generate", "generate text with a model", generate, generate_examples);
  CLI::Option* const file =
      c.name("--checkpoint", &Options::checkpoint, "the model's file")->type_name("FILE");
  c.name("--model", &Options::model, "or its folder, as Hugging Face lays it out")
      ->type_name("FOLDER")
      ->excludes(file);
  c.adapters();
  c.add("--text", &Options::text, "the prompt; -: from standard input");
  c.number("--length", &Options::length, 0, 100000, "most new words (20, 200 or 256)");
  c.number("--count", &Options::count, 1, 100000, "number of texts (1)");
  c.number("--temperature", &Options::temperature, 0, 1000, "0: always the likeliest word (1)");
  c.number("--top-k", &Options::top_k, 0, most, "only from the k likeliest words; 0: all");
  c.number("--top-p", &Options::top_p, 0, 1, "only likeliest words, up to this probability (1)");
  c.number("--repetition-penalty", &Options::repetition_penalty, 0, 1000,
           "above 1: words of the text become less likely (1)");
  c.add("--stop", &Options::stop, "ends the text; may be given more than once")
      ->expected(1)
      ->take_all()
      ->type_name("TEXT");
  c.app->add_flag("--probabilities", c.options->probabilities, "list each word's probability");
  c.number("--seed", &Options::seed, 0, most, "random seed (1)");
}

void add_convert(CLI::App& app) {
  Command<ConvertOptions> c(app, "convert", "a model of llama2.c as a folder for other programs",
                            convert, convert_examples);
  c.name("INPUT", &ConvertOptions::input, "the model's .bin file")->required();
  c.name("FOLDER", &ConvertOptions::folder, "the new folder")->required();
  c.name("--tokenizer", &ConvertOptions::tokenizer, "its tokenizer (tokenizer.bin beside INPUT)")
      ->type_name("FILE");
}

void add_tokens(CLI::App& app) {
  using Options = TokensOptions;
  Command<Options> c(app, "tokens", "a text as a model's tokens; new tokenizers", tokens,
                     tokens_examples);
  c.add("TEXT", &Options::text, "the text (standard input)");
  c.name("--model", &Options::model, "a tokenizer's file, or a folder with one")->type_name("PATH");
  c.app->add_flag("--why", c.options->why, "every step from the text to its tokens");
  c.app->add_flag("--count", c.options->count, "only how many tokens and bytes it has");
  c.name("--train", &Options::train, "learn byte-pair encoding from this text")->type_name("FILE");
  c.number("--merges", &Options::merges, 0, 1000000, "merges to learn (8192)");
  c.name("--out", &Options::out, "a new folder for what was learned")->type_name("FOLDER");
}

}  // namespace

void add_making_commands(CLI::App& app) {
  add_train(app);
  add_hand(app);
  add_generate(app);
  add_convert(app);
  add_tokens(app);
}

}  // namespace tapestry::command
