#pragma once
// Wrappers: environments that change one thing about the environment inside them. A wrapper is an
// environment itself, so wrappers stack, and a vector environment drives them like any other.
//
// Some things need no wrapper. A vector environment clips box actions to their bounds, applies the
// time limit and gathers the return and length of every episode. `running_normalizer`, used by the
// trainer, brings observations and rewards to one scale.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "actors/environments/environment.hpp"

namespace troupe {

/// A wrapper that changes nothing. Wrappers derive from it and override what they change.
class environment_wrapper : public environment {
 public:
  explicit environment_wrapper(std::unique_ptr<environment> inner) : inner_(std::move(inner)) {}

  env_spec spec() const override { return inner_->spec(); }
  void reset(std::optional<std::uint64_t> seed, std::span<float> obs) override {
    inner_->reset(seed, obs);
  }
  step_result step(action_view action, std::span<float> obs) override {
    return inner_->step(action, obs);
  }
  void set_level(std::size_t level) override { inner_->set_level(level); }
  void set_task(std::size_t task) override { inner_->set_task(task); }
  episode_info info() const override { return inner_->info(); }
  void set_options(const std::string& json) override { inner_->set_options(json); }
  void set_attr(const std::string& name, const std::string& json) override {
    inner_->set_attr(name, json);
  }
  bool save(state_writer& to) const override { return inner_->save(to); }
  void restore(const state_reader& from) override { inner_->restore(from); }
  std::span<const agent_step> agent_steps() const override { return inner_->agent_steps(); }
  bool render(canvas& on) const override { return inner_->render(on); }

 protected:
  std::unique_ptr<environment> inner_;
};

/// Replaces the time limit in the spec. The vector environment applies that limit.
class time_limit final : public environment_wrapper {
 public:
  /// Throws std::invalid_argument for a limit below 1 step.
  time_limit(std::unique_ptr<environment> inner, std::int64_t max_episode_steps);

  env_spec spec() const override;

 private:
  std::int64_t max_episode_steps_;
};

/// Shows the last K observations at once, the oldest first. A reset fills all K with the first
/// observation, as Gymnasium's FrameStackObservation does. An observation of shape [...] becomes
/// [K, ...].
class frame_stack final : public environment_wrapper {
 public:
  /// Throws std::invalid_argument for K < 1, and for an observation space that is no box.
  frame_stack(std::unique_ptr<environment> inner, std::int64_t frames);

  env_spec spec() const override { return spec_; }
  void reset(std::optional<std::uint64_t> seed, std::span<float> obs) override;
  step_result step(action_view action, std::span<float> obs) override;
  bool save(state_writer& to) const override;
  void restore(const state_reader& from) override;

 private:
  env_spec spec_;
  std::size_t width_;         // D, the number of floats in one observation
  std::vector<float> stack_;  // [K, D]
};

/// The scaling of box actions from [-1, 1] to bounds.
class action_scaling {
 public:
  /// Throws std::invalid_argument for an action space that is no box, or has a bound that is not
  /// finite.
  explicit action_scaling(const env_spec& of);

  /// Returns the spec with the bounds -1 and 1.
  static env_spec scaled(env_spec spec);
  /// Writes the action [A] for `given`, [A] within -1 and 1.
  void write(std::span<const float> given, std::span<float> to) const;
  std::size_t size() const { return low_.size(); }  ///< A

 private:
  std::vector<float> low_, high_;  // [A]
};

/// Takes box actions in [-1, 1] and scales them to the bounds, as Gymnasium's RescaleAction does.
/// It is meant for policies whose outputs have that range.
class rescale_action final : public environment_wrapper {
 public:
  /// Throws std::invalid_argument for an action space that is no box, or has a bound that is not
  /// finite.
  explicit rescale_action(std::unique_ptr<environment> inner);

  env_spec spec() const override { return spec_; }
  step_result step(action_view action, std::span<float> obs) override;

 private:
  action_scaling scaling_;
  env_spec spec_;
  std::vector<float> stretched_;  // [A]
};

/// Multiplies rewards by a factor and then clips them, as Gymnasium's TransformReward and
/// ClipReward do. Returns of episodes are those of the changed rewards. Of several agents, the
/// reward of each is changed.
class scale_reward final : public environment_wrapper {
 public:
  /// `clip`: rewards are clipped to -clip .. clip; nullopt does not clip. Throws
  /// std::invalid_argument for a factor that is not finite and for a clip that is not > 0.
  scale_reward(std::unique_ptr<environment> inner, double factor, std::optional<double> clip);

  /// The threshold is multiplied, too; there is none if rewards are clipped.
  env_spec spec() const override;
  step_result step(action_view action, std::span<float> obs) override;
  std::span<const agent_step> agent_steps() const override { return agents_; }

 private:
  double changed(double reward) const;

  double factor_;
  std::optional<double> clip_;
  std::vector<agent_step> agents_;  // [N]
};

/// Adds gamma * potential(next) - potential(now) to each reward, where the potential of a terminal
/// state is 0, which leaves the optimal policies as they are: Ng, Harada and Russell 1999, "Policy
/// invariance under reward transformations", equation 2.
class shape_reward final : public environment_wrapper {
 public:
  /// The potential of a state, from its observation [D].
  using potential = std::function<double(std::span<const float> obs)>;

  /// `gamma`: the discount factor of the algorithm.
  shape_reward(std::unique_ptr<environment> inner, potential of, double gamma);

  /// There is no threshold, because returns are others.
  env_spec spec() const override;
  void reset(std::optional<std::uint64_t> seed, std::span<float> obs) override;
  step_result step(action_view action, std::span<float> obs) override;
  bool save(state_writer& to) const override;
  void restore(const state_reader& from) override;

 private:
  potential potential_;
  double gamma_;
  double now_ = 0;  // the potential of the present state
};

/// The messages that agents can send in each step, beside their actions (agent_wrappers.hpp).
struct channel_options {
  int words = 0;    ///< The number of words of which an agent says one, or none; 0 means no words.
  int numbers = 0;  ///< The number of floats from -1 to 1 that an agent sends; 0 means none.
  int delay = 1;    ///< After so many steps a message is seen; 1 means in the next observation.
  double loss = 0;  ///< The probability with which a receiver does not get a message.
  int bandwidth = 0;  ///< The most messages that are sent in one step; 0 means no limit.
  bool operator==(const channel_options&) const = default;
};

/// The choice of wrappers. They are applied in this order from the inside: time limit, difference
/// rewards, channel, rewards, frames, actions.
struct wrapper_options {
  /// The time limit in steps; nullopt keeps the environment's own.
  std::optional<std::int64_t> max_episode_steps = std::nullopt;
  std::int64_t frames = 1;       ///< The number of stacked observations; >= 1.
  bool rescale_actions = false;  ///< Whether to use rescale_action.
  double reward_scale = 1;       ///< The factor of rewards.
  /// Rewards are clipped to -reward_clip .. reward_clip; nullopt does not clip.
  std::optional<double> reward_clip = std::nullopt;
  bool difference_rewards = false;                        ///< For several agents.
  std::optional<channel_options> channel = std::nullopt;  ///< For several agents.
  bool operator==(const wrapper_options&) const = default;
};

/// Returns `inner` in the wrappers that `options` chooses.
std::unique_ptr<environment> wrapped(std::unique_ptr<environment> inner,
                                     const wrapper_options& options);

}  // namespace troupe
