#pragma once
// The trainer role of GRPO, and the push of its weights to generators.

#include <cstdint>
#include <memory>

#include "actors/llm/generator/generator.hpp"
#include "algorithms/language_models/grpo/grpo_learner.hpp"
#include "algorithms/learner/trainer.hpp"
#include "algorithms/loops/update_gate.hpp"

namespace troupe {

/// The role that learns from groups of answers.
using grpo_trainer = trainer<grpo_learner>;

/// Puts the trainer's weights into the store and into every generator, ahead of the calls that wait
/// there. A generator that is lost meanwhile takes them from the store when it restarts. Returns
/// the version of the weights, like trainer::push_weights for policies. It is the version before
/// the last update if the trainer has restarted and lost that update. With a gate it waits until
/// the episodes under way have ended, and others begin afterwards.
task<std::int64_t> push_weights(service<grpo_trainer> from, service<llm::generator> to,
                                std::shared_ptr<loops::update_gate> gate = nullptr);

}  // namespace troupe
