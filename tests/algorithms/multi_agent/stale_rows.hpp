#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "algorithms/run/config.hpp"
#include "tests/algorithms/progress_column.hpp"
#include "tests/algorithms/stage.hpp"

namespace troupe::testing {

/// Requires that rows of older weights are weighted in an asynchronous run, and that those of a
/// synchronous one are not. `config_for(mode, env)` gives a short run.
template <class ConfigFor>
void require_stale_rows_weighted(ConfigFor config_for) {
  quiet_stage on;
  const auto weights_in = [&](training_mode mode) {
    auto config = config_for(mode, "Meeting-v0");
    config.total_steps = 12 * 4 * 16;
    config.rollout = {.n_steps = 16, .workers = 3, .max_staleness = 2};
    config.trainer.lr = 1e-2;
    config.evaluation.every_steps = 0;
    config.checkpoint.every_updates = 0;
    const auto made = on.run(config, mode == training_mode::sync ? "fresh" : "stale");
    return column_of(std::filesystem::path(made.run_directory), "train/importance_weight");
  };
  // Of fresh data the weight of each row is 1, and so is that of stale data taken for fresh.
  const auto apart = [](double weight) { return std::abs(weight - 1.0) > 1e-4; };
  const auto stale = weights_in(training_mode::async);
  CHECK(stale.size() == 12);
  CHECK(std::ranges::count_if(stale, apart) >= 4);
  CHECK(weights_in(training_mode::sync) == std::vector<double>(12, 1.0));
}

}  // namespace troupe::testing
