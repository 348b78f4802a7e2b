#include "algorithms/on_policy/config.hpp"

namespace troupe {

network_options on_policy_config::network() const {
  auto options = policy;
  options.normalize_obs = env.normalize_obs;
  return options;
}

std::int64_t on_policy_config::steps_of_update() const {
  return std::int64_t{rollout.n_steps} * env.n_envs * rollout.batch;
}

std::int64_t on_policy_config::updates() const {
  return (total_steps + steps_of_update() - 1) / steps_of_update();
}

std::int64_t on_policy_config::steps_of_schedules() const {
  auto scheduled = *this;
  scheduled.total_steps = schedule_steps.value_or(total_steps);
  return scheduled.updates() * steps_of_update();
}

void describe(enum_schema<optimizer_kind>& s) {
  s.name("adam", optimizer_kind::adam)
      .name("rmsprop", optimizer_kind::rmsprop)
      .name("rmsprop_tensorflow_like", optimizer_kind::rmsprop_tensorflow_like);
}

void describe(enum_schema<value_norm_update>& s) {
  s.name("rollout", value_norm_update::rollout).name("minibatch", value_norm_update::minibatch);
}

void describe(options_schema<on_policy_options>& s) {
  describe_update_rule(s, "optimizer_eps");
  describe_advantages(s);
  describe_epochs(s);
  describe_optimizer(s);
  s.field("baseline", &on_policy_options::baseline)
      .help("If false, there is no critic, and advantages are discounted returns.");
  s.field("whole_episodes", &on_policy_options::whole_episodes)
      .help(
          "If true, the steps of episodes that have not ended when a rollout ends are not trained "
          "on.");
}

void describe(options_schema<rollout_section>& s) {
  s.field("n_steps", &rollout_section::n_steps)
      .at_least(1)
      .at_most(16'777'216)
      .unit("steps")
      .help("The number of steps of each environment in a rollout.");
  s.field("batch", &rollout_section::batch)
      .at_least(1)
      .at_most(4096)
      .help("The number of rollouts of one update.");
  s.field("groups", &rollout_section::groups)
      .at_least(1)
      .at_most(64)
      .help(
          "The number of groups that a rollout's environments are divided into. One group steps "
          "while the policy acts for another; this helps if a step takes as long as acting.");
  s.field("workers", &rollout_section::workers)
      .at_least(1)
      .at_most(4096)
      .help("The number of rollouts under way at once.");
  s.field("max_staleness", &rollout_section::max_staleness)
      .at_least(0)
      .at_most(1'000'000)
      .unit("versions")
      .help(
          "A rollout may be at most so many versions behind the trainer; older ones are dropped.");
}

void describe(options_schema<network_options>& s) {
  describe_network(s, &network_options::body, &network_options::cnn, &network_options::backend,
                   &network_options::device);
  s.field("hidden", &network_options::hidden)
      .also_known_as({"net_arch", "hidden_sizes", "hidden_size"})
      .items(0, 8)
      .example("[64,64]")
      .at_least(1)
      .at_most(16384)
      .help("The widths of the hidden layers of a network of kind mlp or multi_input.");
  s.field("critic_hidden", &network_options::critic_hidden)
      .items(0, 8)
      .at_least(1)
      .at_most(16384)
      .help("The widths of the critic's hidden layers; null means the same as hidden.");
  s.field("shared_hidden", &network_options::shared_hidden)
      .also_known_as({"shared_layers", "shared_trunk", "vf_share_layers"})
      .items(0, 8)
      .example("[64]")
      .at_least(1)
      .at_most(16384)
      .help(
          "The widths of first hidden layers that actor and critic share; those of hidden and "
          "critic_hidden stand on them. [] means that they share none.");
  s.field("activation", &network_options::hidden_activation)
      .also_known_as({"activation_fn"})
      .help("The activation function between the layers.");
  s.field("ortho_init", &network_options::ortho_init)
      .help("If true, the initial weights are orthogonal matrices; if false, PyTorch's defaults.");
  s.field("log_std_init", &network_options::log_std_init)
      .help("The initial log standard deviation of continuous actions.");
  describe_layers(s, &network_options::layer_norm, &network_options::encoder);
  describe_sde(s);
  s.rule("shared_hidden", "[] with policy.encoder, which actor and critic share",
         [](const network_options& o) { return o.shared_hidden.empty() || o.encoder.empty(); });
}

void describe(options_schema<placement_section>& s) {
  describe_placement(s, "policy", &placement_section::policy)
      .help(
          "Where the policy runs: shared, thread, process or node:PATTERN, with the meanings of "
          "env.placement.");
  describe_placement(s, "trainer", &placement_section::trainer, true)
      .help(
          "Where the trainer runs, with the meanings of env.placement; auto is a thread of its own "
          "in async mode or with several replicas, else shared.");
}

void describe(options_schema<log_section>& s) {
  s.field("every_updates", &log_section::every_updates)
      .also_known_as({"log_interval"})
      .at_least(1)
      .help("progress.csv gets one row every so many updates.");
}

}  // namespace troupe
