// Tokens as they can be shown, in a line of text or as boxes of a picture.
#pragma once

#include <string>
#include <vector>

#include "tapestry/plot/canvas.hpp"

namespace tapestry {

// The bytes of a token as text: a blank is "_", bytes that are no whole character are U+FFFD.
std::string shown_token(const std::string& bytes);

struct TokenRow {
  std::string label;
  std::vector<std::string> tokens;  // bytes
};

// Each row is its label and a box for each token, which ends at the right edge of `area`.
void draw_tokens(plot::Canvas& canvas, const plot::Rect& area, const std::string& title,
                 const std::vector<TokenRow>& rows);

}  // namespace tapestry
