// Tokens as they can be shown, in a line of text or as boxes of a picture.
#pragma once

#include <string>
#include <vector>

#include "tapestry/plot/canvas.hpp"
#include "tapestry/text/tokenizer.hpp"

namespace tapestry {

// The bytes of a token as text: a blank is "_", bytes that are no whole character are U+FFFD.
std::string shown_token(const std::string& bytes);

// Several of them, with a point between two.
std::string shown_tokens(const std::vector<std::string>& tokens);

// The bytes of each of these ids, as what stands within a text. Throws Error for one without a
// token.
std::vector<std::string> token_bytes(const Tokenizer& tokenizer, const Indices& ids);

struct TokenRow {
  std::string label;
  std::vector<std::string> tokens;  // bytes
};

// Each row is its label and a box for each token, which ends at the right edge of `area`.
void draw_tokens(plot::Canvas& canvas, const plot::Rect& area, const std::string& title,
                 const std::vector<TokenRow>& rows);

}  // namespace tapestry
