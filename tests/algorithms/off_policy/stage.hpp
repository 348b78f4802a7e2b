#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "actors/checkpoint/checkpoint_directory.hpp"
#include "actors/recorder/run_directory.hpp"
#include "algorithms/run/run_state.hpp"
#include "runtime/metrics/registry.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/algorithms/stop_after.hpp"
#include "tests/test.hpp"

namespace troupe::testing {

/// The numbers of a column of progress.csv, where there are any.
inline std::vector<double> column_of(const run_summary& run, const std::string& name) {
  std::stringstream csv(read_text(std::filesystem::path(run.run_directory) / "progress.csv"));
  std::vector<std::string> names;
  std::vector<double> numbers;
  for (std::string line; std::getline(csv, line);) {
    std::stringstream cells(line);
    std::size_t i = 0;
    const bool heading = names.empty();
    for (std::string cell; std::getline(cells, cell, ','); ++i) {
      if (heading) names.push_back(cell);
      if (!heading && names.at(i) == name && !cell.empty()) numbers.push_back(std::stod(cell));
    }
  }
  return numbers;
}

/// Of a run that kept them: `load(steps)`.
inline checkpoint_directory checkpoints_of(const run_summary& run) {
  return checkpoint_directory(std::filesystem::path(run.run_directory) / "checkpoints");
}

/// Runs in a folder of their own.
struct stage {
  run_result run(const algorithm& algorithm, const std::string& name) {
    return train(algorithm, {.root = folder.path / name}, {.metrics = metrics});
  }
  /// Stops after `updates` updates, goes on, and so on until the end.
  run_result run_in_pieces(const algorithm& algorithm, const std::string& name, int updates) {
    run_output output{.root = folder.path / name};
    std::optional<checkpoint> from;
    for (;;) {
      const bool trained =
          from && progress_of(*from, algorithm.settings).version >= algorithm.settings.updates;
      auto options = trained ? run_options{} : stop_after(updates);
      options.metrics = metrics;
      auto result = train(algorithm, output, options, from);
      if (result.summary) return result;
      REQUIRE(result.steps > 0);
      output.directory = result.run_directory;
      from = newest_checkpoint(output.directory, algorithm.settings, *metrics);
      REQUIRE(from);
      CHECK(from->step == result.steps);
    }
  }

  temporary_folder folder;
  std::shared_ptr<metrics_registry> metrics = std::make_shared<metrics_registry>();
};

}  // namespace troupe::testing
