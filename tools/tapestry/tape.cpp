// `tapestry tape`: what a small calculation records, printed and drawn.
#include "tapestry/tape.hpp"

#include <cmath>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "screen.hpp"
#include "tapestry/closest.hpp"
#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/pictures.hpp"
#include "tapestry/plot/numbers.hpp"
#include "tapestry/plot/svg.hpp"
#include "tapestry/unicode.hpp"

namespace tapestry::command {
namespace {

// Each labels its results and returns the loss.
using Calculation = Tensor (*)(Tape& tape, const std::vector<Tensor>& inputs);

struct Model {
  const char* name;
  const char* formula;
  Parameters inputs;
  Calculation calculate;
};

Tensor labelled(Tape& tape, const Tensor& x, const char* name) {
  tape.label(x, name);
  return x;
}

Tensor neuron(Tape& tape, const std::vector<Tensor>& in) {
  const Tensor product = labelled(tape, in[0] * 2, "w x");
  const Tensor y = labelled(tape, tanh(product + in[1]), "y");
  const Tensor difference = labelled(tape, y - 0.2, "y - target");
  return labelled(tape, difference * difference, "loss");
}

Tensor softmax_of_three(Tape& tape, const std::vector<Tensor>& in) {
  const Tensor up = labelled(tape, exp(in[0]), "exp(s)");
  const Tensor total = labelled(tape, sum(up), "sum");
  const Tensor weights = labelled(tape, up / total, "weights");
  return labelled(tape, -log(squeeze(slice(weights, 0, 2, 3), 0)), "loss");
}

Tensor one_head(Tape& tape, const std::vector<Tensor>& in) {
  const Tensor x({3, 2}, {1, 0, 0, 1, 1, 1});
  const Tensor q = labelled(tape, matmul(x, in[0]), "Q"), k = labelled(tape, matmul(x, in[1]), "K");
  const Tensor v = labelled(tape, matmul(x, in[2]), "V");
  const Tensor scores = labelled(tape, matmul(q, transpose(k)) / std::sqrt(2.0), "scores");
  const Tensor weights = labelled(tape, softmax(scores), "weights");
  const Tensor output = labelled(tape, matmul(weights, v), "output");
  return labelled(tape, mse(output, Tensor({3, 2}, {2, -1, -1, 2, 0, 0})), "loss");
}

std::vector<Model> models() {
  return {{"neuron",
           "loss = (tanh(w x + b) - 0.2)^2, where x = 2",
           {{"w", Tensor(0.5)}, {"b", Tensor(-0.3)}},
           neuron},
          {"softmax",
           "loss = -ln(exp(s_2) / sum_j exp(s_j)): three scores, the last one wanted",
           {{"s", Tensor({3}, {1, -0.5, 0.5})}},
           softmax_of_three},
          {"attention",
           "three words of width 2: mse(softmax(Q K^T / sqrt(2)) V, target)",
           {{"W_Q", Tensor({2, 2}, {1, 0.5, -0.5, 1})},
            {"W_K", Tensor({2, 2}, {0.5, -1, 1, 0.5})},
            {"W_V", Tensor({2, 2}, {1, 0, 0.5, 1})}},
           one_head}};
}

Model chosen(const std::string& name) {
  std::vector<std::string> names;
  for (Model& model : models()) {
    if (model.name == name) return std::move(model);
    names.push_back(model.name);
  }
  const std::string similar = closest(name, names);
  throw Error(in_quotes(name) + " is not a model; there are neuron, softmax and " + "attention." +
              (similar.empty() ? "" : " Did you mean " + similar + "?"));
}

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
      const Tensor rows = reshape(x, {x.count() / columns, columns});
      for (Index row = 0; row < rows.size(0); ++row) {
        lines.push_back(numbers(slice(rows, 0, row, row + 1)));
      }
    }
  }
  return diagram;
}

}  // namespace

void tape(const TapeOptions& options) {
  const Model model = chosen(options.model);
  std::vector<Tensor> inputs;
  for (const Parameter& input : model.inputs) inputs.push_back(input.value);
  Tape record(model.inputs, Tape::Keep::values);
  const Tensor loss = model.calculate(record, inputs);
  const std::string table = record.table();
  const Gradients gradients = record.backward(loss);
  const Path path = options.path("tape_" + options.model);
  plot::write_picture(plot::render(drawing(record, std::string("The tape of ") + model.name)),
                      path);
  print("%s\n\n%s\n", model.formula, table.c_str());
  print("loss = %.4f; the backward pass gives the gradients\n", double{loss.item()});
  for (const Parameter& input : model.inputs) {
    print("d loss / d %s = %s\n", input.name.c_str(), to_string(gradients[input.value]).c_str());
  }
  print("\nwrote %s\n", path.c_str());
}

}  // namespace tapestry::command
