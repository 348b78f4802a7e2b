#pragma once
// The experience of on-policy algorithms with several agents: one rollout for each policy.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "actors/environments/vector_environment.hpp"
#include "actors/networks/joint_shape.hpp"
#include "actors/policy/policy.hpp"
#include "actors/replay/item_id.hpp"
#include "algorithms/multi_agent/agents_section.hpp"
#include "algorithms/on_policy/rollout.hpp"

namespace troupe {

/// When the N agents of a policy acted in the rollout of B environments, and what they would do
/// next: what a critic needs that sees the actions of all agents. P is the number of choices of an
/// action.
struct acting_record {
  /// [T, B N] The step of each row's action; -1 for the rows behind a column's last one.
  std::vector<std::int64_t> step;
  std::vector<std::int64_t> final_step;    ///< [F] The step that would have followed final_obs.
  std::vector<std::int64_t> final_choice;  ///< [F, P] What the policy chooses for final_obs.
  std::vector<std::uint8_t> final_acts;    ///< [F] 1 if the agent would act in that step.
  /// [B N, P] What the policy chooses for bootstrap_obs; -1 for an agent that does not act next.
  std::vector<std::int64_t> bootstrap_choice;
};

/// T steps of the B environments of one replica. The rollout of a policy that plays N agents has B
/// N columns, one for each agent of each environment, those of one environment one after another.
///
/// A column has the steps in which its agent acted, one after another. The reward of such a step is
/// the sum of the agent's rewards until it acts again, as in PettingZoo's turn-based environments.
/// If an agent did not act in every step, the rows behind its last one are not valid.
///
/// If rewards are shared, an agent that has ended by itself may have a row for each further step of
/// its episode, with its share of the reward and with what the environment shows of it. It does
/// nothing there, so such rows are for critics alone.
struct joint_rollout {
  /// An episode that ended in this rollout.
  struct episode {
    std::int64_t step;      ///< The row of its last step, below T.
    double episode_return;  ///< The mean of the agents' returns.
    std::int64_t length;
    std::int64_t environment;  ///< Its environment, below B.
    episode_info info = {};
    std::vector<double> agent_returns = {};  ///< [agents]
  };

  std::vector<rollout> of_policy;  ///< In the order of network_shape::policies.
  /// Of each policy, if the algorithm wants the actions of all agents side by side; else empty.
  std::vector<acting_record> acting = {};
  /// Of each policy, [T, B N]: 1 for a row after the agent's own end. Empty if there is none.
  std::vector<std::vector<std::uint8_t>> after_end = {};
  std::int64_t steps = 0;         ///< T
  std::int64_t environments = 0;  ///< B
  std::int64_t version = 0;       ///< The version of the oldest weights that acted.
  std::int64_t last_version = 0;  ///< The version of the newest weights that acted.
  std::vector<episode> episodes;
  std::int64_t losses = 0;  ///< How often the replica of the environments was lost.
  std::string failure;      ///< The latest error of an environment; empty means none.
  item_id id;
};

/// Throws std::invalid_argument that names the policy and the column if a rollout does not fit.
void check(const joint_rollout& r, const network_shape& shape);

/// How the rewards of agents become those that they are trained on; see agents_section.
struct reward_sharing {
  double weight = 0;
  reward_team team = reward_team::all;
  bool after_end = true;  ///< An agent gets its share until its episode ends for all.
};

/// Writes a joint rollout, step by step.
class joint_rollout_writer {
 public:
  /// `rows` outlives the writer. With `acting` the rollout has joint_rollout::acting. With
  /// `limits_end` an agent that is cut off has terminated.
  joint_rollout_writer(const agent_rows& rows, std::size_t agents, std::int64_t steps,
                       std::int64_t environments, reward_sharing sharing, bool acting = false,
                       bool limits_end = false);

  /// Returns the rows [B N, D] of a policy for the environments' rows [B, D'].
  recycled_vector<float> rows_of(std::size_t policy, std::span<const float> joint) const;

  /// Adds step t: the environments' rows `before`, what each policy answered, and the results.
  void add(std::int64_t t, std::span<const float> before, const std::vector<act_reply>& acted,
           const env_step& after);
  /// Notes that all environments were lost before step t. Their episodes under way are dropped.
  void lose_environments();
  /// Ends the rollout at the environments' rows `last` [B, D']. The values of bootstrap_obs and of
  /// final_obs are still to be filled in, and so are the choices for them.
  joint_rollout finish(std::span<const float> last);

 private:
  /// The steps of one agent in one environment.
  struct column {
    std::int64_t length = 0;  ///< How many there are.
    std::int64_t began = 0;   ///< The first step of the episode under way.
    bool left = false;        ///< The agent has ended by itself and still gets rewards.
    bool ended = false;       ///< The agent's part of the episode under way has ended.
  };

  void add_policy(std::int64_t t, std::size_t policy, std::span<const float> before,
                  const act_reply& acted, const env_step& after);
  std::size_t add_row(std::int64_t t, std::size_t policy, std::size_t index,
                      const recycled_vector<float>& obs, const act_reply& acted);
  bool shares_after_end() const;
  void note_after_end(std::size_t policy, std::size_t row);
  double reward_of(std::size_t environment, std::size_t agent, std::size_t policy,
                   const env_step& after) const;
  std::span<const float> last_row_of(std::size_t environment, const env_step& after) const;
  void cut(std::int64_t next, std::size_t policy, std::size_t column,
           std::span<const float> joint_row, bool acts);
  void drop(std::size_t policy, std::size_t index);
  void begin_again(std::size_t policy, std::size_t index);
  void drop_cuts(std::size_t policy, std::size_t index, std::int64_t from);

  const agent_rows& rows_;
  const std::size_t agents_;
  const std::int64_t steps_, environments_;
  const reward_sharing sharing_;
  const bool limits_end_;
  joint_rollout made_;
  std::vector<std::vector<column>> columns_;  // of each policy, [B N]
  std::vector<std::uint8_t> failed_, ended_;  // [B] in the step being added
  std::vector<std::size_t> finished_;         // [B] the index in env_step::finished
};

}  // namespace troupe
