#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "actors/env/hosted_environment.hpp"
#include "actors/policy/policy.hpp"
#include "actors/replay/replay_queue.hpp"
#include "algorithms/on_policy/rollout_batch.hpp"
#include "algorithms/on_policy/rollout_normalizer.hpp"

namespace troupe {

/// T steps of the B environments of one replica (or of a group of them), as the policy saw them:
/// PPO's experience. It begins where the one before it on that replica ended, in the middle of an
/// episode or not. Observations and rewards are normalised, where the run normalises them; returns
/// of episodes are not. Plain numbers, so that it travels anywhere.
struct rollout {
  /// An episode that ended in this rollout.
  struct episode {
    std::int64_t step;  ///< Row, below T.
    double episode_return;
    std::int64_t length;
    std::int64_t environment;  ///< Below B.
  };
  /// Where an episode was cut, and what was seen last.
  struct cut {
    std::int64_t step;
    std::int64_t index;  ///< Environment, below B.
  };

  std::int64_t steps = 0;                           ///< T
  std::int64_t environments = 0;                    ///< B
  std::vector<float> obs;                           ///< [T, B, D]
  std::vector<std::int64_t> discrete;               ///< [T, B, choices], or empty
  std::vector<float> continuous;                    ///< [T, B, A] not clipped, or empty
  std::vector<float> log_prob;                      ///< [T, B]
  std::vector<float> value;                         ///< [T, B]
  std::vector<float> reward;                        ///< [T, B]
  std::vector<std::uint8_t> terminated, truncated;  ///< [T, B]
  std::vector<std::uint8_t> valid;                  ///< [T, B] 0: of an episode that was dropped
  std::vector<cut> cuts;                            ///< F, where `truncated`
  std::vector<float> final_obs;                     ///< [F, D]
  std::vector<float> final_value;                   ///< [F]
  std::vector<float> bootstrap_obs;                 ///< [B, D] after the last step
  std::vector<float> bootstrap_value;               ///< [B]

  std::int64_t version = 0;       ///< Oldest weights that acted.
  std::int64_t last_version = 0;  ///< Newest weights that acted.
  std::vector<episode> episodes;
  std::int64_t losses = 0;  ///< How often the environments were lost.
  std::string failure;      ///< What an environment did wrong last, and which; empty: none did.
  seen_statistics seen;     ///< What it has added to the run's; nothing where none are kept.
  item_id id;

  /// Room for `steps` rows of `environments` environments.
  rollout(std::int64_t steps, std::int64_t environments);
  rollout() = default;

  /// Row t of the environments from `first` on, of which the others' rows follow: `before` was
  /// seen, `acted` was done, `after` came of it.
  void add(std::int64_t t, const recycled_vector<float>& before, const act_reply& acted,
           const env_step& after, std::int64_t first = 0);
  /// `count` environments from `first` on were lost before row t: the episodes under way are
  /// dropped, and others begin there.
  void lose_environments(std::int64_t t, std::int64_t first, std::int64_t count);

  auto wire_members() {
    return std::tie(steps, environments, obs, discrete, continuous, log_prob, value, reward,
                    terminated, truncated, valid, cuts, final_obs, final_value, bootstrap_obs,
                    bootstrap_value, version, last_version, episodes, losses, failure, seen, id,
                    episode_began_);
  }

 private:
  void drop_episode(std::int64_t t, std::int64_t index);
  std::vector<std::int64_t>
      episode_began_;  ///< [B] the row in which the current episode began, or 0.
};

/// The services that PPO's rollouts are made with.
struct rollout_roles {
  service<hosted_environment> environments;
  service<policy> policies;
  service<replay_queue<rollout>> replay;
  std::int64_t n_steps = 2048;
  std::size_t groups = 1;      ///< Replicas of environments that one rollout takes.
  bool deterministic = false;  ///< Takes the likeliest action: for evaluation.
  int sde_sample_freq = -1;    ///< Steps after which other noise is explored by; -1: a rollout's.
  /// Of observations and rewards. Null: the policy is given observations as they are, and rewards
  /// stay so.
  std::shared_ptr<run_normalizer> normalizer = nullptr;
};

/// The episode function of PPO, for every loop: T steps on one replica of the environments, which
/// no other rollout uses meanwhile, by whatever weights the policies have. Where the replica dies
/// it goes on with another's: that costs the episodes under way, not the rollout.
///
/// With several groups, each a replica, one group's environments step while the policy acts for
/// another's. It acts for them in turn, in the order of the replicas: what comes out is that of as
/// many environments in one replica, if they are seeded alike; but for normalised observations, as
/// a group's are normalised before those after it have stepped.
task<rollout> generate_rollout(rollout_roles roles);

/// Rollouts side by side, as tensors. They have the same T and kinds of action; B adds up. `stale`:
/// they were made by older weights than the trainer's.
rollout_batch to_batch(const std::vector<rollout>& rollouts, const network_shape& shape,
                       bool stale);

}  // namespace troupe
