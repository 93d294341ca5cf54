// A tape as a graph, for Graphviz.
#include <algorithm>

#include "tapestry/tape.hpp"
#include "tapestry/unicode.hpp"

namespace tapestry {
namespace {

// A label escaped for Graphviz, which interprets \" and \\ between quotes, and HTML's &names;.
std::string escaped(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t bytes = code_point_bytes(text);
    const char first = text.front();
    const auto code = static_cast<unsigned char>(first);  // a char has a sign on some machines only
    if (first == '"' || first == '\\') {
      result += {'\\', first};
    } else if (first == '&') {
      result += "&amp;";
    } else if (bytes == 0 || code < ' ' || code == 0x7F) {
      result += '?';
    } else {
      result += text.substr(0, bytes);
    }
    text.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  return result;
}

}  // namespace

std::string Tape::dot() const {
  std::string text = "digraph tape {\n  rankdir=LR;\n  node [shape=box, style=filled, fillcolor=";
  text += "\"#f3f6fa\"];\n";
  std::size_t number = 0;
  for (const Entry& entry : entries()) {
    const std::string name = std::to_string(number++);
    std::string label = escaped(entry.label);
    if (!label.empty()) label += "\\n";
    text += "  " + name + " [label=\"" + label + entry.operation + "\\n" + to_string(entry.shape) +
            "\"" + (entry.operation == "watched" ? ", fillcolor=\"#fff4e6\"" : "") + "];\n";
    for (const std::size_t input : entry.inputs) {
      text += "  " + std::to_string(input) + " -> " + name + ";\n";
    }
  }
  return text + "}\n";
}

}  // namespace tapestry
