// What is done to a model while it reads one text, so that a page can show the reading without a
// part, with a weight that is held, or with a place as it was in another text.
#pragma once

#include <string>
#include <vector>

#include "subject.hpp"
#include "tapestry/analysis/cuts.hpp"
#include "tapestry/capture.hpp"

namespace tapestry::command {

// One weight of a head: it is set to `weight`, and the others of its row are scaled so that the row
// still sums to 1; if they are all 0, they stay so.
struct Held {
  ModelPart link;
  double weight = 0;  // 0 to 1
};

// What comes from another text, which has as many words: the output of a head at all positions, or
// the residual stream at one position, before layer `layer` or, if that is the number of layers,
// behind the last one.
struct Patched {
  enum class Place { head, stream } place = Place::head;
  Index layer = 0, head = 0, position = 0;
};

struct Changes {
  std::vector<ModelPart> cut = {};  // as in analysis/cuts.hpp, all together
  std::vector<Held> held = {};
  std::vector<Patched> patched = {};
  std::string patched_from = {};  // the other text

  bool empty() const { return cut.empty() && held.empty() && patched.empty(); }
};

// "1.0": a head; "1@4": the residual stream before layer 1 at position 4. Throws Error, with both
// forms, for another text.
Patched parse_patched(const std::string& text);

// From now on, while the capture is active, the model reads the text with these changes, and what
// is captured shows them. Weights must be stored. Throws Error for a part, link or place that the
// model or the text has not, a weight outside of 0 to 1, another text of another length, and a
// model that is a single head.
void change(Capture& seen, const Subject& subject, const Reading& reading, const Changes& changes);

}  // namespace tapestry::command
