#pragma once
// Makes an off-policy algorithm for a run from a configuration and a learner, a class derived from
// transition_learner:
//
//   algorithm_with(off_policy_algorithm_of<Learner>(config, kind))

#include <memory>
#include <utility>

#include "actors/random/derived_seed.hpp"
#include "algorithms/off_policy/off_policy.hpp"

namespace troupe {

/// Returns the algorithm of a configuration with that learner. `kind` is the kind of the acting
/// network. `explore` gets its numbers of steps from the configuration. The learner is made from
/// (shape, options, seed, more...).
template <class Learner, class Config, class Json = nlohmann::json, class... More>
off_policy_algorithm off_policy_algorithm_of(const Config& c, network_kind kind,
                                             exploration explore = {}, More... more) {
  auto options = c.trainer;
  options.network = c.policy.options(kind);
  options.backend = c.policy.backend;
  explore.learning_starts = c.collection.learning_starts;
  explore.total_steps = c.schedule_steps.value_or(c.total_steps);
  auto settings = settings_of(c, options.network, to_json<Config, Json>(c).dump());
  settings.idle = idle_options_of(c);
  return {.settings = std::move(settings),
          .config = c,
          .batch_size = static_cast<std::size_t>(c.trainer.batch_size),
          .gamma = c.trainer.gamma,
          .explore = explore,
          .make_learner = [options, seed = c.seed, more...](const network_shape& shape) {
            return std::make_unique<Learner>(shape, options, derived_seed(seed, "learner"),
                                             more...);
          }};
}

}  // namespace troupe
