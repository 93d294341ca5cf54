#include "arguments.hpp"

#include "command_line.hpp"
#include "help.hpp"
#include "tapestry/version.hpp"

namespace tapestry::command {
namespace {

void add_plot(CLI::App& app) {
  Command<PlotOptions> c(app, "plot", "pictures of all tensors in a file", plot, plot_examples);
  CLI::Option* const file = c.name("FILE", &PlotOptions::file, "a .safetensors or .npy file");
  c.name("--model", &PlotOptions::model, "or a model's folder, as Hugging Face lays it out")
      ->type_name("FOLDER")
      ->excludes(file);
  c.name("--tensor", &PlotOptions::tensor, "only the tensor with this name");
  c.pictures("for the pictures (out/plots)");
}

void add_tape(CLI::App& app) {
  Command<TapeOptions> c(app, "tape", "draw or step through the tape of a small model", tape,
                         tape_examples);
  c.name("MODEL", &TapeOptions::model, "neuron, softmax, attention, masked, or a file (neuron)");
  c.app->add_flag("--step", c.options->step, "step by step, forward and backward");
  c.name("--json", &TapeOptions::json, "write all steps to this file")->type_name("FILE");
  c.pictures("for the picture (out/plots)");
}

void add_lab(CLI::App& app) {
  using Options = LabOptions;
  Command<Options> c(app, "lab", "compare and measure all variants of attention", lab,
                     lab_examples);
  c.add("--lengths", &Options::lengths, "sequence lengths, one table each (64,256,1024)")
      ->delimiter(',')
      ->expected(1, 16)
      ->check(CLI::Range(Index{1}, Index{65536}));
  c.number("--heads", &Options::heads, 1, 64, "number of heads (4)");
  c.number("--width", &Options::width, 1, 4096, "width of all heads together (128)");
  c.number("--batch", &Options::batch, 1, most_batch, "number of sequences (1)");
  c.number("--window", &Options::window, 0, 65536, "window of local attention, either side (32)");
  c.number("--threads", &Options::threads, 1, 256, "number of threads (OMP_NUM_THREADS, or all)");
  c.number("--repeats", &Options::repeats, 1, 1000, "runs, of which the median counts (5)");
  c.number("--seconds", &Options::seconds, 0, 3600, "skip runs that would take longer (5)");
  c.app->add_flag("--causal", c.options->causal, "causal attention");
}

void add_compare(CLI::App& app) {
  Command<CompareOptions> c(app, "compare", "where a model departs from another program, and why",
                            compare, compare_examples);
  c.name("FOLDER", &CompareOptions::folder, "the model's folder")->required();
  c.name("EXPECTED", &CompareOptions::expected, "a .safetensors file with ids and activations")
      ->required();
  c.app->add_flag("--verbose", c.options->verbose, "name the tensors that are passed over");
}

void add_bits(CLI::App& app) {
  Command<BitsOptions> c(app, "bits", "whether two runs made the same bits, and where they part",
                         bits, bits_examples);
  c.name("A", &BitsOptions::first, "a checkpoint, a snapshot, or a folder of them")->required();
  c.name("B", &BitsOptions::second, "the other one")->required();
}

void add_zoo(CLI::App& app) {
  Command<ZooOptions> c(app, "zoo", "pictures of broken models: what is wrong?", zoo, zoo_examples);
  c.name("NAME", &ZooOptions::name, "the one to draw; without a name all are listed");
  c.pictures("for the picture (out/plots)");
  c.app->add_flag("--answer", c.options->answer, "tell what is wrong, and how it can be seen");
}

}  // namespace

void add_commands(CLI::App& app) {
  app.formatter(std::make_shared<Help>());
  app.footer(app_examples);
  app.set_version_flag("--version", "tapestry " + version());
  add_asking_commands(app);
  add_making_commands(app);
  add_plot(app);
  add_tape(app);
  add_lab(app);
  add_compare(app);
  add_bits(app);
  add_zoo(app);
  CLI::App* check = app.add_subcommand("doctor", "check that this machine has everything needed");
  check->footer(doctor_examples);
  check->callback(doctor);
}

}  // namespace tapestry::command
