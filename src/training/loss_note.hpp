// What stands behind a progress line of training.
#pragma once

#include <string>

namespace tapestry {

// "loss 1.234 (guessing 4.605)"; without a baseline (0), the loss alone.
std::string loss_note(double loss, double baseline_loss);

}  // namespace tapestry
