#pragma once

#include <string>
#include <vector>

namespace troupe::command {

/// A table for a terminal: cells of a row, columns as wide as their widest cell, two spaces
/// between; the last one runs on. Every row has as many cells as the first. Each line is indented
/// by two.
std::string text_table(const std::vector<std::vector<std::string>>& rows);

}  // namespace troupe::command
