#pragma once
// The trainer role of GRPO, and the push of its weights to generators.

#include <cstdint>

#include "actors/llm/generator/generator.hpp"
#include "actors/trainer/trainer.hpp"
#include "algorithms/language_models/grpo/grpo_learner.hpp"

namespace troupe {

/// The role that learns from groups of answers.
using grpo_trainer = trainer<grpo_learner>;

/// Puts the trainer's weights into the store and into every generator, ahead of the calls that wait
/// there. A generator that is lost meanwhile takes them from the store when it restarts. Returns
/// the version of the weights, like trainer::push_weights for policies. It is the version before
/// the last update if the trainer has restarted and lost that update.
task<std::int64_t> push_weights(service<grpo_trainer> from, service<llm::generator> to);

}  // namespace troupe
