#include "distributed/banner.hpp"

#include <algorithm>

#include "tapestry/format.hpp"

namespace tapestry {
namespace {

// "[machine:1234] ...", as Open MPI begins its lines.
bool has_origin(const std::string& line) {
  const std::size_t end = line.find(']'), colon = line.rfind(':', end);
  if (!line.starts_with('[') || end == line.npos || colon == line.npos) return false;
  int process{};
  return read_number(std::string_view(line).substr(colon + 1, end - colon - 1), process);
}

// The number behind these words, which may be followed by blanks.
std::optional<int> number_after(const std::string& text, const std::string& words) {
  std::size_t at = text.find(words);
  if (at == text.npos) return {};
  at = std::min(text.find_first_not_of(' ', at + words.size()), text.size());
  const std::string_view rest = std::string_view(text).substr(at);
  int number{};
  if (!read_number(rest.substr(0, rest.find_first_not_of("0123456789")), number)) return {};
  return number;
}

// Open MPI 5 breaks its lines anywhere.
std::string in_one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

}  // namespace

bool Banner::is_of_rank(const std::string& line) {
  begun_ = begun_ || line.starts_with("--------------------") || line.starts_with("mpirun") ||
           line.starts_with("prterun");
  if (!begun_ && !has_origin(line)) return true;
  text_ += line + '\n';
  return false;
}

// "process rank 1 with PID ...", or "Process name: [[1234,1],2]", in version 5 "[prterun-x@1,2]".
std::optional<int> Banner::rank() const {
  if (const auto rank = number_after(in_one_line(text_), "process rank ")) return rank;
  const std::size_t name = text_.find("Process name:");
  if (name == text_.npos) return {};
  const std::string line = text_.substr(name, text_.find('\n', name) - name);
  const std::size_t comma = line.rfind(',');
  return comma == line.npos ? std::nullopt : number_after(line.substr(comma), ",");
}

std::string Banner::how() const {
  if (const auto signal = number_after(in_one_line(text_), "on signal ")) {
    return "was killed by signal " + std::to_string(*signal);
  }
  if (const auto status = number_after(text_, "Exit code:")) {
    return "ended with status " + std::to_string(*status);
  }
  return "has ended";
}

}  // namespace tapestry
