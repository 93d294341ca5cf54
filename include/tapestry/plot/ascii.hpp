// Pictures made of text, for the terminal.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace tapestry::plot {

// A matrix with a word before every row and above every column:
//
//              the    cat    sat
//      the    0.21   0.50   0.29
//      cat    0.33   0.33   0.33
//
// `values` is rows × columns, row by row; the labels give the shape, one per row and column. Fits
// `width` columns of a terminal and 32 rows; a last line says what is left out. Throws Error when
// there are no labels or the number of values is not rows × columns.
[[nodiscard]] std::string matrix_with_words(std::span<const double> values,
                                            const std::vector<std::string>& row_labels,
                                            const std::vector<std::string>& column_labels,
                                            int digits = 2, int width = 80);

// The same for booleans: ✓ where `allowed` is true, ✗ where it is false.
[[nodiscard]] std::string check_table(const std::vector<bool>& allowed,
                                      const std::vector<std::string>& row_labels,
                                      const std::vector<std::string>& column_labels,
                                      int width = 80);

}  // namespace tapestry::plot
