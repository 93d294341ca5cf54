#include "course/token_boxes.hpp"

#include "catch.hpp"
#include "tapestry/text/byte_pairs.hpp"

using namespace tapestry;

TEST_CASE("a token is shown with its blank, and without half a character", "[phase7][course]") {
  CHECK(shown_token(" the") == "_the");
  CHECK(shown_token("é") == "é");
  CHECK(shown_token("\xC3") == "\uFFFD");
  CHECK(shown_token("a\xA9") == "a\uFFFD");
  CHECK(shown_token("").empty());
}

TEST_CASE("tokens of a text are shown with a point between them", "[phase7][course]") {
  CHECK(shown_tokens({" the", "n", "\xC3"}) == "_the·n·\uFFFD");
  CHECK(shown_tokens({}).empty());
  const std::vector<BytePair> merges = {{" ", "t"}};
  const Tokenizer tokenizer = byte_pair_tokenizer(merges);
  CHECK(token_bytes(tokenizer, tokenizer.encode("é t")) ==
        std::vector<std::string>{"\xC3", "\xA9", " t"});
  CHECK(token_bytes(tokenizer, {}).empty());
}

TEST_CASE("tokens are boxes side by side that stay in their area", "[phase7][course]") {
  plot::Canvas canvas(400, 200);
  const plot::Rect area{10, 10, 380, 180};
  draw_tokens(canvas, area, "tokens",
              {{"short", {"a", " b"}}, {"long", std::vector<std::string>(100, "token")}});
  std::size_t boxes = 0, words = 0;
  std::vector<double> labels, lines;  // of text, from above
  double right = 0;
  for (const plot::Element& element : canvas.elements()) {
    if (const auto* box = std::get_if<plot::FilledRect>(&element.what)) {
      ++boxes;
      CHECK(area.contains({box->rect.right(), box->rect.y}));
      CHECK((box->rect.x > right || boxes == 3));  // the second row begins at the left again
      right = box->rect.right();
    }
    const auto* text = std::get_if<plot::Text>(&element.what);
    if (text == nullptr) continue;
    ++words;
    if (text->role == plot::Role::row_label) labels.push_back(text->at.y);
    if (text->role != plot::Role::value) continue;
    if (lines.empty() || text->at.y > lines.back()) lines.push_back(text->at.y);
  }
  CHECK(lines.size() == 2);
  CHECK(labels == lines);
  CHECK(boxes > 4);
  CHECK(boxes < 20);
  CHECK(words == boxes + 3);  // the title and two labels
}
