#pragma once
// The base class of environments with several agents, which act at once or in turn.
//
// Such an environment is an environment like any other: its observation has the observations of all
// agents one after another (agent_layout), its action has their actions, and its reward is the mean
// of their rewards. Beside these, every step has the reward of each agent, and says whose episode
// ended. So vector environments, processes, wrappers and evaluations work with it, and an algorithm
// for a single agent learns to control all agents at once.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "actors/environments/agent_layout.hpp"
#include "actors/environments/environment.hpp"

namespace troupe {

/// One observation row, which an environment with several agents writes.
class joint_observation {
 public:
  joint_observation(const agent_layout& layout, std::span<float> row)
      : layout_(layout), row_(row) {}

  /// The flattened observation [D_i] of agent i.
  std::span<float> operator[](std::size_t i) const { return layout_[i].obs.of(row_); }
  /// The global state [S].
  std::span<float> state() const { return layout_.state().of(row_); }
  /// Says whether agent i acts in the next step. Without a call an agent acts unless its episode
  /// has ended, with this step or before. For environments with env_spec::agents_vary.
  void set_active(std::size_t i, bool active) const {
    row_[layout_.active().begin + i] = active ? 1.0F : 0.0F;
  }
  /// The choices of agent i that are allowed (1) or forbidden (0). Without a call all are allowed.
  /// For environments with env_spec::action_masks.
  std::span<float> action_mask(std::size_t i) const { return layout_[i].mask.of(row_); }

 private:
  const agent_layout& layout_;
  std::span<float> row_;
};

/// One action of each agent; its memory is borrowed for the call.
class joint_action {
 public:
  joint_action(const agent_layout& layout, action_view all) : layout_(layout), all_(all) {}

  /// The action of agent i. That of an agent that does not act has no meaning.
  action_view operator[](std::size_t i) const {
    const auto& of = layout_[i];
    return {of.integers.of(all_.parts()), of.floats.of(all_.floats())};
  }

 private:
  const agent_layout& layout_;
  action_view all_;
};

/// The interface that a user implements to add an environment with several agents: PettingZoo's
/// parallel contract, for agents by their index in env_spec::agents. An environment whose agents
/// act in turn has env_spec::agents_vary, and says after each step who is next
/// (joint_observation::set_active); rewards may come to an agent in any step.
class multi_agent_environment : public environment {
 public:
  /// Starts an episode; the seed is as for environment::reset. Writes the observations of all
  /// agents, and zeros for those that have none.
  virtual void begin(std::optional<std::uint64_t> seed, joint_observation obs) = 0;
  /// Takes one step. `results` [N] are rewards of 0 without an end at first. The episode ends when
  /// no agent acts any more. Without env_spec::agents_vary all agents must end in the same step.
  virtual void act(joint_action actions, joint_observation obs, std::span<agent_step> results) = 0;

  /// Returns whether the episode would be a success if it ended now; see step_result::success.
  /// Returns nullopt by default.
  virtual std::optional<bool> success() const;

  void reset(std::optional<std::uint64_t> seed, std::span<float> obs) final;
  /// Throws std::runtime_error that names the agent, if one acts or ends after its end, and if a
  /// reward is not finite.
  step_result step(action_view action, std::span<float> obs) final;
  std::span<const agent_step> agent_steps() const final { return results_; }

 protected:
  /// Returns where the numbers of agents are. It is made from spec() at the first use.
  const agent_layout& layout();

  /// For `save` and `restore` of environments with env_spec::agents_vary: which agents' episodes
  /// have ended, [N].
  const std::vector<std::uint8_t>& ended() const { return ended_; }
  void set_ended(std::vector<std::uint8_t> ended) { ended_ = std::move(ended); }

 private:
  void prepare(std::span<float> obs);
  /// Notes who has ended and checks who acts next. Returns whether anyone does.
  bool settle(std::span<float> obs);
  [[noreturn]] void refuse(std::size_t agent, const char* problem);

  std::optional<agent_layout> layout_;
  std::vector<agent_step> results_;  // [N]
  std::vector<std::uint8_t> ended_;  // [N] 1 if the agent's episode has ended
};

}  // namespace troupe
