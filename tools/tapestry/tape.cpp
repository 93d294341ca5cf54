// `tapestry tape`: what a small calculation records, printed, drawn, or stepped through.
#include "tapestry/tape.hpp"

#include <utility>
#include <vector>

#include "commands.hpp"
#include "course/tape_programs.hpp"
#include "findings.hpp"
#include "screen.hpp"
#include "tape_step.hpp"
#include "tapestry/error.hpp"
#include "tapestry/io/tape_file.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/pictures.hpp"
#include "tapestry/plot/numbers.hpp"
#include "tapestry/plot/svg.hpp"
#include "tapestry/unicode.hpp"

namespace tapestry::command {
namespace {

std::string numbers(const Tensor& x) {
  std::string text;
  for (const real value : x.values()) {
    text += (text.empty() ? "" : "  ") + plot::number_text(double{value}, 2);
  }
  return text;
}

// The diagram shows single numbers in digits; here small vectors and matrices, too.
plot::Diagram drawing(const Tape& record, const std::string& title) {
  plot::Diagram diagram = tape_diagram(record, title);
  const std::vector<Tape::Entry> entries = record.entries();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Tensor &value = entries[i].value, &gradient = entries[i].gradient;
    std::vector<std::string>& lines = diagram.boxes[i].lines;
    if (value.ndim() == 0 || !gradient.defined()) continue;
    const Index columns = value.size(-1);
    for (const auto& [name, x] : {std::pair{"value", value}, std::pair{"gradient", gradient}}) {
      lines.push_back(name);
      const Tensor rows = reshape(x, {x.numel() / columns, columns});
      for (Index row = 0; row < rows.size(0); ++row) {
        lines.push_back(numbers(slice(rows, 0, row, row + 1)));
      }
    }
  }
  return diagram;
}

void write_steps(const TapeSteps& steps, const Path& path) {
  if (path.empty()) return;
  write_tape_steps(path, steps);
  print("wrote %s\n", path.c_str());
}

void print_and_draw(const TapeOptions& options) {
  TapeProgram program(options.model);
  const std::string table = program.tape().table();
  const Gradients gradients = program.tape().backward(program.loss());
  const Path path = options.path("tape_" + options.model);
  plot::write_picture(plot::render(drawing(program.tape(), "The tape of " + program.name())), path);
  print("%s\n\n%s\n", program.formula().c_str(), table.c_str());
  print("loss = %.4f; the backward pass gives the gradients\n", double{program.loss().item()});
  for (const Parameter& input : program.inputs()) {
    print("d loss / d %s = %s\n", input.name.c_str(), to_string(gradients[input.value]).c_str());
  }
  print("\nwrote %s\n", path.c_str());
  write_steps(program.steps(), options.json);
}

}  // namespace

// A name with a dot or a slash is that of a file.
void tape(const TapeOptions& options) {
  check_files({options.json, {}});
  const bool is_file = options.model.find_first_of("./") != std::string::npos;
  if (is_file && !options.step) {
    throw Error(in_quotes(options.model) + " is a file: step through it with --step.");
  }
  if (!options.step) return print_and_draw(options);
  const TapeSteps steps =
      is_file ? read_tape_steps(options.model) : tape_program_steps(options.model);
  step_through(steps);
  write_steps(steps, options.json);
}

}  // namespace tapestry::command
