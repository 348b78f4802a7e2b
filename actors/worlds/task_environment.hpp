#pragma once
// Several environments as the tasks of one environment, so that one network learns all of them.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "actors/environments/environment.hpp"
#include "actors/environments/vector_environment.hpp"
#include "actors/worlds/registry.hpp"

namespace troupe {

/// An environment with one task for each of the environments that it is made of. Observations and
/// actions of all tasks are padded to one shape:
///
///   observation  The task's own observation, zeros up to the width of the widest task, and a
///                one-hot of the task.
///   Discrete     There are as many actions as in the task that has the most. A task replaces an
///                action that it does not have by its last one.
///   Box          There are as many numbers as in the task that has the most, each within the
///                widest of the tasks' bounds. A task takes the first ones, clipped to its own
///                bounds.
///
/// Each task has its own time limit, so the spec has none. Tasks that have levels are played at
/// their last level.
class task_environment final : public environment {
 public:
  /// Plays `each[i]` as `tasks[i]`. Throws std::invalid_argument for environments that can't be
  /// padded: those with images, with actions that are neither Discrete from 0 nor Box, and with
  /// both kinds of action.
  task_environment(std::vector<env_task> tasks, std::vector<std::unique_ptr<environment>> each);

  env_spec spec() const override { return spec_; }
  void set_task(std::size_t task) override { task_ = task; }
  /// Resets the task's environment. A seed is passed to the environments of all tasks.
  void reset(std::optional<std::uint64_t> seed, std::span<float> obs) override;
  step_result step(action_view action, std::span<float> obs) override;
  bool render(canvas& on) const override { return parts_[task_].inner->render(on); }
  bool save(state_writer& to) const override;
  void restore(const state_reader& from) override;

 private:
  struct part {
    std::unique_ptr<environment> inner;
    std::size_t obs_size = 0;
    std::int64_t actions = 0;      ///< The number of Discrete actions, or 0.
    std::vector<float> low, high;  ///< [A] The bounds of Box actions, or empty.
    std::int64_t step_limit = -1;  ///< The time limit in steps; -1 means none.
  };

  /// Fills the padding and the one-hot, and returns the part that the task's environment writes.
  std::span<float> begin_row(std::span<float> obs) const;
  step_result step_inner(action_view action, std::span<float> obs);

  std::vector<part> parts_;
  env_spec spec_;
  std::size_t task_ = 0;
  std::int64_t length_ = 0;  ///< The number of steps in the current episode.
};

/// Makes `size` such environments. The names of the tasks are ids; everything else about their
/// environments is that of `each`. Throws what make_environment throws, and std::invalid_argument
/// for the cases above and for a size of 0.
std::unique_ptr<vector_environment> make_task_environments(const std::vector<env_task>& tasks,
                                                           std::size_t size,
                                                           const environment_request& each);

/// Returns the id of an environment with these tasks, such as "CartPole-v1+Acrobot-v1".
std::string name_of(const std::vector<env_task>& tasks);

}  // namespace troupe
