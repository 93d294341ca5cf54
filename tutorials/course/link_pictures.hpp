// How step 36 shows what it measures of the links of one text: as a table, and as a picture.
#pragma once

#include <string>
#include <vector>

#include "course/one_text.hpp"
#include "tapestry/plot/canvas.hpp"
#include "tapestry/text/vocabulary.hpp"

namespace tapestry {

// A link from the last query to a key, in one head of layer 1.
struct MeasuredLink {
  double weight, share, gradient;
  Effect cut;  // what is lost without it; also of another letter, drawn at random
};

struct MeasuredText {
  Words reads;                                        // "<bos>" and all letters but the last
  std::string says;                                   // the last
  std::vector<std::vector<MeasuredLink>> links = {};  // by head and key
  std::vector<Effect> cut_in_all = {};                // by key: without the link in all four heads
};

// A line for each key of a head, below two lines that name the columns.
std::string table_of_links(const MeasuredText& text, std::size_t head);

// A map for each of four heads, and in it a row for each measure, divided by its largest size,
// which is part of the row's name. (A row whose largest size is below `least` is divided by that,
// and stays pale.) Throws Error unless there are as many links as keys.
plot::Canvas maps_of_links(const MeasuredText& text, double least);

}  // namespace tapestry
