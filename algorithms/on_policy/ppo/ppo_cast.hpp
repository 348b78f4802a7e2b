#pragma once
// The services of a PPO run: served, taken into and out of a checkpoint (ppo_cast.cpp), and what is
// done with them (ppo_training.cpp). Internal to ppo/.

#include "actors/collective/rendezvous_folder.hpp"
#include "actors/trainer/trainer.hpp"
#include "algorithms/on_policy/episode.hpp"
#include "algorithms/on_policy/ppo/ppo.hpp"
#include "algorithms/on_policy/rollout_learner.hpp"
#include "algorithms/run/training_cast.hpp"

namespace troupe::detail {

using ppo_trainer = trainer<rollout_learner>;

/// The cast of a PPO run.
class production final : public environment_cast {
 public:
  production(system& sys, ppo_config config, ppo_output output, training_callbacks callbacks);
  /// Stops the services, those that call others first.
  ~production() override;

  task<> serve(const checkpoint* from) override;
  task<> train_until(std::int64_t version, bool drain) override;
  task<checkpoint> save() override;
  task<training_summary> conclude() override;

  const ppo_config config;
  std::optional<rendezvous_folder> meeting;  ///< Of the trainer's ranks, if there are several.
  service<ppo_trainer> learner;
  service<hosted_environment> exam;  ///< The environments of the evaluation at the end.
  rollout_roles roles;
};

training_settings settings_of(const ppo_config& config);

}  // namespace troupe::detail
