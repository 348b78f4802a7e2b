#pragma once
// The rollout, which is the item that on-policy algorithms put into the replay.

#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "actors/environments/vector_environment.hpp"
#include "actors/policy/policy.hpp"
#include "actors/replay/item_id.hpp"
#include "algorithms/on_policy/rollout_batch.hpp"
#include "algorithms/on_policy/rollout_columns.hpp"
#include "algorithms/on_policy/rollout_normalizer.hpp"

namespace troupe {

/// A column of a rollout as a vector. Flags are bytes, because a vector<bool> is not plain memory.
template <class T>
using rollout_column = std::vector<std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>>;

/// The experience of on-policy algorithms: T steps of the B environments of one replica, or of a
/// group of replicas. A rollout begins where the previous one on that replica ended, possibly in
/// the middle of an episode. Observations and rewards are normalised if the run normalises them;
/// returns of episodes are not. It holds plain numbers, so it can be sent to other processes.
struct rollout : rollout_columns<rollout_column> {
  /// An episode that ended in this rollout.
  struct episode {
    std::int64_t step;  ///< The row of its last step, below T.
    double episode_return;
    std::int64_t length;       ///< The number of its steps.
    std::int64_t environment;  ///< Its environment, below B.
    episode_info info = {};    ///< Its numbers; see finished_episode::info.
  };
  /// The step at which an episode was truncated.
  struct cut {
    std::int64_t step;   ///< The row, below T.
    std::int64_t index;  ///< The environment, below B.
  };

  std::int64_t steps = 0;              ///< T
  std::int64_t environments = 0;       ///< B
  std::vector<std::int64_t> discrete;  ///< [T, B, P] choices, as in act_reply, or empty
  std::vector<float> continuous;       ///< [T, B, A] not clipped, or empty
  std::vector<cut> cuts;               ///< [F] the truncated episodes
  std::vector<float> final_value;      ///< [F] V of final_obs

  std::int64_t version = 0;       ///< The version of the oldest weights that acted.
  std::int64_t last_version = 0;  ///< The version of the newest weights that acted.
  std::vector<episode> episodes;
  std::int64_t losses = 0;  ///< How often a replica of the environments was lost.
  std::string failure;      ///< The latest error of an environment; empty means none.
  seen_statistics seen;     ///< What it adds to the run's statistics; empty without normalisation.
  item_id id;

  /// An empty rollout for `steps` rows of `environments` environments.
  rollout(std::int64_t steps, std::int64_t environments);
  rollout() = default;

  /// Adds row t of the environments from `first` on: observations `before`, actions `acted` and the
  /// results `after`. With several groups, row t of the next group is added next.
  void add(std::int64_t t, const recycled_vector<float>& before, const act_reply& acted,
           const env_step& after, std::int64_t first = 0);
  /// Notes that `count` environments from `first` on were lost before row t. Their episodes under
  /// way are dropped, and other episodes begin at row t.
  void lose_environments(std::int64_t t, std::int64_t first, std::int64_t count);

  auto wire_members() {
    return std::tuple_cat(
        tie_columns(*this),
        std::tie(steps, environments, discrete, continuous, cuts, final_value, version,
                 last_version, episodes, losses, failure, seen, id, episode_began_));
  }

 private:
  void drop_episode(std::int64_t t, std::int64_t index);
  std::vector<std::int64_t>
      episode_began_;  ///< [B] the row in which the current episode began, or 0.
};

/// What one update learns from.
struct training_rollouts {
  std::vector<rollout> rollouts = {};
  bool stale = false;  ///< True if older weights than the trainer's made a rollout.
  /// With normalize_obs, the statistics of observations that the new weights get.
  running_moments obs_statistics = {};
};

/// Throws std::invalid_argument that names a column if its size does not fit T steps of B
/// environments of that shape.
void check(const rollout& r, const network_shape& shape);

/// Joins rollouts as tensors, their environments side by side, so that B is the sum of theirs. They
/// must have the same T and kind of action. `stale` says that weights older than the trainer's made
/// them.
rollout_batch to_batch(const std::vector<rollout>& rollouts, const network_shape& shape,
                       bool stale);

}  // namespace troupe
