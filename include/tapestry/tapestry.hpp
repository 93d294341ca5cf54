// Everything that a program on top of the library uses.
#pragma once

#include "tapestry/attention.hpp"
#include "tapestry/error.hpp"
#include "tapestry/gradcheck.hpp"
#include "tapestry/machine.hpp"
#include "tapestry/mask.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/random.hpp"
#include "tapestry/tape.hpp"
#include "tapestry/tensor.hpp"
