#include "algorithms/off_policy/run_collectors.hpp"

#include <fmt/format.h>

#include <utility>

#include "actors/environments/metrics_observers.hpp"

namespace troupe {

collector_options collector_options_of(training_run& in, const env_section& env,
                                       const network_shape& shape) {
  return {.environments = environments_of(env, env.n_envs),
          .observers = observers_of(in.metrics, env.id),
          .environment_seed = in.seed_of_segment("environments"),
          .shape = shape,
          .network = in.settings.network,
          .seed = in.settings.seed};
}

task<service<collector>> serve_run_collectors(training_run& in, const env_section& env,
                                              collector_options options, std::size_t count) {
  serve_options hosting{.name = "collectors",
                        .replicas = count,
                        .placement = place_of(env),
                        .deadline = long_call,
                        .max_call_time = max_call_time_of(env)};
  co_return co_await in.serve<collector>(std::move(hosting), std::move(options), in.store);
}

task<std::size_t> restore_collectors(training_run& in, service<collector> which,
                                     replica_states states, std::size_t count) {
  const auto saved = states.size();
  if (saved > count)
    throw state_error(
        fmt::format("checkpoint: expected at most {} collectors, got {}", count, saved));
  co_await restore_each<&collector::restore>(in, std::move(which), std::move(states));
  co_return saved;
}

}  // namespace troupe
