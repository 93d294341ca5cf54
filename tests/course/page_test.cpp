// The page of step 37.
#include "course/page.hpp"

#include "catch.hpp"
#include "plot/snapshot.hpp"
#include "plot/words.hpp"

using namespace tapestry;

TEST_CASE("cards stand in three columns and four rows, and leave their room inside",
          "[phase3][course]") {
  plot::Canvas canvas = page();
  const plot::Rect one = card(canvas, 0, 0, 0), wide = card(canvas, 0, 1, 1, 2),
                   last = card(canvas, 3, 2, 4);
  CHECK(one.width > 300);
  CHECK(wide.width > 2 * one.width);
  CHECK(wide.x + wide.width == Approx(last.x + last.width));
  CHECK(last.x - one.x == Approx(2 * (wide.x - one.x)));
  CHECK(last.width == Approx(one.width));
  CHECK(last.height == Approx(one.height));
  CHECK(last.y + last.height < canvas.height());
  CHECK(plot::trouble(canvas) == "");
}

TEST_CASE("the page of step 37 looks as it did", "[phase3][course]") {
  plot::Canvas canvas = page();
  // With a line around the room inside each card.
  for (const plot::Rect& room :
       {card(canvas, 0, 0, 0), card(canvas, 0, 1, 1, 2), card(canvas, 1, 0, 2),
        card(canvas, 1, 1, 3), card(canvas, 3, 2, 4)}) {
    canvas.stroke_rect(room, {});
  }
  plot::check_snapshot("page", 0xE42C980B5DB89292u, canvas);
}
