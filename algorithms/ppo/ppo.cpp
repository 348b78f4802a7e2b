#include "actors/torch.hpp"

#include "algorithms/ppo/ppo.hpp"

#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "algorithms/ppo/ppo_training.hpp"

namespace troupe {

namespace detail {

void require_folder(const std::filesystem::path& root, const std::string& algo) {
  const auto folder = root / algo;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error && ::access(folder.c_str(), W_OK | X_OK) != 0) {
    error.assign(errno, std::generic_category());
  }
  if (error) {
    throw run_directory_error("cannot create a run directory in " + folder.string() + ": " +
                              error.message() + "; expected a folder that can be written to");
  }
}

}  // namespace detail

task<ppo_summary> train_ppo(system& sys, ppo_config config, ppo_output output,
                            ppo_callbacks callbacks) {
  detail::production p(sys, std::move(config), std::move(output), std::move(callbacks));
  detail::require_folder(p.output.root, p.config.algo);
  co_return co_await detail::run_from_the_start(p);
}

std::string ppo_summary::to_json() const {
  const auto threshold =
      reward_threshold ? nlohmann::ordered_json(*reward_threshold) : nlohmann::ordered_json();
  return nlohmann::ordered_json{{"algo", algo},
                                {"env", env},
                                {"mode", mode == training_mode::sync ? "sync" : "async"},
                                {"seed", seed},
                                {"steps", steps},
                                {"wall_s", wall_s},
                                {"cpu_s", cpu_s},
                                {"steps_per_s", steps_per_s},
                                {"eval_mean", eval_mean},
                                {"eval_std", eval_std},
                                {"eval_episodes", eval_episodes},
                                {"solved", solved},
                                {"reward_threshold", threshold},
                                {"stopped", stopped},
                                {"rollouts_failed", rollouts_failed},
                                {"staleness_mean", staleness_mean},
                                {"staleness_max", staleness_max},
                                {"overlap_fraction", overlap_fraction},
                                {"metrics_port", metrics_port},
                                {"resumed_from_step", resumed_from_step},
                                {"weights_sha256", weights_sha256},
                                {"run_directory", run_directory}}
      .dump();
}

}  // namespace troupe
