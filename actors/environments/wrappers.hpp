#pragma once
// Environments around an environment. Each is one itself, so they stack, and a vector environment
// drives them like any other.
//
// What needs none: a vector environment clips box actions to their bounds, applies the time limit
// and gathers every episode's return and length; `running_normalizer` brings observations and
// rewards to one scale, on the side of whoever trains.

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "actors/environments/environment.hpp"

namespace troupe {

/// The same with another time limit in its spec, which whoever drives it applies.
class time_limit final : public environment {
 public:
  /// Throws std::invalid_argument for fewer than 1 step.
  time_limit(std::unique_ptr<environment> inner, std::int64_t max_episode_steps);

  env_spec spec() const override;
  void reset(std::optional<std::uint64_t> seed, std::span<float> obs) override;
  step_result step(action_view action, std::span<float> obs) override;
  void set_level(std::size_t level) override { inner_->set_level(level); }
  void set_task(std::size_t task) override { inner_->set_task(task); }
  bool save(state_writer& to) const override;
  void restore(const state_reader& from) override;

 private:
  std::unique_ptr<environment> inner_;
  std::int64_t max_episode_steps_;
};

/// Shows the last K observations at once, the oldest first; a reset fills all K with the first one,
/// as Gymnasium's FrameStackObservation does. An observation of shape [...] becomes [K, ...].
class frame_stack final : public environment {
 public:
  /// Throws std::invalid_argument for K < 1, and for observations that are no box.
  frame_stack(std::unique_ptr<environment> inner, std::int64_t frames);

  env_spec spec() const override { return spec_; }
  void reset(std::optional<std::uint64_t> seed, std::span<float> obs) override;
  step_result step(action_view action, std::span<float> obs) override;
  void set_level(std::size_t level) override { inner_->set_level(level); }
  void set_task(std::size_t task) override { inner_->set_task(task); }
  bool save(state_writer& to) const override;
  void restore(const state_reader& from) override;

 private:
  std::unique_ptr<environment> inner_;
  env_spec spec_;
  std::size_t width_;         // D of one observation
  std::vector<float> stack_;  // [K, D]
};

/// Takes box actions in [-1, 1] and stretches them to the bounds, as Gymnasium's RescaleAction
/// does: for policies whose outputs have that range.
class rescale_action final : public environment {
 public:
  /// Throws std::invalid_argument for actions that are no box, or have a bound that is not finite.
  explicit rescale_action(std::unique_ptr<environment> inner);

  env_spec spec() const override { return spec_; }
  void reset(std::optional<std::uint64_t> seed, std::span<float> obs) override;
  step_result step(action_view action, std::span<float> obs) override;
  void set_level(std::size_t level) override { inner_->set_level(level); }
  void set_task(std::size_t task) override { inner_->set_task(task); }
  bool save(state_writer& to) const override;
  void restore(const state_reader& from) override;

 private:
  std::unique_ptr<environment> inner_;
  env_spec spec_;
  std::vector<float> low_, high_;  // [A] of the inner environment
  std::vector<float> stretched_;   // [A]
};

/// Which of them, in this order from the inside: time limit, frames, actions.
struct wrapper_options {
  std::optional<std::int64_t> max_episode_steps = std::nullopt;  ///< None: the environment's own.
  std::int64_t frames = 1;                                       ///< Stacked; >= 1.
  bool rescale_actions = false;
  bool operator==(const wrapper_options&) const = default;
};

std::unique_ptr<environment> wrapped(std::unique_ptr<environment> inner,
                                     const wrapper_options& options);

}  // namespace troupe
