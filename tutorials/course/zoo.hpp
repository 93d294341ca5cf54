// A zoo of broken models: each was really computed or trained with one mistake, and is drawn beside
// the same without it. Their names do not betray what is wrong; the answers do.
#pragma once

#include <string>
#include <vector>

#include "tapestry/plot/canvas.hpp"
#include "tapestry/tensor.hpp"
#include "tapestry/text/vocabulary.hpp"

namespace tapestry {

// What is drawn of a case: weights (maps, queries, keys), the losses (steps) of a training, or
// Jacobian norms (outputs, inputs). A training ends early where its loss is no number any more.
enum class ZooKind { map, loss, jacobian };

struct ZooPair {
  Tensor broken, right;  // without the mistake, everything else is the same
};

struct ZooCase {
  std::string name;  // map1, loss1, jacobian1, ...
  ZooKind kind;
  std::string question;
  std::string mistake;  // what was done
  std::string sign;     // how the picture shows it
  Words words;          // of the rows and columns; none for losses
  ZooPair (*compute)();
};

// All of them: maps, losses, Jacobians. The same numbers on every machine, but for rounding.
std::vector<ZooCase> zoo();

std::vector<ZooCase> zoo_maps();
std::vector<ZooCase> zoo_losses();
std::vector<ZooCase> zoo_jacobians();

// What the curves of loss3 and loss4 do not tell. In loss3: the largest change of a number in the
// first step, over the learning rate.
double zoo_first_step(bool broken);

// In loss4, with the mistake, over all steps whose logits are numbers.
struct ZooEnd {
  Index steps;           // so many of them
  double largest_logit;  // exp of one above 88 is no number
  double least_share;    // that softmax gives to a target
};
ZooEnd zoo_end();

// The broken model at the left, the right one at the right; of losses, both curves in one chart.
plot::Canvas zoo_picture(const ZooCase& one, const ZooPair& pair);

}  // namespace tapestry
