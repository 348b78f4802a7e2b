#pragma once

#include <filesystem>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "actors/recorder/run_directory.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"

namespace troupe::testing {

/// The numbers in the column `name` of a progress.csv, without the rows in which it is empty; none
/// if there is no such column.
inline std::optional<std::vector<double>> find_column(const std::filesystem::path& csv,
                                                      const std::string& name) {
  std::istringstream lines(read_text(csv));
  std::string line, cell;
  std::getline(lines, line);
  std::istringstream names(line);
  std::size_t place = 0;
  while (std::getline(names, cell, ',') && cell != name) ++place;
  if (cell != name) return std::nullopt;
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

/// As find_column; throws std::runtime_error if there is no such column.
inline std::vector<double> column(const std::filesystem::path& csv, const std::string& name) {
  auto found = find_column(csv, name);
  if (!found) throw std::runtime_error("no column " + name + " in " + csv.string());
  return std::move(*found);
}

/// The column of the progress.csv in a run directory; throws as column does.
inline std::vector<double> column_of(const std::filesystem::path& run, const std::string& name) {
  return column(run / "progress.csv", name);
}
inline std::vector<double> column_of(const run_summary& run, const std::string& name) {
  return column_of(std::filesystem::path(run.run_directory), name);
}

/// Whether the progress.csv of a run has such a column.
inline bool has_column(const run_summary& run, const std::string& name) {
  return find_column(std::filesystem::path(run.run_directory) / "progress.csv", name).has_value();
}

}  // namespace troupe::testing
