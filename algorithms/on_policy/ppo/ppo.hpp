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

#include "algorithms/on_policy/ppo/config.hpp"
#include "algorithms/run/training_run.hpp"
#include "runtime/system.hpp"

namespace troupe {

using ppo_output = training_output;
using ppo_summary = training_summary;

/// Trains on the registered environment config.env.id, from the beginning to the end in one system,
/// without checkpoints; see run_ppo for those. Environments that fail now and then, evaluations
/// that are given up and a disk that is gone don't end training. Throws unknown_environment,
/// std::invalid_argument if no network fits it, run_directory_error, environment_failed if all that
/// the environment does is fail, and evaluation_error if the evaluation at the end is given up; the
/// models are saved by then. What a callback throws is thrown here.
task<ppo_summary> train_ppo(system& sys, ppo_config config, ppo_output output,
                            training_callbacks callbacks = {});

}  // namespace troupe
