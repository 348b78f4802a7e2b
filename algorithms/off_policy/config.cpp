#include "algorithms/off_policy/config.hpp"

#include <algorithm>

namespace troupe {

std::int64_t ring_section::capacity_for(std::size_t transition_bytes) const {
  constexpr std::int64_t most = 1'000'000;
  return capacity.value_or(std::min(most, max_bytes / static_cast<std::int64_t>(transition_bytes)));
}

std::int64_t off_policy_config::steps_of_collection() const {
  return std::int64_t{collection.train_freq} * env.n_envs;
}

std::int64_t off_policy_config::warm_up() const {
  return collection.learning_starts / steps_of_collection();
}

std::int64_t off_policy_config::updates() const {
  return (total_steps + steps_of_collection() - 1) / steps_of_collection() - warm_up();
}

std::int64_t off_policy_config::steps_of_schedules() const {
  auto scheduled = *this;
  scheduled.total_steps = schedule_steps.value_or(total_steps);
  return std::max<std::int64_t>(1, (scheduled.updates() + warm_up()) * steps_of_collection());
}

std::int64_t off_policy_config::gradient_steps() const {
  return collection.gradient_steps < 0 ? steps_of_collection() : collection.gradient_steps;
}

void describe(options_schema<collection_section>& s) {
  s.field("learning_starts", &collection_section::learning_starts)
      .at_least(0)
      .at_most(1e15)
      .unit("environment steps")
      .help(
          "The first so many environment steps take uniformly random actions; training begins once "
          "more have been made.");
  describe_train_freq(s);
  s.field("gradient_steps", &collection_section::gradient_steps)
      .at_least(-1)
      .at_most(1'048'576)
      .help(
          "The number of gradient steps of an update; -1 means as many as a collection has "
          "environment steps.");
  describe_async_collections(s);
  s.rule("gradient_steps", "-1 or a number > 0",
         [](const collection_section& c) { return c.gradient_steps != 0; });
}

void describe(options_schema<priority_options>& s) {
  s.field("alpha", &priority_options::alpha)
      .at_least(0)
      .at_most(1)
      .help("The exponent of the priorities; 0 draws uniformly.");
  s.field("beta", &priority_options::beta)
      .also_known_as({"beta_start"})
      .at_least(0)
      .at_most(1)
      .help("The exponent of the importance weights at the start of training; 1 corrects in full.");
  s.field("beta_end", &priority_options::beta_end)
      .at_least(0)
      .at_most(1)
      .help(
          "The exponent of the importance weights at the end of training; it changes linearly from "
          "beta.");
  s.field("eps", &priority_options::eps)
      .above(0)
      .help("It is added to each |TD error|, so that every transition can be drawn again.");
}

void describe(options_schema<ring_section>& s) {
  s.field("capacity", &ring_section::capacity)
      .at_least(1)
      .at_most(4'294'967'295)
      .unit("transitions")
      .help(
          "The largest number of transitions; beyond it, new ones replace the oldest. null means "
          "1000000, or as many as max_bytes holds if those are fewer. Memory grows as transitions "
          "arrive.");
  s.field("max_bytes", &ring_section::max_bytes)
      .at_least(1)
      .unit("bytes")
      .help(
          "The largest size of the replay; a capacity that would need more is refused. Images are "
          "kept as bytes, and a frame that several observations show is kept once.");
  s.field("n_step", &ring_section::n_step)
      .at_least(1)
      .at_most(1000)
      .unit("steps")
      .help("The number of steps that one transition spans (Hessel et al. 2018, section 3).");
  s.field("prioritised", &ring_section::prioritised)
      .also_known_as({"prioritized", "per"})
      .help(
          "Transitions are drawn by their TD errors (Schaul et al. 2016) with these options; {} "
          "means the defaults, null draws uniformly.");
}

network_options hidden_section::options(network_kind kind) const {
  return {.body = body,
          .cnn = cnn,
          .hidden = hidden,
          .critic_hidden = critic_hidden,
          .hidden_activation = activation,
          .layer_norm = layer_norm,
          .encoder = encoder,
          .ortho_init = false,
          .backend = backend,
          .kind = kind,
          .device = device};
}

void describe(options_schema<hidden_section>& s) { describe_hidden(s); }

void describe(options_schema<episode_log_section>& s) {
  s.field("episodes", &episode_log_section::episodes)
      .at_least(1)
      .at_most(1'000'000)
      .help("progress.csv gets one row every so many episodes of training.");
}

void describe(options_schema<epsilon_schedule>& s) {
  s.field("initial", &epsilon_schedule::initial)
      .at_least(0)
      .at_most(1)
      .help("The share of random actions at the start of training.");
  s.field("final", &epsilon_schedule::final)
      .at_least(0)
      .at_most(1)
      .help("The share of random actions after the first `fraction` of training.");
  s.field("fraction", &epsilon_schedule::fraction)
      .at_least(0)
      .at_most(1)
      .help("The share of total_steps over which the share of random actions changes linearly.");
}

void describe(enum_schema<noise_kind>& s) {
  s.name("none", noise_kind::none)
      .name("normal", noise_kind::normal)
      .name("ornstein_uhlenbeck", noise_kind::ornstein_uhlenbeck);
}

void describe(options_schema<action_noise_options>& s) {
  s.field("kind", &action_noise_options::kind)
      .help("The kind of noise that is added to actions, which are within -1..1.");
  s.field("std", &action_noise_options::std)
      .at_least(0)
      .has_effect_if("noise.kind is not none",
                     [](const action_noise_options& n) { return n.kind != noise_kind::none; })
      .help("The standard deviation of the noise, sigma.");
  const auto has_memory = [](const action_noise_options& n) {
    return n.kind == noise_kind::ornstein_uhlenbeck;
  };
  s.field("theta", &action_noise_options::theta)
      .at_least(0)
      .has_effect_if("noise.kind is ornstein_uhlenbeck", has_memory)
      .help("The rate at which the noise returns to 0.");
  s.field("dt", &action_noise_options::dt)
      .above(0)
      .has_effect_if("noise.kind is ornstein_uhlenbeck", has_memory)
      .help("The time step of the noise.");
}

}  // namespace troupe
