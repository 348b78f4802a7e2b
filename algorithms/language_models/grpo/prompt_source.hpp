#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "actors/data/dataset.hpp"
#include "actors/llm/tasks/problem.hpp"

namespace troupe {

/// A problem, and the seed that its answers are drawn by: so they don't depend on who writes what
/// at the same time.
struct prompt_draw {
  llm::problem asked;
  std::uint64_t seed = 0;
};

/// The role that says what is asked next: a dataset, shuffled anew each epoch, whose position is
/// also the seeds'.
class prompt_source {
 public:
  /// `shuffle` false: in their order, for evaluation.
  prompt_source(std::vector<llm::problem> problems, bool shuffle, std::uint64_t seed);

  prompt_draw next();
  /// Begins anew, as one that was made with this seed; for evaluation.
  void rewind(std::uint64_t seed);

  std::string save() const;
  /// Throws state_error.
  void restore(std::string bytes);

 private:
  dataset<llm::problem>::items_type problems_;
  dataset_options options_;
  dataset<llm::problem> items_;
  std::uint64_t drawn_ = 0;
};

}  // namespace troupe
