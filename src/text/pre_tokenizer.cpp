#include "text/pre_tokenizer.hpp"

#include <utility>

#include "text/unicode_classes.hpp"

namespace tapestry {
namespace {

using Kind = PreTokenizerStep::Kind;

struct Part {
  std::size_t begin, end;
  bool match;
};

// Consecutive parts, without gaps; `add` leaves out empty ones.
class Parts {
 public:
  void add(std::size_t end, bool match) {
    if (end > end_) parts_.push_back({end_, end, match});
    end_ = end;
  }
  const std::vector<Part>& all() const { return parts_; }

 private:
  std::vector<Part> parts_;
  std::size_t end_ = 0;
};

// A match is each character with `wanted(point)`.
template <class Wanted>
Parts characters(std::string_view text, Wanted wanted) {
  Parts parts;
  for (std::size_t at = 0; at < text.size();) {
    const Character next = first_character(text.substr(at));
    if (wanted(next.point)) {
      parts.add(at, false);
      parts.add(at + next.bytes, true);
    }
    at += next.bytes;
  }
  parts.add(text.size(), false);
  return parts;
}

// \w+|[^\w\s]+
Parts words(std::string_view text) {
  const auto kind = [](char32_t point) {
    return is_word_character(point) ? 'w' : is_blank(point) ? ' ' : 'o';
  };
  Parts parts;
  char last = ' ';
  for (std::size_t at = 0; at < text.size();) {
    const Character next = first_character(text.substr(at));
    const char now = kind(next.point);
    if (now != last) parts.add(at, last != ' ');
    last = now;
    at += next.bytes;
  }
  parts.add(text.size(), last != ' ');
  return parts;
}

Parts literal(std::string_view text, std::string_view wanted) {
  Parts parts;
  std::size_t from = 0;
  for (std::size_t at; (at = text.find(wanted, from)) != text.npos; from = at + wanted.size()) {
    parts.add(at, false);
    parts.add(at + wanted.size(), true);
  }
  parts.add(text.size(), false);
  return parts;
}

Parts by_pattern(const SplitPattern& pattern, std::string_view text) {
  Parts parts;
  for (std::size_t at = 0; at < text.size();) {
    at = piece_end(pattern, text, at);
    parts.add(at, true);
  }
  return parts;
}

Parts parts_of(const PreTokenizerStep& step, std::string_view text) {
  switch (step.kind) {
    case Kind::white_space:
      return words(text);
    case Kind::white_space_words:
      return characters(text, is_blank);
    case Kind::punctuation:
      return characters(text, is_punctuation);
    case Kind::digits:
      return characters(text, is_number);
    default:
      return step.pattern ? by_pattern(*step.pattern, text) : literal(text, step.text);
  }
}

// Does a part belong to the piece before it?
bool joins(Delimiters delimiters, bool match, bool previous_match) {
  switch (delimiters) {
    case Delimiters::contiguous:
      return match == previous_match;
    case Delimiters::merged_with_previous:
      return match && !previous_match;
    case Delimiters::merged_with_next:
      return !match && previous_match;
    case Delimiters::removed:
    case Delimiters::isolated:
      break;
  }
  return false;
}

// Appends the pieces that the parts make, to those that were there.
void join(std::string_view text, const std::vector<Part>& parts, const PreTokenizerStep& step,
          std::vector<std::string_view>& views) {
  const std::size_t first = views.size();
  bool previous_match = false;
  for (const Part& part : parts) {
    const bool match = part.match != step.inverted;
    if (match && step.delimiters == Delimiters::removed) continue;
    const std::string_view view = text.substr(part.begin, part.end - part.begin);
    if (views.size() > first && joins(step.delimiters, match, previous_match)) {
      views.back() = {views.back().data(), views.back().size() + view.size()};
    } else {
      views.push_back(view);
    }
    previous_match = match;
  }
}

// The text with the step's changes before it is cut.
std::string_view prepared(const PreTokenizerStep& step, std::string_view text, bool at_start,
                          Pieces& pieces) {
  using Prepend = PreTokenizerStep::Prepend;
  if (step.kind == Kind::byte_level && step.prefix_space && !text.starts_with(' ')) {
    return pieces.changed.emplace_back(" ").append(text);
  }
  if (step.kind != Kind::metaspace) return text;
  std::string changed;
  for (const char c : text) changed += c == ' ' ? step.text : std::string(1, c);
  const bool wanted =
      step.prepend == Prepend::always || (step.prepend == Prepend::first && at_start);
  if (wanted && !changed.starts_with(step.text)) changed.insert(0, step.text);
  return pieces.changed.emplace_back(std::move(changed));
}

}  // namespace

void pre_tokenize(const PreTokenizerStep& step, std::string_view text, bool at_start,
                  Pieces& pieces) {
  text = prepared(step, text, at_start, pieces);
  const bool whole =
      step.kind == Kind::byte_level ? !step.pattern : step.kind == Kind::metaspace && !step.cut;
  if (whole) {
    pieces.views.push_back(text);
  } else if (step.kind == Kind::byte_level) {
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = piece_end(*step.pattern, text, at);
      pieces.views.push_back(text.substr(at, end - at));
      at = end;
    }
  } else {
    join(text, parts_of(step, text).all(), step, pieces.views);
  }
}

}  // namespace tapestry
