#pragma once
// PPO as a cast of services (Schulman et al. 2017, https://arxiv.org/abs/1707.06347):
//
//   environments   one or more replicas, B environments each
//   policies       act on observations, in batches
//   replay         hands each rollout to the trainer once, none too stale
//   trainer        updates the weights, on a thread of its own
//   weights        keeps versions; what a restarted policy catches up from
//   evaluator      plays deterministic episodes now and then
//   recorder       the run directory
//
// loops::synchronous or loops::asynchronous brings them together over one episode function,
// generate_rollout.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "actors/env/hosted_environment.hpp"
#include "actors/evaluator/evaluator.hpp"
#include "actors/recorder/recorder.hpp"
#include "algorithms/loops/evaluations.hpp"
#include "algorithms/ppo/ppo_config.hpp"
#include "runtime/system.hpp"

namespace troupe {

/// What a run leaves on the screen and on the disk.
struct ppo_output {
  std::string root = "runs";  ///< The run directory is root/ALGO/ENV_k.
  std::string directory;      ///< Where not empty, the run directory: a run that goes on in it.
  bool table = false;         ///< Stable-Baselines3's table on stdout, after each update.
  bool progress_bar = false;  ///< On stderr.
  int metrics_port = 0;       ///< For the summary alone.
  std::int64_t resumed_from_step = 0;  ///< The same.
};

/// What a user adds to a run. All of it runs on the loop's own actor, and what it refers to
/// outlives the run. Everything counts from the run's beginning, whether or not the run was
/// resumed.
struct ppo_callbacks {
  /// Asked after each update, and after the evaluation that is then due; a verdict of `stop` ends
  /// training, the evaluation at the end follows. Several: loops::in_turn. May be null.
  loops::callback called = nullptr;
  /// Told each evaluation during training, in which the weights of now.version played. May be null.
  std::function<task<>(loops::progress now, evaluation seen)> evaluated = nullptr;
  /// Looked at after each of those; true ends training: `{loops::score_reached(475)}`.
  std::vector<loops::stop_rule> stop = {};
  /// What the above keep between updates, for checkpoints; and how they go on from it, before the
  /// first update. Both or none.
  std::function<std::string()> save = nullptr;
  std::function<void(const std::string&)> restore = nullptr;
};

/// How a run went. The names are those of summary.json.
struct ppo_summary {
  std::string algo = "ppo";
  std::string env;
  training_mode mode = training_mode::sync;
  std::uint64_t seed = 0;
  std::int64_t steps = 0;  ///< Environment steps trained on.
  double wall_s = 0;       ///< From the first rollout to the last update.
  double cpu_s = 0;        ///< Of the whole process, until the end of the final evaluation.
  double steps_per_s = 0;  ///< steps / wall_s; 0 in virtual time
  double eval_mean = 0;
  double eval_std = 0;
  std::int64_t eval_episodes = 0;
  bool solved = false;  ///< eval_mean reached the environment's reward threshold.
  std::optional<double> reward_threshold;  ///< None: the environment names none.
  bool stopped = false;  ///< A callback, or evaluation.stop_at, ended training before total_steps.
  std::int64_t rollouts_failed = 0;  ///< They ended with an error, and were generated anew.
  double staleness_mean = 0;
  std::int64_t staleness_max = 0;
  double overlap_fraction = 0;  ///< Share of wall_s in which rollouts and training both ran.
  int metrics_port = 0;
  std::int64_t resumed_from_step = 0;  ///< Of the checkpoint this process began with; 0: none.
  std::string weights_sha256;
  std::string run_directory;

  std::string to_json() const;  ///< One line.
};

/// Trains on the registered environment config.env.id, from the beginning to the end in one system,
/// without checkpoints; see run_ppo for those. Environments that fail, evaluations that are
/// given up and a disk that is gone don't end training. Throws unknown_environment,
/// std::invalid_argument if no network fits it, run_directory_error, and evaluation_error if the
/// evaluation at the end is given up; the models are saved by then. What a callback throws is
/// thrown here.
task<ppo_summary> train_ppo(system& sys, ppo_config config, ppo_output output,
                            ppo_callbacks callbacks = {});

}  // namespace troupe
