#pragma once
// Wrappers: environments that change one thing about the environment inside them. A wrapper is an
// environment itself, so wrappers stack, and a vector environment drives them like any other.
//
// Some things need no wrapper. A vector environment clips box actions to their bounds, applies the
// time limit and gathers the return and length of every episode. `running_normalizer`, used by the
// trainer, brings observations and rewards to one scale.

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "actors/environments/environment.hpp"

namespace troupe {

/// Replaces the time limit in the spec. The vector environment applies that limit.
class time_limit final : public environment {
 public:
  /// Throws std::invalid_argument for a limit below 1 step.
  time_limit(std::unique_ptr<environment> inner, std::int64_t max_episode_steps);

  env_spec spec() const override;
  void reset(std::optional<std::uint64_t> seed, std::span<float> obs) override;
  step_result step(action_view action, std::span<float> obs) override;
  void set_level(std::size_t level) override { inner_->set_level(level); }
  void set_task(std::size_t task) override { inner_->set_task(task); }
  bool render(canvas& on) const override { return inner_->render(on); }
  bool save(state_writer& to) const override;
  void restore(const state_reader& from) override;

 private:
  std::unique_ptr<environment> inner_;
  std::int64_t max_episode_steps_;
};

/// Shows the last K observations at once, the oldest first. A reset fills all K with the first
/// observation, as Gymnasium's FrameStackObservation does. An observation of shape [...] becomes
/// [K, ...].
class frame_stack final : public environment {
 public:
  /// Throws std::invalid_argument for K < 1, and for an observation space that is no box.
  frame_stack(std::unique_ptr<environment> inner, std::int64_t frames);

  env_spec spec() const override { return spec_; }
  void reset(std::optional<std::uint64_t> seed, std::span<float> obs) override;
  step_result step(action_view action, std::span<float> obs) override;
  void set_level(std::size_t level) override { inner_->set_level(level); }
  void set_task(std::size_t task) override { inner_->set_task(task); }
  bool render(canvas& on) const override { return inner_->render(on); }
  bool save(state_writer& to) const override;
  void restore(const state_reader& from) override;

 private:
  std::unique_ptr<environment> inner_;
  env_spec spec_;
  std::size_t width_;         // D, the number of floats in one observation
  std::vector<float> stack_;  // [K, D]
};

/// Takes box actions in [-1, 1] and scales them to the bounds, as Gymnasium's RescaleAction does.
/// It is meant for policies whose outputs have that range.
class rescale_action final : public environment {
 public:
  /// Throws std::invalid_argument for an action space that is no box, or has a bound that is not
  /// finite.
  explicit rescale_action(std::unique_ptr<environment> inner);

  env_spec spec() const override { return spec_; }
  void reset(std::optional<std::uint64_t> seed, std::span<float> obs) override;
  step_result step(action_view action, std::span<float> obs) override;
  void set_level(std::size_t level) override { inner_->set_level(level); }
  void set_task(std::size_t task) override { inner_->set_task(task); }
  bool render(canvas& on) const override { return inner_->render(on); }
  bool save(state_writer& to) const override;
  void restore(const state_reader& from) override;

 private:
  std::unique_ptr<environment> inner_;
  env_spec spec_;
  std::vector<float> low_, high_;  // [A] the bounds of the inner environment
  std::vector<float> stretched_;   // [A]
};

/// The choice of wrappers. They are applied in this order from the inside: time limit, frames,
/// actions.
struct wrapper_options {
  /// The time limit in steps; nullopt keeps the environment's own.
  std::optional<std::int64_t> max_episode_steps = std::nullopt;
  std::int64_t frames = 1;       ///< The number of stacked observations; >= 1.
  bool rescale_actions = false;  ///< Whether to use rescale_action.
  bool operator==(const wrapper_options&) const = default;
};

/// Returns `inner` in the wrappers that `options` chooses.
std::unique_ptr<environment> wrapped(std::unique_ptr<environment> inner,
                                     const wrapper_options& options);

}  // namespace troupe
