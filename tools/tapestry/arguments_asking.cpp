// The options of the sub-commands that ask a model.
#include "command_line.hpp"
#include "help.hpp"
#include "tapestry/analysis/patterns.hpp"

namespace tapestry::command {
namespace {

void add_analyze(CLI::App& app) {
  Command<AnalyzeOptions> c(app, "analyze", "attention weights and patterns of a model on a text",
                            analyze, analyze_examples);
  c.model();
  c.number("--layer", &AnalyzeOptions::layer, 0, most, "only this layer, counted from 0");
  c.number("--head", &AnalyzeOptions::head, 0, most, "only this head, counted from 0");
  c.add("--pattern", &AnalyzeOptions::pattern, "of several heads this pattern: induction, ...")
      ->type_name("NAME")
      ->check([](const std::string& name) {
        std::string names;
        for (const Pattern pattern : all_patterns) {
          if (to_string(pattern) == name) return std::string();
          names += (names.empty() ? "" : ", ") + to_string(pattern);
        }
        return in_quotes(name) + " is not a pattern; there are " + names;
      });
  c.name("--table", &AnalyzeOptions::table, "write the numbers of the heads to this file, as CSV")
      ->type_name("FILE");
  c.pictures("for the pictures (out/plots)");
}

void add_why(CLI::App& app) {
  Command<WhyOptions> c(app, "why", "all the arithmetic of one attention weight", why,
                        why_examples);
  c.model();
  c.add("--query", &WhyOptions::query, "the query word: sat, or the@4")->required();
  c.add("--key", &WhyOptions::key, "the key word")->required();
  c.number("--layer", &WhyOptions::layer, 0, most, "the layer (0)");
  c.number("--head", &WhyOptions::head, 0, most, "the head (0)");
}

void add_attribute(CLI::App& app) {
  Command<AskOptions> c(app, "attribute", "which heads write a token, and which write against it",
                        attribute, attribute_examples);
  c.question(false);
  c.texts("many texts, one a line: TEXT, or with tabs TEXT, TOKEN, OTHER", {"--text"});
}

void add_cut(CLI::App& app) {
  Command<CutOptions> c(app, "cut", "what a model loses without a head, layer, link or position",
                        cut, cut_examples);
  c.add("PART", &CutOptions::parts, "2.3, 2.attention, 2.mlp, 2.3:7>4, @5; none: each alone");
  c.question(false);
  c.texts("many texts, one a line: TEXT, or with tabs TEXT, TOKEN, OTHER", {"--text"});
  c.number("--draws", &CutOptions::draws, 1, 10000, "sets of parts cut at random (20)");
  c.number("--seed", &CutOptions::seed, 0, most, "random seed (1)");
}

void add_patch(CLI::App& app) {
  Command<PatchOptions> c(app, "patch", "which places of a text make the answer of another text",
                          patch, patch_examples);
  c.question(false);
  c.add("--from", &PatchOptions::from, "the text that places are taken from");
  c.texts("many pairs, one a line, with tabs: FROM, TEXT, or FROM, TEXT, TOKEN, OTHER",
          {"--text", "--from"});
  c.number("--layer", &PatchOptions::layer, 0, most, "try the links of this layer, too");
}

void add_lens(CLI::App& app) {
  Command<LensOptions> c(app, "lens", "what a model would say after each layer", lens,
                         lens_examples);
  c.question(true);
  c.name("--fit", &LensOptions::fit, "fit a map for each layer on this text")->type_name("FILE");
}

void add_circuit(CLI::App& app) {
  Command<CircuitOptions> c(app, "circuit", "what a head does by its weights alone", circuit,
                            circuit_examples);
  c.model(false);
  c.number("--layer", &CircuitOptions::layer, 0, most, "the layer (0)");
  c.number("--head", &CircuitOptions::head, 0, most, "the head (0)");
  c.add("--from", &CircuitOptions::from, "keys as this earlier head writes them: 0.3")
      ->type_name("HEAD");
  c.files();
  c.pictures("for the pictures (out/plots)");
}

void add_explore(CLI::App& app) {
  using Options = ExploreOptions;
  Command<Options> c(app, "explore", "a page for the browser that shows what a model did", explore,
                     explore_examples);
  c.name("MODEL", &Options::input, "a checkpoint, or a folder of a model")->required();
  c.name("--adapters", &Options::adapters, "low-rank adapters beside that folder")
      ->type_name("FILE");
  c.add("--text", &Options::texts, "a text that it reads; may be given more than once")
      ->expected(1)
      ->take_all();
  c.add("--beside", &Options::beside, "another model, untrained, or none (untrained)")
      ->expected(1)
      ->take_all()
      ->type_name("MODEL");
  c.name("--out", &Options::out, "the page (out/explorer/NAME.html)")->type_name("FILE");
  c.app->add_flag("--recorded", c.options->recorded, "without the engine of make explorer");
}

}  // namespace

void add_asking_commands(CLI::App& app) {
  add_analyze(app);
  add_why(app);
  add_attribute(app);
  add_cut(app);
  add_patch(app);
  add_lens(app);
  add_circuit(app);
  add_explore(app);
}

}  // namespace tapestry::command
