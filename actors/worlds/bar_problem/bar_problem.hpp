#pragma once
// The bar problem, bar_problem-v0: a game of many agents about credit assignment.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "actors/environments/multi_agent_environment.hpp"
#include "runtime/config/options_schema.hpp"

namespace troupe {

struct bar_problem_options {
  std::int64_t agents = 30;  ///< The number of agents N.
  std::int64_t nights = 4;   ///< The number of nights K.
  double capacity = 4;       ///< The attendance c at which a night is worth most.
  std::int64_t rounds = 1;   ///< The rounds of an episode.
};
void describe(options_schema<bar_problem_options>& s);

/// Each of N agents chooses one of K nights to go to the bar (actions 1 to K), or stays at home
/// (action 0). An agent that goes on a night with x agents gets exp(-x / c), and one at home gets
/// 0. A night is then worth x exp(-x / c) to all of them together, at most c / e, with x = c
/// agents: one more agent gains and costs the others more. Arthur 1994, "Inductive Reasoning and
/// Bounded Rationality"; Wolpert and Tumer 2001, "Optimal payoff functions for members of
/// collectives".
///
/// Agents that maximise their own reward overfill the nights. The team's reward, which is the mean
/// of all agents', says little about one agent's choice. Difference rewards
/// (env.difference_rewards) say how much the choice was worth to the team.
///
/// The observation of an agent, and the global state, is one 1. Episodes have `rounds` rounds. The
/// environment draws nothing at random.
class bar_problem final : public multi_agent_environment {
 public:
  bar_problem() : bar_problem(bar_problem_options{}) {}
  /// Throws std::invalid_argument for an option outside of its range.
  explicit bar_problem(const bar_problem_options& options);

  env_spec spec() const override;
  void begin(std::optional<std::uint64_t> seed, joint_observation obs) override;
  void act(joint_action actions, joint_observation obs, std::span<agent_step> results) override;
  /// Draws how many agents went on each night, and the capacity.
  bool render(canvas& on) const override;

  bool save(state_writer& to) const override;
  void restore(const state_reader& from) override;

 private:
  void show(joint_observation obs) const;

  bar_problem_options options_;
  std::int64_t round_ = 0;
  std::vector<std::int64_t> attendance_;  ///< [K + 1] Of the last round; the first stayed at home.
};

}  // namespace troupe
