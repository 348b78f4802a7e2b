#pragma once
// What the steps of an environment with several agents are to each of them, as transitions keep it.
// In the shapes, N is the number of agents, D the number of floats in the environment's observation
// and P the number of integers in its action.

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "actors/environments/vector_environment.hpp"
#include "actors/networks/network.hpp"

namespace troupe {

/// The results of one step of one environment for its agents.
class agent_results {
 public:
  agent_results() = default;
  /// `shares` [N, N]: agent i is trained on the sum over k of shares[i, k] times the reward of
  /// agent k; empty means its own reward. With `limits_end` an agent that is cut off has
  /// terminated. Throws std::invalid_argument for another number of shares.
  agent_results(const network_shape& shape, std::vector<double> shares, bool limits_end = false);

  /// Takes the results of a step of environment i. `before` [D] is what it showed before the step,
  /// and `next` [D] what it showed last.
  void take(const env_step& after, std::size_t i, const float* before, const float* next);

  /// Whether the episode has terminated for all.
  bool all_terminated() const { return all_terminated_; }
  /// [N] What each agent is trained on.
  std::span<const float> reward() const { return reward_; }
  /// [N] 1 if the agent's episode terminated. An agent that has not ended by itself when the
  /// episode as a whole terminates has terminated, too.
  std::span<const float> terminated() const { return terminated_; }
  /// [N] 1 if the agent's episode was truncated with this step, so that its last observation has a
  /// value.
  std::span<const std::uint8_t> cut() const { return cut_; }
  /// [D] What the environment showed last, where those agents act whose values make up the team's
  /// next value. An environment that cuts an agent off shows it as one that does not act. Such an
  /// agent counts as one that acts if it acted in this step and no other agent takes its turn.
  std::span<const float> next() const { return next_; }
  const network_shape& shape() const { return shape_; }

 private:
  network_shape shape_;
  std::vector<double> shares_;
  bool limits_end_ = false;
  bool all_terminated_ = false;
  std::vector<float> reward_, terminated_, next_;
  std::vector<std::uint8_t> cut_;
};

/// Joins the steps of one environment whose agents do not act in every step into transitions that
/// reach, for each agent, from one step in which it acts to the next one. The agent's reward is the
/// sum of its rewards until then, as in PettingZoo's turn-based environments. An agent that is cut
/// off while it waits goes on with the value of what it saw last. Agents that do not act in the
/// first of the steps have no transition.
///
/// An agent that has ended by itself may go on to get rewards, its share of the team's. Its last
/// transition then lasts until the episode ends for all, and has the discounted sum of these
/// rewards, up to the step whose discount is negligible.
class agent_steps {
 public:
  /// A transition, whose row `next_obs` has what each agent saw when it acted again: the numbers of
  /// one row are of different steps.
  struct joined {
    std::vector<float> obs;            ///< [D]
    std::vector<std::int64_t> choice;  ///< [P]
    double reward = 0;                 ///< The environment's reward of the first step.
    bool terminated = false;           ///< The environment's episode terminated with that step.
    std::vector<float> next_obs;       ///< [D]
    std::vector<float> agent_reward, agent_terminated;  ///< [N]
    std::uint32_t step = 0;                             ///< The first step's number in its episode.
    episode_end end = episode_end::none;                ///< How the episode ended with that step.
    std::vector<std::uint8_t> waits = {};  ///< [N] 1 for an agent that has not acted again.
    std::vector<float> weight = {};  ///< [N] The discount of its next reward, 1 until its end.
  };

  /// `discount_after_end`: the discount per step of the rewards that an agent gets after its own
  /// end; none means that it gets none.
  explicit agent_steps(std::optional<double> discount_after_end = {})
      : discount_after_end_(discount_after_end) {}

  /// Adds a step, of which `of` says the rest, and returns the transitions that it completes,
  /// oldest first. Each step begins one.
  std::vector<joined> add(joined step, const agent_results& of);

  /// Drops the transitions that have begun, because the episode was lost.
  void clear() { open_.clear(); }
  /// The transitions that have begun, oldest first, for checkpoints.
  const std::deque<joined>& begun() const { return open_; }
  void set_begun(std::deque<joined> begun) { open_ = std::move(begun); }

 private:
  void end_earlier(std::size_t agent);
  void settle(std::size_t agent, const agent_results& of, bool over);

  std::optional<double> discount_after_end_;
  std::deque<joined> open_;
};

}  // namespace troupe
