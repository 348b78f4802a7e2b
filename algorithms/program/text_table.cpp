#include "algorithms/program/text_table.hpp"

#include <algorithm>

namespace troupe::command {

namespace {

/// The lines of a cell, each with as many words as `width_max` has room for, and at least one.
std::vector<std::string> lines_of(const std::string& cell, std::size_t width_max) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  while (cell.size() - begin > width_max) {
    auto end = cell.rfind(' ', begin + width_max);
    if (end == cell.npos || end <= begin) end = cell.find(' ', begin + width_max);
    if (end == cell.npos) break;
    lines.push_back(cell.substr(begin, end - begin));
    begin = end + 1;
  }
  lines.push_back(cell.substr(begin));
  return lines;
}

}  // namespace

std::string text_table(const std::vector<std::vector<std::string>>& rows, std::size_t width_max) {
  std::vector<std::vector<std::string>> lines;  // as the rows, with one line in each cell
  for (const auto& row : rows) {
    const auto first = lines.size();
    for (std::size_t i = 0; i < row.size(); ++i) {
      const auto cell = lines_of(row[i], width_max);
      lines.resize(std::max(lines.size(), first + cell.size()),
                   std::vector<std::string>(row.size()));
      for (std::size_t k = 0; k < cell.size(); ++k) lines[first + k][i] = cell[k];
    }
  }
  std::vector<std::size_t> widths;
  for (const auto& line : lines) {
    widths.resize(std::max(widths.size(), line.size()));
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  std::string text;
  for (const auto& cells : lines) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      line += "  " + cells[i] + std::string(widths[i] - cells[i].size(), ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

}  // namespace troupe::command
