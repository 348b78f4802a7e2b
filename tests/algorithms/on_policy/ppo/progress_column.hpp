#pragma once

#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/actors/recorder/temporary_folder.hpp"

namespace troupe {

/// The column `name` of a progress.csv, without the rows in which it is empty.
inline std::vector<double> column(const std::filesystem::path& csv, const std::string& name) {
  std::istringstream lines(read_text(csv));
  std::string line, cell;
  std::getline(lines, line);
  std::istringstream names(line);
  std::size_t place = 0;
  while (std::getline(names, cell, ',') && cell != name) ++place;
  if (cell != name) throw std::runtime_error("no column " + name + " in " + line);
  std::vector<double> values;
  while (std::getline(lines, line)) {
    std::istringstream cells(line);
    for (std::size_t i = 0; i <= place; ++i) {
      if (!std::getline(cells, cell, ',')) cell.clear();
    }
    if (!cell.empty()) values.push_back(std::stod(cell));
  }
  return values;
}

}  // namespace troupe
