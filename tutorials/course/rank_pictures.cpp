#include "course/rank_pictures.hpp"

#include <algorithm>

#include "tapestry/format.hpp"

namespace tapestry {
namespace {

constexpr double cell = 66, apart = 76;      // of a vector: the side, and from one to the next
constexpr double tile = 19;                  // its side
constexpr double bar_unit = 5.2, line = 34;  // of work: the length of a bar, and a rank's height

plot::Rect cell_at(plot::Point corner, std::size_t rank, std::size_t i) {
  return {corner.x + double(i) * apart, corner.y + double(rank) * apart, cell, cell};
}

void draw_cell(plot::Canvas& canvas, const plot::Rect& box, unsigned number, std::size_t ranks) {
  const double stripe = cell / double(ranks);
  for (std::size_t r = 0; r < ranks; ++r) {
    if ((number >> r & 1) == 0) continue;
    canvas.fill_rect({box.x + double(r) * stripe, box.y, stripe, cell}, plot::series_colour(r));
  }
  canvas.stroke_rect(box, {plot::theme::frame});
}

void draw_sum(plot::Canvas& canvas, plot::Point corner, const SumState& state) {
  canvas.text({corner.x, corner.y - 60}, state.title, {.size = 18, .bold = true});
  canvas.text({corner.x, corner.y - 34}, state.caption, {.colour = plot::theme::faded});
  for (std::size_t r = 0; r < state.vectors.size(); ++r) {
    for (std::size_t i = 0; i < state.vectors[r].size(); ++i) {
      draw_cell(canvas, cell_at(corner, r, i), unsigned(state.vectors[r][i]), state.vectors.size());
    }
    canvas.text({corner.x - 12, cell_at(corner, r, 0).centre().y}, "rank " + std::to_string(r),
                {.align = plot::Align::right, .vertical = plot::VerticalAlign::middle});
  }
  for (const Sent& one : state.sent) {
    for (std::size_t i = one.first; i < one.last; ++i) {
      const plot::Point from = cell_at(corner, std::size_t(one.from), i).centre();
      const plot::Point to = cell_at(corner, std::size_t(one.to), i).centre();
      canvas.arrow(from, to, {plot::white, 7}, 16);
      canvas.arrow(from, to, {plot::theme::ink, 3}, 13);
    }
  }
}

}  // namespace

SumState state_after(const std::string& title, const std::vector<SumRecord>& ranks,
                     std::size_t step) {
  const std::size_t last = ranks.front().steps.size() - 1, at = std::min(step, last);
  SumState state{title, formatted("step %zu of %zu", at, last), {}, {}};
  if (step >= last) state.caption += ": each rank has the sum";
  for (const SumRecord& rank : ranks) {
    const std::vector<Sent>& sent = rank.steps[at].sent;
    state.vectors.push_back(rank.steps[at].after);
    if (step <= last) state.sent.insert(state.sent.end(), sent.begin(), sent.end());
  }
  return state;
}

plot::Canvas sums_over_ranks(const std::vector<SumState>& states) {
  plot::Canvas canvas(1200, 430, 1);
  plot::Point corner{80, 96};
  for (const SumState& state : states) {
    draw_sum(canvas, corner, state);
    corner.x += 395;
  }
  canvas.text({80, 418},
              "A cell is a quarter of the vector; its stripes are the ranks whose numbers are in "
              "it. Arrows: what was just sent.",
              {.colour = plot::theme::faded});
  return canvas;
}

void draw_tiles(plot::Canvas& canvas, plot::Point corner, const std::vector<int>& ranks) {
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    for (std::size_t j = 0; j < ranks.size(); ++j) {
      const plot::Rect box{corner.x + double(j) * tile, corner.y + double(i) * tile, tile, tile};
      canvas.fill_rect(box,
                       j <= i ? plot::series_colour(std::size_t(ranks[i])) : plot::theme::masked);
      canvas.stroke_rect(box, {plot::white});
    }
  }
  const double bottom = corner.y + tile * double(ranks.size());
  canvas.text({corner.x, bottom + 20}, "tiles of keys", {.colour = plot::theme::faded});
  canvas.text({corner.x - 10, bottom}, "tiles of queries",
              {.colour = plot::theme::faded, .angle = 90});
}

void draw_work(plot::Canvas& canvas, plot::Point corner, const std::vector<std::vector<int>>& work,
               int most) {
  for (std::size_t r = 0; r < work.front().size(); ++r) {
    const double y = corner.y + double(r) * line;
    const plot::Colour colour = plot::series_colour(r);
    canvas.text({corner.x - 8, y + 18}, "rank " + std::to_string(r), {.align = plot::Align::right});
    double x = corner.x;
    for (const std::vector<int>& step : work) {
      const plot::Rect bar{x, y, bar_unit * step[r], 26};
      canvas.fill_rect(bar, colour);
      if (step[r] > 0) {
        canvas.text({bar.centre().x, y + 18}, std::to_string(step[r]),
                    {.colour = plot::readable_on(colour), .align = plot::Align::centre});
      }
      x += bar_unit * most + 4;
    }
  }
}

}  // namespace tapestry
