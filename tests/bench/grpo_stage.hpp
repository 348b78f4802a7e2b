#pragma once
// The services of GRPO that every benchmark of it has, and an update with them.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "algorithms/language_models/grpo/grpo_episode.hpp"
#include "algorithms/language_models/grpo/grpo_trainer.hpp"
#include "runtime/system/system.hpp"

namespace troupe {

struct grpo_stage_options {
  prompt_format format;
  at::Tensor start;         ///< the first weights [P]
  std::size_t groups = 8;   ///< of an update
  std::size_t answers = 8;  ///< of a group
  std::int64_t max_completion_tokens = 8;
  std::int64_t max_staleness = 0;
  double lr = 1e-6;
};

struct grpo_stage {
  service<grpo_trainer> learner;
  answer_roles roles;  ///< without prompts, and without rewards or worlds
};

/// Groups without variance are trained on.
task<grpo_stage> serve_grpo_stage(system& sys, grpo_stage_options options);

/// One update, up to the generator's new weights. It takes at least as long as `at_least`; what is
/// left of it is waited before the weights are pushed.
task<grpo_report> train_on(grpo_stage with, std::vector<answer_group> groups,
                           duration at_least = {});

}  // namespace troupe
