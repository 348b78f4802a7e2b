#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "actors/checkpoint/checkpoint_directory.hpp"
#include "actors/recorder/run_directory.hpp"
#include "algorithms/run/open_run.hpp"
#include "algorithms/run/run_state.hpp"
#include "runtime/base/log.hpp"
#include "runtime/metrics/registry.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/algorithms/stop_after.hpp"
#include "tests/test.hpp"

namespace troupe::testing {

/// Of a run that kept them: `load(steps)`.
inline checkpoint_directory checkpoints_of(const run_summary& run) {
  return checkpoint_directory(std::filesystem::path(run.run_directory) / "checkpoints");
}

/// Runs in a folder of their own, and what they count.
struct stage {
  run_result run(const algorithm& algorithm, const std::string& name) {
    return train(algorithm, {.root = folder.path / name}, {.metrics = metrics});
  }
  template <class Config>
    requires requires(const Config& config) { algorithm_with(config); }
  run_result run(const Config& config, const std::string& name) {
    return run(algorithm_with(config), name);
  }

  /// Stops after `updates` updates, goes on from the newest checkpoint, and so on until the end.
  run_result run_in_pieces(const algorithm& algorithm, const std::string& name, int updates) {
    return run_in_pieces(algorithm, name, updates, [&](const std::string& directory) {
      return newest_checkpoint(directory, algorithm.settings, *metrics);
    });
  }
  /// As above, where each piece opens the run by the configuration that is stored with it.
  template <class Config>
    requires requires(const Config& config) { algorithm_with(config); }
  run_result run_in_pieces(const Config& config, const std::string& name, int updates) {
    return run_in_pieces(algorithm_with(config), name, updates, [&](const std::string& directory) {
      return open_run<Config>(directory, *metrics).from;
    });
  }

  temporary_folder folder;
  std::shared_ptr<metrics_registry> metrics = std::make_shared<metrics_registry>();

 private:
  template <class Open>
  run_result run_in_pieces(const algorithm& algorithm, const std::string& name, int updates,
                           const Open& newest) {
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
      from = newest(output.directory);
      REQUIRE(from);
      CHECK(from->step == result.steps);
    }
  }
};

/// A stage whose runs write no log.
struct quiet_stage : stage {
  quiet_stage() { log::set_level("off"); }
  ~quiet_stage() { log::set_level("info"); }
};

}  // namespace troupe::testing
