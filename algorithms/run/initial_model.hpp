#pragma once
// A run that begins with the weights of a model, such as fine-tuning on another environment:
//
//   auto what = algorithm_with(config);
//   what.settings.init = read_initial_model("runs/ppo/CartPole-v1_1/best_model");
//   train(what, output, options);
//
// The run begins with the model's weights and its statistics of observations, and an off-policy run
// also with its critics, whose targets are copies of them, and with SAC's entropy coefficient.
// Optimisers, counters and the statistics of rewards begin anew.

#include <filesystem>
#include <memory>

#include "actors/environments/running_normalizer.hpp"
#include "actors/networks/model_file.hpp"
#include "algorithms/run/settings.hpp"

namespace troupe {

struct initial_model {
  std::filesystem::path path;  ///< Its file, for messages.
  saved_model model;
};

/// Reads a model file, or the best model of a run directory. Throws
/// model_file_error, and std::invalid_argument for a run without it.
std::shared_ptr<const initial_model> read_initial_model(const std::filesystem::path& path);

/// Checks that the algorithm can begin with settings.init, which is set. Throws
/// std::invalid_argument that names the first tensor that differs, its shape in the file and the
/// expected one.
void require_initial_model(const algorithm& what);

/// Returns the statistics of observations of a policy of a model with normalize_obs, with the
/// weight of the steps that it was trained on.
running_moments obs_statistics_of(const saved_model& model, std::size_t policy = 0);

}  // namespace troupe
