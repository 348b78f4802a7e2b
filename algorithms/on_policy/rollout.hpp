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

/// When the agents of a policy acted in a rollout, and what they would do next: what a critic needs
/// that sees the actions of all agents. P is the number of choices of an action, F the number of
/// cuts.
struct acting_record {
  /// [T, C] The step of each row's action; -1 for the rows behind a column's last one.
  std::vector<std::int64_t> step;
  std::vector<std::int64_t> final_step;    ///< [F] The step that would have followed final_obs.
  std::vector<std::int64_t> final_choice;  ///< [F, P] What the policy chooses for final_obs.
  std::vector<std::uint8_t> final_acts;    ///< [F] 1 if the agent would act in that step.
  /// [C, P] What the policy chooses for bootstrap_obs; -1 for an agent that does not act next.
  std::vector<std::int64_t> bootstrap_choice;
};

/// What one policy did in a rollout of T steps of B environments. A policy that plays N agents has
/// C = B N columns, one for each agent of each environment, those of one environment one after
/// another; a single agent has C = B.
///
/// A column has the steps in which its agent acted, one after another. The reward of such a step is
/// the sum of the agent's rewards until it acts again, as in PettingZoo's turn-based environments.
/// If an agent did not act in every step, the rows behind its last one are not valid.
///
/// If rewards are shared, an agent that has ended by itself may have a row for each further step of
/// its episode, with its share of the reward and with what the environment shows of it. It does
/// nothing there, so such rows are for critics alone.
struct policy_rollout : rollout_columns<rollout_column> {
  /// The row in which an agent was truncated.
  struct cut {
    std::int64_t step;   ///< The row, below T.
    std::int64_t index;  ///< The column, below C.
  };

  std::int64_t steps = 0;              ///< T
  std::int64_t columns = 0;            ///< C
  std::vector<std::int64_t> discrete;  ///< [T, C, P] choices, as in act_reply, or empty
  std::vector<float> continuous;       ///< [T, C, A] not clipped, or empty
  std::vector<cut> cuts;               ///< [F] the truncated agents
  std::vector<float> final_value;      ///< [F] V of final_obs
  acting_record acting;                ///< Empty unless the algorithm wants joint actions.
  /// [T, C] 1 for a row after the agent's own end. Empty if there is none.
  std::vector<std::uint8_t> after_end;

  auto wire_members() {
    return std::tuple_cat(tie_columns(*this), std::tie(steps, columns, discrete, continuous, cuts,
                                                       final_value, acting, after_end));
  }
};

/// The experience of on-policy algorithms: T steps of the B environments of one replica, or of a
/// group of replicas. A rollout begins where the previous one on that replica ended, possibly in
/// the middle of an episode. Observations and rewards are normalised if the run normalises them;
/// returns of episodes are not. It holds plain numbers, so it can be sent to other processes.
struct rollout {
  /// An episode that ended in this rollout.
  struct episode {
    std::int64_t step;         ///< The step of its end, below T.
    double episode_return;     ///< With several agents the mean of their returns.
    std::int64_t length;       ///< The number of its steps.
    std::int64_t environment;  ///< Its environment, below B.
    episode_info info = {};    ///< Its numbers; see finished_episode::info.
    std::vector<double> agent_returns =
        {};  ///< [agents]; empty where the environment has a single one.
  };

  std::vector<policy_rollout> policies;  ///< One for each policy; a single agent has one.
  std::int64_t steps = 0;                ///< T
  std::int64_t environments = 0;         ///< B
  std::int64_t version = 0;              ///< The version of the oldest weights that acted.
  std::int64_t last_version = 0;         ///< The version of the newest weights that acted.
  std::vector<episode> episodes;
  std::int64_t losses = 0;  ///< How often a replica of the environments was lost.
  std::string failure;      ///< The latest error of an environment; empty means none.
  seen_statistics seen;     ///< What it adds to the run's statistics; empty without normalisation.
  item_id id;
};

/// What one update learns from.
struct training_rollouts {
  std::vector<rollout> rollouts = {};
  bool stale = false;  ///< True if older weights than the trainer's made a rollout.
  /// With normalize_obs, the statistics of observations that the new weights of each policy get.
  std::vector<running_moments> obs_statistics = {};
};

/// Throws std::invalid_argument that names the policy and the column if a rollout does not fit the
/// policies of that shape.
void check(const rollout& r, const network_shape& shape);

/// Joins the rollouts of one policy as tensors, their columns side by side, so that the batch's
/// environments are all of them. The rollouts must have the same T and kind of action. `shape` is
/// the policy's own.
rollout_batch to_batch(const training_rollouts& given, const network_shape& shape,
                       std::size_t policy = 0);

}  // namespace troupe
