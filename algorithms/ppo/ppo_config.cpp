#include "algorithms/ppo/ppo_config.hpp"

namespace troupe {

namespace {

bool is_fault_plan(const ppo_config& config) {
  try {
    fault_plan::parse(config.faults);
    return true;
  } catch (const fault_plan_error&) {
    return config.faults.empty();
  }
}

}  // namespace

ppo_options ppo_config::learner() const {
  auto options = trainer;
  options.n_steps = rollout.n_steps;
  options.network = policy;
  return options;
}

std::int64_t ppo_config::steps_of_update() const {
  return std::int64_t{rollout.n_steps} * env.n_envs * rollout.batch;
}

std::int64_t ppo_config::updates() const {
  return (total_steps + steps_of_update() - 1) / steps_of_update();
}

fault_plan ppo_config::plan() const {
  return faults.empty() ? fault_plan{} : fault_plan::parse(faults);
}

void describe(enum_schema<training_mode>& s) {
  s.name("sync", training_mode::sync).name("async", training_mode::async);
}

void describe(enum_schema<activation>& s) {
  s.name("tanh", activation::tanh).name("relu", activation::relu);
}

void describe(enum_schema<lr_schedule>& s) {
  s.name("constant", lr_schedule::constant).name("linear", lr_schedule::linear);
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
}

void describe(options_schema<rollout_section>& s) {
  s.field("n_steps", &rollout_section::n_steps)
      .at_least(1)
      .at_most(16'777'216)
      .unit("steps")
      .help("of each environment in a rollout");
  s.field("batch", &rollout_section::batch)
      .at_least(1)
      .at_most(4096)
      .help("rollouts of one update");
  s.field("workers", &rollout_section::workers)
      .at_least(1)
      .at_most(4096)
      .help("rollouts under way at once in async mode");
  s.field("max_staleness", &rollout_section::max_staleness)
      .at_least(0)
      .at_most(1'000'000)
      .unit("versions")
      .help("that a rollout may be behind the trainer in async mode");
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

void describe(options_schema<network_options>& s) {
  s.field("hidden", &network_options::hidden)
      .also_known_as({"net_arch", "hidden_sizes", "hidden_size"})
      .items(0, 8)
      .example("[64,64]")
      .at_least(1)
      .at_most(16384)
      .help("widths of the hidden layers, the same for actor and critic");
  s.field("activation", &network_options::hidden_activation)
      .also_known_as({"activation_fn"})
      .help("between the layers");
  s.field("ortho_init", &network_options::ortho_init)
      .help("orthogonal initial weights; false: PyTorch's");
  s.field("log_std_init", &network_options::log_std_init)
      .help("start of the log standard deviation of continuous actions");
}

void describe(options_schema<ppo_options>& s) {
  s.field("lr", &ppo_options::lr)
      .also_known_as({"learning_rate"})
      .above(0)
      .help("Adam's step size at the start");
  s.field("lr_schedule", &ppo_options::schedule).help("linear: falls to 0 at the end");
  s.field("batch_size", &ppo_options::batch_size)
      .also_known_as({"minibatch_size"})
      .at_least(2)
      .at_most(16'777'216)
      .unit("rows")
      .help("of a minibatch");
  s.field("n_epochs", &ppo_options::n_epochs)
      .also_known_as({"epochs", "update_epochs"})
      .at_least(1)
      .help("passes over a rollout");
  s.field("gamma", &ppo_options::gamma).at_least(0).at_most(1).help("discount a step");
  s.field("gae_lambda", &ppo_options::gae_lambda)
      .also_known_as({"lambda", "lam"})
      .at_least(0)
      .at_most(1)
      .help("Schulman et al. 2016, equation 16");
  s.field("clip_range", &ppo_options::clip_range)
      .also_known_as({"clip", "clip_coef"})
      .above(0)
      .help("Schulman et al. 2017, equation 7");
  s.field("clip_range_vf", &ppo_options::clip_range_vf)
      .above(0)
      .unit("return")
      .help("value clipping; null: none");
  s.field("normalize_advantage", &ppo_options::normalize_advantage).help("in each minibatch");
  s.field("ent_coef", &ppo_options::ent_coef)
      .also_known_as({"entropy_coef"})
      .at_least(0)
      .help("weight of the entropy bonus");
  s.field("vf_coef", &ppo_options::vf_coef)
      .also_known_as({"value_coef"})
      .at_least(0)
      .help("weight of the value loss");
  s.field("max_grad_norm", &ppo_options::max_grad_norm)
      .at_least(0)
      .help("of all parameters together; 0: no clipping");
  s.field("target_kl", &ppo_options::target_kl)
      .above(0)
      .help("an update stops at an approximate KL of 1.5 times this; null: never");
  s.field("adam_eps", &ppo_options::adam_eps).above(0).help("Adam's epsilon");
  s.field("importance_cap", &ppo_options::importance_cap)
      .above(0)
      .help("largest importance weight of stale data");
  s.field("proximal_correction", &ppo_options::proximal_correction)
      .help("correct fresh data as if it were stale");
  s.field("max_skipped_steps", &ppo_options::max_skipped_steps)
      .at_least(1)
      .help("optimiser steps in a row with non-finite numbers that end training");
}

void describe(options_schema<ppo_config>& s) {
  s.field("env", &ppo_config::env).help("what is learned on");
  s.field("total_steps", &ppo_config::total_steps)
      .also_known_as({"total_timesteps", "steps"})
      .at_least(1)
      .at_most(1e15)
      .unit("environment steps")
      .help("at least; whole rollouts are made");
  s.field("seed", &ppo_config::seed).help("of weights, actions, minibatches and environments");
  s.field("mode", &ppo_config::mode).help("how rollouts and training are composed");
  s.field("rollout", &ppo_config::rollout).help("how experience is made");
  s.field("trainer", &ppo_config::trainer).help("the update rule");
  s.field("policy", &ppo_config::policy).help("the network");
  s.field("evaluation", &ppo_config::evaluation).help("deterministic episodes, nothing stored");
  s.field("checkpoint", &ppo_config::checkpoint).help("what a run is resumed from");
  s.field("deterministic", &ppo_config::deterministic)
      .help(
          "one thread, virtual time, an order drawn from the seed: the same seed gives the same "
          "weights");
  s.field("faults", &ppo_config::faults)
      .help(
          "what goes wrong on purpose in a deterministic run: random, or such as "
          "crash=0.001,delay=0.01:50ms; empty: nothing");
  s.rule("faults", "\"\" where deterministic is false",
         [](const ppo_config& c) { return c.faults.empty() || c.deterministic; });
  s.rule("faults", "random, or faults such as crash=0.001,delay=0.01:50ms", is_fault_plan);
  s.rule("rollout", "n_steps * env.n_envs * batch of at most 2^28 environment steps an update",
         [](const ppo_config& c) { return c.steps_of_update() <= std::int64_t{1} << 28; });
}

}  // namespace troupe
