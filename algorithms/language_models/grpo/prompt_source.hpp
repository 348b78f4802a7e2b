#pragma once
// The role that draws prompts, for training and for evaluations.

#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "actors/data/dataset.hpp"
#include "actors/llm/tasks/problem.hpp"
#include "actors/python/python_dataset.hpp"

namespace troupe {

/// A problem and the seed for sampling its answers. With a seed of their own the answers don't
/// depend on what is written at the same time.
struct prompt_draw {
  llm::problem asked;
  std::uint64_t seed = 0;
};

/// The role that draws the next prompt from a dataset, which is shuffled anew each epoch, or from a
/// generator in Python, in its order. The number of prompts drawn so far decides the next seed.
class prompt_source {
 public:
  /// With `shuffle` false the problems come in their order, for evaluations.
  prompt_source(std::vector<llm::problem> problems, bool shuffle, std::uint64_t seed);

  /// Draws from a generator. Calls wait for its process (python_dataset.hpp).
  prompt_source(python_dataset_options items, python_dataset<llm::problem>::maker to_problem,
                std::uint64_t seed);

  prompt_draw next();
  /// Begins anew, like a source that was constructed with this seed; for evaluations.
  void rewind(std::uint64_t seed);

  std::string save() const;
  /// Restores the bytes of `save`. Throws state_error if they are malformed.
  void restore(std::string bytes);

 private:
  using source = std::variant<dataset<llm::problem>, python_dataset<llm::problem>>;
  prompt_source(std::function<source(std::uint64_t)> make, std::uint64_t seed);

  std::function<source(std::uint64_t seed)> make_;
  std::uint64_t seed_;
  source items_;
  std::uint64_t drawn_ = 0;
};

}  // namespace troupe
