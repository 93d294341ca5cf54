// Catch2, whichever version is installed: 2 (one header) or 3 (a library).
// Tests use what both have: TEST_CASE, SECTION, REQUIRE, CHECK, REQUIRE_THROWS_AS, INFO, CAPTURE,
// Approx.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif
