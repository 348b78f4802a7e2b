#pragma once
// The role that draws prompts, for training and for evaluations.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "actors/data/dataset.hpp"
#include "actors/llm/tasks/problem.hpp"
#include "actors/python/python_dataset.hpp"
#include "algorithms/loops/curriculum_levels.hpp"

namespace troupe {

/// A problem and the seed for sampling its answers. With a seed of their own the answers don't
/// depend on what is written at the same time.
struct prompt_draw {
  llm::problem asked;
  std::uint64_t seed = 0;
  std::uint64_t task = 0;    ///< The index of the task that the problem is of.
  std::uint64_t number = 0;  ///< The number of prompts that were drawn before it.
};

/// The items of a generator in Python as problems.
struct generated_prompts {
  python_dataset_options items;
  python_dataset<llm::problem>::maker to_problem;
};

/// A task whose prompts are drawn.
struct prompt_task {
  std::variant<std::vector<llm::problem>, generated_prompts> problems;
  double share = 1;  ///< Its share of the prompts, relative to those of the other tasks.
  /// The curriculum over the levels of its problems. None means that all levels are drawn.
  std::optional<loops::curriculum_options> curriculum = {};
};

struct prompt_source_options {
  bool shuffle = true;  ///< False gives the problems in their order, for evaluations.
  std::uint64_t seed = 0;
};

/// The progress of a task, for people to see.
struct prompt_progress {
  std::uint64_t drawn = 0;  ///< The number of prompts so far.
  std::uint64_t level = 0;  ///< The level of the curriculum.
  double success_rate = 0;  ///< That of the last answers at this level.
};

/// The role that draws the next prompt: from a dataset, which is shuffled anew each epoch, or from
/// a generator in Python, in its order. With several tasks the next prompt is of the task that is
/// furthest behind its share. The number of prompts drawn so far decides the next seed.
class prompt_source {
 public:
  /// Throws std::invalid_argument for a task without problems, for a share that is not above 0, and
  /// for a curriculum with a level that has no problems. Calls wait for the processes of generators
  /// (python_dataset.hpp).
  prompt_source(std::vector<prompt_task> tasks, prompt_source_options options);
  /// Draws from one list of problems.
  prompt_source(std::vector<llm::problem> problems, bool shuffle, std::uint64_t seed);

  prompt_draw next();
  /// Begins anew, like a source that was constructed with this seed; for evaluations.
  void rewind(std::uint64_t seed);
  /// Counts answers for the curriculum of a task: how many, at which level, and how many of them
  /// were right. Tasks without a curriculum ignore it.
  void answered(std::uint64_t task, std::uint64_t level, std::int64_t answers, std::int64_t right);
  /// One for each task.
  std::vector<prompt_progress> progress() const;

  std::string save() const;
  /// Restores the bytes of `save`. Throws state_error if they are malformed.
  void restore(std::string bytes);

 private:
  using items = std::variant<dataset<llm::problem>, python_dataset<llm::problem>>;
  using item_maker = std::function<items(std::uint64_t seed)>;
  /// A task with one list of items for each level.
  struct source {
    std::vector<item_maker> make;
    std::vector<items> levels;
    double share = 1;
    std::uint64_t drawn = 0;
    std::optional<loops::curriculum_options> curriculum;
    std::optional<loops::curriculum_levels> progress;
  };

  void begin();
  std::size_t furthest_behind() const;

  std::uint64_t seed_;
  std::vector<source> sources_;
  std::uint64_t drawn_ = 0;
};

}  // namespace troupe
