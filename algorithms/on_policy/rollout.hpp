#pragma once

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

/// Flags are bytes, so that they can be given as memory.
template <class T>
using rollout_column = std::vector<std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>>;

/// T steps of the B environments of one replica (or of a group of them), as the policy saw them:
/// PPO's experience. It begins where the one before it on that replica ended, in the middle of an
/// episode or not. Observations and rewards are normalised, where the run normalises them; returns
/// of episodes are not. Plain numbers, so that it travels anywhere.
struct rollout : rollout_columns<rollout_column> {
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

  std::int64_t steps = 0;              ///< T
  std::int64_t environments = 0;       ///< B
  std::vector<std::int64_t> discrete;  ///< [T, B, choices], or empty
  std::vector<float> continuous;       ///< [T, B, A] not clipped, or empty
  std::vector<cut> cuts;               ///< F, where `truncated`
  std::vector<float> final_value;      ///< [F] V of final_obs

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

/// Throws std::invalid_argument naming a column that does not have the numbers of T steps of B
/// environments of that shape.
void check(const rollout& r, const network_shape& shape);

/// Rollouts side by side, as tensors. They have the same T and kinds of action; B adds up. `stale`:
/// they were made by older weights than the trainer's.
rollout_batch to_batch(const std::vector<rollout>& rollouts, const network_shape& shape,
                       bool stale);

}  // namespace troupe
