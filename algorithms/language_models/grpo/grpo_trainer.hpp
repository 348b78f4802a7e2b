#pragma once

#include <cstdint>

#include "actors/llm/generator/generator.hpp"
#include "actors/trainer/trainer.hpp"
#include "algorithms/language_models/grpo/grpo_learner.hpp"

namespace troupe {

/// The role that learns from groups of answers.
using grpo_trainer = trainer<grpo_learner>;

/// Puts the trainer's weights into the store and into every generator, ahead of work that waits
/// there; one that dies meanwhile takes them from the store when it is restarted. Returns their
/// version, as trainer::push_weights does for policies: the one before, if the trainer was
/// restarted after its update and the update is lost.
task<std::int64_t> push_weights(service<grpo_trainer> from, service<llm::generator> to);

}  // namespace troupe
