#include "algorithms/training/training_config.hpp"

namespace troupe {

void describe(enum_schema<training_mode>& s) {
  s.name("sync", training_mode::sync).name("async", training_mode::async);
}

void describe(enum_schema<activation>& s) {
  for (const auto kind : {activation::tanh, activation::relu, activation::elu,
                          activation::leaky_relu, activation::silu}) {
    s.name(to_string(kind), kind);
  }
}

void describe(enum_schema<annealing>& s) {
  s.name("constant", annealing::constant).name("linear", annealing::linear);
}

void describe(options_schema<env_section>& s) {
  s.field("id", &env_section::id).help("the environment; `troupe list` names them");
  s.field("n_envs", &env_section::n_envs)
      .also_known_as({"num_envs"})
      .at_least(1)
      .at_most(65536)
      .help("environments of one replica, stepped in one message");
  s.field("replicas", &env_section::replicas)
      .at_least(1)
      .at_most(4096)
      .help("environment replicas; async mode starts as many as it has workers");
  s.field("normalize_obs", &env_section::normalize_obs)
      .help(
          "observations are scaled by their running mean and variance, and cut to +-10; the "
          "statistics are part of the weights");
  s.field("normalize_reward", &env_section::normalize_reward)
      .help(
          "rewards are scaled by the deviation of discounted returns, and cut to +-10, for the "
          "trainer alone: returns are reported as they are");
}

void describe(options_schema<evaluation_section>& s) {
  s.field("every_steps", &evaluation_section::every_steps)
      .also_known_as({"eval_freq"})
      .at_least(0)
      .unit("environment steps")
      .help("between evaluations; 0: only at the end");
  s.field("episodes", &evaluation_section::episodes)
      .also_known_as({"n_eval_episodes"})
      .at_least(1)
      .at_most(1'000'000)
      .help("of an evaluation during training");
  s.field("final_episodes", &evaluation_section::final_episodes)
      .at_least(1)
      .at_most(1'000'000)
      .help("of the evaluation at the end");
  s.field("stop_at", &evaluation_section::stop_at)
      .unit("return")
      .help("mean of an evaluation during training that ends it; null: total_steps alone do");
}

void describe(options_schema<checkpoint_section>& s) {
  s.field("every_updates", &checkpoint_section::every_updates)
      .at_least(0)
      .unit("updates")
      .help(
          "between checkpoints, at which rollouts come to rest; 0, the default: none. 10 costs "
          "a run of seconds little, 1 loses the least");
  s.field("keep", &checkpoint_section::keep)
      .at_least(1)
      .at_most(1000)
      .help("checkpoints that stay; a damaged one is passed over for the one before");
}

}  // namespace troupe
