#include "course/token_boxes.hpp"

#include <algorithm>

#include "tapestry/text/text_stream.hpp"

namespace tapestry {
namespace {

constexpr double first_row = 40, row_height = 38, box_height = 28, label_width = 170;

void draw_row(plot::Canvas& canvas, const plot::Rect& area, double y, const TokenRow& row) {
  const plot::TextStyle style{.size = 13, .align = plot::Align::centre, .subscripts = false};
  canvas.text({area.x, y + 19}, row.label, {.size = 13}, plot::Role::row_label);
  double x = area.x + label_width;
  for (std::size_t i = 0; i < row.tokens.size(); ++i) {
    const std::string words = shown_token(row.tokens[i]);
    const double width = plot::measure_text(words, style).width + 4;
    if (x + width > area.right()) return;
    const plot::Colour colour = plot::mix(plot::series_colour(i % 5), plot::white, 0.7);
    canvas.fill_rect({x, y, width, box_height}, colour, 3);
    canvas.text({x + width / 2, y + 19}, words, style, plot::Role::value);
    x += width + 2;
  }
}

}  // namespace

std::string shown_token(const std::string& bytes) {
  TextStream stream;
  std::string text = stream.add(bytes);
  text += stream.finish();
  std::replace(text.begin(), text.end(), ' ', '_');
  return text;
}

std::string shown_tokens(const std::vector<std::string>& tokens) {
  std::string text;
  for (const std::string& token : tokens) text += (text.empty() ? "" : "·") + shown_token(token);
  return text;
}

std::vector<std::string> token_bytes(const Tokenizer& tokenizer, const Indices& ids) {
  std::vector<std::string> tokens;
  for (const std::int32_t id : ids.values) tokens.push_back(tokenizer.bytes_of(id));
  return tokens;
}

void draw_tokens(plot::Canvas& canvas, const plot::Rect& area, const std::string& title,
                 const std::vector<TokenRow>& rows) {
  canvas.text({area.x, area.y + 18}, title, {.size = 16, .bold = true}, plot::Role::title);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    draw_row(canvas, area, area.y + first_row + row_height * double(i), rows[i]);
  }
}

}  // namespace tapestry
