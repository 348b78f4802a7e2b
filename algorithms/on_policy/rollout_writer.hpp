#pragma once
// Writes a rollout from the steps of environments and the answers of policies.

#include <cstdint>
#include <span>
#include <vector>

#include "actors/environments/vector_environment.hpp"
#include "actors/networks/joint_shape.hpp"
#include "actors/policy/policy.hpp"
#include "algorithms/on_policy/policy_rows.hpp"
#include "algorithms/on_policy/rollout.hpp"

namespace troupe {

/// Whose rewards are mixed into an agent's own, if its reward is shared.
enum class reward_team {
  all,    ///< Those of all agents.
  policy  ///< Those of the agents that the same policy plays.
};

/// How the rewards of several agents become those that they are trained on.
struct reward_sharing {
  double weight = 0;
  reward_team team = reward_team::all;
  bool after_end = true;  ///< An agent gets its share until its episode ends for all.
};

/// What a rollout of several agents is written with.
struct rollout_writer_options {
  reward_sharing sharing = {};
  bool joint_actions = false;  ///< If true, the rollout has policy_rollout::acting.
  bool limits_end = false;     ///< If true, agents that are cut off have terminated.
};

/// Writes the rollout of one or more groups of environments, step by step.
class rollout_writer {
 public:
  /// `rows` outlives the writer. `environments` are those of all groups, B.
  rollout_writer(const agent_rows& rows, std::int64_t steps, std::int64_t environments,
                 rollout_writer_options options = {});

  /// Adds step t of the G environments from `first` on: what they showed before it, what each
  /// policy answered, the results, and what they show next, of which `after.obs` is not read. With
  /// several groups, step t of the next group is added next.
  void add(std::int64_t t, std::int64_t first, const policy_rows& before,
           std::span<const act_reply> acted, const env_step& after, const policy_rows& next);
  /// Notes that `count` environments from `first` on were lost before their next step. Their
  /// episodes under way are dropped.
  void lose_environments(std::int64_t first, std::int64_t count);
  /// Ends the rollout with what the environments of each group show last. The values of
  /// bootstrap_obs and of final_obs are still to be filled in, and so are the choices for them.
  rollout finish(std::span<const policy_rows> last);

 private:
  /// The steps of one agent in one environment.
  struct column {
    std::int64_t length = 0;  ///< How many there are.
    std::int64_t began = 0;   ///< The first step of the episode under way.
    bool left = false;        ///< The agent has ended by itself and still gets rewards.
    bool ended = false;       ///< The agent's part of the episode under way has ended.
  };
  /// The step that is being added.
  struct present_step {
    std::int64_t t;
    std::size_t first;  ///< The first environment.
    const policy_rows& before;
    const env_step& after;
    const policy_rows& next;
  };

  void add_policy(const present_step& now, std::size_t policy, const act_reply& acted);
  void add_results(const present_step& now, std::size_t policy, std::size_t index);
  void grow(policy_rollout& to, std::size_t policy, std::int64_t steps);
  void copy_rows(std::size_t policy, std::size_t row, std::size_t from, std::size_t count,
                 std::span<const float> obs, const act_reply& acted);
  bool shares_after_end() const;
  void note_after_end(std::size_t policy, std::size_t row);
  double reward_of(std::size_t environment, std::size_t agent, std::size_t policy,
                   const env_step& after) const;
  episode_end end_of(std::size_t environment, std::size_t agent, const env_step& after) const;
  std::span<const float> last_row_of(std::size_t environment, const present_step& now) const;
  void cut(std::int64_t next, std::size_t policy, std::size_t column, std::span<const float> own,
           bool acts);
  void end_column(std::size_t policy, std::size_t index, std::span<const float> own, bool acts);
  void drop(std::size_t policy, std::size_t index);
  void begin_again(std::size_t policy, std::size_t index);
  void drop_cuts(std::size_t policy, std::size_t index, std::int64_t from);

  const agent_rows& rows_;
  const std::int64_t steps_, environments_;
  const rollout_writer_options options_;
  rollout made_;
  bool begun_ = false;                        // a step was added
  std::vector<std::vector<column>> columns_;  // of each policy, [C]
  // Of the step that is being added, [G]: an environment that failed, one whose episode ended, and
  // the index of that end in env_step::finished.
  std::vector<std::uint8_t> failed_, ended_;
  std::vector<std::size_t> finished_;
};

}  // namespace troupe
