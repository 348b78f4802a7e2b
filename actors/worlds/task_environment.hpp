#pragma once
// Different environments as the tasks of one, for one network.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "actors/environments/environment.hpp"
#include "actors/environments/vector_environment.hpp"
#include "actors/environments/wrappers.hpp"

namespace troupe {

/// An environment with one task for each of the environments that it is made of. All of them are
/// padded to one shape:
///
///   observation  that of the task, zeros up to the widest task's, and a one-hot of the task
///   actions      Discrete: as many as the task with the most has; one that a task does not have is
///                its last. Box: as many numbers as the widest task takes, each within the widest
///                of the tasks' bounds; a task takes its first ones, clipped to its own bounds.
///
/// Each task has its own time limit, so the whole has none. Tasks that have levels are at their
/// last.
class task_environment final : public environment {
 public:
  /// `each[i]` is played as `tasks[i]`. Throws std::invalid_argument where they can't be padded:
  /// images, actions that are neither Discrete from 0 nor Box, and both kinds together.
  task_environment(std::vector<env_task> tasks, std::vector<std::unique_ptr<environment>> each);

  env_spec spec() const override { return spec_; }
  void set_task(std::size_t task) override { task_ = task; }
  /// A seed is that of every task's environment.
  void reset(std::optional<std::uint64_t> seed, std::span<float> obs) override;
  step_result step(action_view action, std::span<float> obs) override;
  bool save(state_writer& to) const override;
  void restore(const state_reader& from) override;

 private:
  struct part {
    std::unique_ptr<environment> inner;
    std::size_t obs_size = 0;
    std::int64_t actions = 0;      ///< Of Discrete, else 0.
    std::vector<float> low, high;  ///< [A] of Box, else empty.
    std::int64_t step_limit = -1;  ///< -1: none
  };

  /// The observation of the task under way, as its environment writes it.
  std::span<float> begin_row(std::span<float> obs) const;
  step_result step_inner(action_view action, std::span<float> obs);

  std::vector<part> parts_;
  env_spec spec_;
  std::size_t task_ = 0;
  std::int64_t length_ = 0;  ///< Steps of the episode under way.
};

/// B of them, each with these tasks, whose names are those of environments in the registry. Throws
/// unknown_environment, and std::invalid_argument as above, for a size of 0 and for what is
/// registered as a vector environment.
std::unique_ptr<vector_environment> make_task_environments(const std::vector<env_task>& tasks,
                                                           std::size_t size,
                                                           const wrapper_options& wrappers);

/// What such environments are called: "CartPole-v1+Acrobot-v1".
std::string name_of(const std::vector<env_task>& tasks);

}  // namespace troupe
