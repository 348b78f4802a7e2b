#pragma once
// Wrappers of environments with several agents: a channel through which agents send messages, and
// difference rewards.

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "actors/environments/env_state.hpp"
#include "actors/environments/multi_agent_environment.hpp"
#include "actors/environments/wrappers.hpp"

namespace troupe {

/// Lets the agents of an environment send messages to all others. The action of each agent becomes
/// Tuple(its action, Discrete(words + 1)) with a choice of 0 for silence, Tuple(its action,
/// Box(numbers)), or both. The messages of the others [(N - 1) (words + numbers)] follow its
/// observation: words one-hot, and zeros for a message that was not sent, was lost, or is still on
/// its way. If more agents send than the bandwidth allows, those that are heard are drawn with
/// equal probability. Words of silence take no bandwidth. Agents that do not act send nothing.
class message_channel final : public multi_agent_environment {
 public:
  /// Throws std::invalid_argument for an environment without several agents and for an option out
  /// of its range.
  message_channel(std::unique_ptr<environment> inner, const channel_options& options);

  env_spec spec() const override { return spec_; }
  void begin(std::optional<std::uint64_t> seed, joint_observation obs) override;
  void act(joint_action actions, joint_observation obs, std::span<agent_step> results) override;
  void set_level(std::size_t level) override { inner_->set_level(level); }
  void set_task(std::size_t task) override { inner_->set_task(task); }
  episode_info info() const override { return inner_->info(); }
  void set_options(const std::string& json) override { inner_->set_options(json); }
  void set_attr(const std::string& name, const std::string& json) override {
    inner_->set_attr(name, json);
  }
  bool render(canvas& on) const override { return inner_->render(on); }
  bool save(state_writer& to) const override;
  void restore(const state_reader& from) override;

 private:
  using messages = std::vector<float>;  // [N, words + numbers]

  std::size_t width() const {
    return static_cast<std::size_t>(options_.words) + static_cast<std::size_t>(options_.numbers);
  }
  messages sent_in(const joint_action& actions);
  void limit(messages& sent);
  void show(joint_observation obs);

  std::unique_ptr<environment> inner_;
  channel_options options_;
  agent_layout inside_;  // of the inner environment
  env_spec spec_;
  std::vector<float> row_;              // [D] of the inner environment
  std::vector<std::int64_t> integers_;  // of its action
  std::vector<float> floats_;
  std::deque<messages> on_the_way_;  // the newest is the last
  detail::env_random random_;
};

/// Rewards each agent by what its own action contributed: the team's reward less what it would have
/// been if the agent alone had taken action 0 (Wolpert and Tumer 2001, "Optimal payoff functions
/// for members of collectives", equation 4, with that action as the clamped one). The team's reward
/// is the mean of all agents'. Each step takes N more steps of the environment, from a saved state.
class difference_rewards final : public environment_wrapper {
 public:
  /// Throws std::invalid_argument for an environment without several agents, and for one that can't
  /// be saved or has no action 0.
  explicit difference_rewards(std::unique_ptr<environment> inner);

  env_spec spec() const override;
  step_result step(action_view action, std::span<float> obs) override;
  std::span<const agent_step> agent_steps() const override { return results_; }

 private:
  agent_layout layout_;
  std::vector<std::int64_t> first_;  // the first value of each integer of an action
  std::vector<agent_step> results_;  // [N]
};

}  // namespace troupe
