#pragma once
// Text tables, for the commands that print lists.

#include <string>
#include <vector>

namespace troupe::command {

/// A table for a terminal from rows of cells. A column is as wide as its widest cell, columns are
/// two spaces apart, and the last column is not padded. Every row must have as many cells as the
/// first. Each line is indented by two spaces. A cell that is longer than `width_max` goes on in
/// its column on the next line, and is broken at spaces only.
std::string text_table(const std::vector<std::vector<std::string>>& rows,
                       std::size_t width_max = std::string::npos);

}  // namespace troupe::command
