// Several ranks that do one job together: all headers of distributed/.
#pragma once

#include "tapestry/distributed/ranks.hpp"
#include "tapestry/distributed/ring_attention.hpp"
