#pragma once
// The sections that the configurations of all algorithms have in common. `describe` of each, in
// config.cpp, has the unit, the range and the meaning of its options.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "actors/environments/hosted_environment.hpp"
#include "actors/environments/wrappers.hpp"
#include "actors/networks/network.hpp"
#include "algorithms/learner/annealing.hpp"
#include "algorithms/run/option_rules.hpp"
#include "algorithms/run/practice_sections.hpp"
#include "runtime/config/config.hpp"
#include "runtime/service/options/fault_plan.hpp"
#include "runtime/service/options/placement.hpp"

namespace troupe {

/// How rollouts and training are composed.
enum class training_mode {
  sync,   ///< Rollouts, then an update with them, in turn.
  async,  ///< Rollouts go on while the trainer trains, within a staleness bound.
};

struct env_section {
  std::string id = "CartPole-v1";
  int n_envs = 1;
  int replicas = 1;
  bool normalize_obs = false;
  bool normalize_reward = false;
  std::optional<std::int64_t> max_episode_steps;
  int frame_stack = 1;
  bool rescale_action = false;
  std::string placement = "shared";
  std::optional<curriculum_section> curriculum;
  std::optional<std::vector<task_section>> tasks;
  schedule_section schedule;

  /// `id`, or the tasks' together.
  std::string name() const;
  wrapper_options wrappers() const;
};

/// "shared", "thread", "process", "node:PATTERN". Throws std::invalid_argument.
placement placement_of(const std::string& text);

/// What such an environment is, in its wrappers. Throws unknown_environment, and
/// std::invalid_argument where a wrapper does not fit.
env_spec spec_of(const env_section& env);
/// `count` of them, as an environment role makes them.
hosted_environment::factory environments_of(const env_section& env, int count);

struct evaluation_section {
  std::int64_t every_steps = 10'000;
  int episodes = 10;
  int final_episodes = 100;
  std::optional<double> stop_at;
};

struct checkpoint_section {
  std::int64_t every_updates = 0;
  int keep = 3;
};

/// The rules of sections that all algorithms on environments have.
std::vector<idle_rule> idle_rules_of(const evaluation_section& evaluation,
                                     const checkpoint_section& checkpoint);
/// Of checkpoints alone.
idle_rule idle_rule_of(const checkpoint_section& checkpoint);

/// Whether placement_of reads it.
bool is_placement(const std::string& text);

/// A field whose text is a placement, or also "auto" where that is one of its values.
template <class Section>
detail::field_schema& describe_placement(options_schema<Section>& s, const char* name,
                                         std::string Section::* member, bool or_auto = false) {
  auto& field = s.field(name, member);
  s.rule(name, std::string(or_auto ? "auto, " : "") + "shared, thread, process or node:PATTERN",
         [=](const Section& of) {
           return (or_auto && of.*member == "auto") || is_placement(of.*member);
         });
  return field;
}

void describe(enum_schema<training_mode>& s);
void describe(enum_schema<activation>& s);
void describe(enum_schema<annealing>& s);
void describe(enum_schema<network_body>& s);
void describe(enum_schema<gradient_backend>& s);
void describe(options_schema<cnn_options>& s);

/// What the policy sections of all algorithms begin with: kind, cnn, backend and device.
template <class Policy, class Owner>
void describe_network(options_schema<Policy>& s, network_body Owner::* body,
                      cnn_options Owner::* cnn, gradient_backend Owner::* backend,
                      std::string Owner::* device) {
  s.field("kind", body)
      .help(
          "mlp: perceptrons, for any numbers; cnn: convolutions, for images; auto: cnn where the "
          "environment shows images");
  s.field("cnn", cnn).help("the layers of kind cnn");
  s.field("backend", backend)
      .help(
          "whose gradients: fused, hand-written kernels; libtorch, its autograd; auto: fused where "
          "the architecture allows it and no layer has 1024x1024 weights");
  s.field("device", device)
      .help("where networks act and learn: cpu, cuda or cuda:N; a GPU is not tried yet");
  s.rule("device", "cpu, cuda or cuda:N",
         [device](const Policy& p) { return is_device_name(p.*device); });
}

/// How actors/networks/state_dependent_noise.hpp is configured, of any Section with these members.
template <class Section>
void describe_sde(options_schema<Section>& s) {
  s.field("use_sde", &Section::use_sde)
      .help("generalised state-dependent exploration: Raffin et al. 2021; of continuous actions");
  s.field("use_expln", &Section::use_expln)
      .help("with use_sde, standard deviations grow as log(1 + p) + 1 above 1; else as exp(p)");
  s.field("sde_sample_freq", &Section::sde_sample_freq)
      .at_least(-1)
      .unit("steps")
      .help("with use_sde, between draws of its noise; -1: one draw a rollout");
  s.rule("sde_sample_freq", "-1 or a number > 0",
         [](const Section& o) { return o.sde_sample_freq != 0; });
}

/// A plan as a configuration has it: empty: nothing goes wrong. Throws fault_plan_error.
fault_plan fault_plan_of(const std::string& text);
/// Whether that can be read.
bool is_fault_plan(const std::string& text);

/// The fields `deterministic` and `faults` of a Config that has them.
template <class Config>
void describe_deterministic(options_schema<Config>& s) {
  s.field("deterministic", &Config::deterministic)
      .help(
          "one thread, virtual time, an order drawn from the seed: the same seed gives the same "
          "weights");
  s.field("faults", &Config::faults)
      .help(
          "what goes wrong on purpose in a deterministic run: random, or such as "
          "crash=0.001,delay=0.01:50ms; empty: nothing");
  s.rule("faults", "\"\" where deterministic is false",
         [](const Config& c) { return c.faults.empty() || c.deterministic; });
  s.rule("faults", "random, or faults such as crash=0.001,delay=0.01:50ms",
         [](const Config& c) { return is_fault_plan(c.faults); });
}

/// The field `max_skipped_steps` of an update rule's Options.
template <class Options>
void describe_skips(options_schema<Options>& s) {
  s.field("max_skipped_steps", &Options::max_skipped_steps)
      .at_least(1)
      .help("optimiser steps in a row with non-finite numbers that end training");
}

/// The fields `lr` and `lr_schedule` of an update rule that begins at lr.
template <class Options>
void describe_lr(options_schema<Options>& s) {
  s.field("lr", &Options::lr)
      .also_known_as({"learning_rate"})
      .above(0)
      .help("the optimiser's step size at the start");
  s.field("lr_schedule", &Options::lr_schedule).help("linear: falls to 0 at the end");
}

/// The field `gamma` of an update rule's Options.
template <class Options>
void describe_gamma(options_schema<Options>& s) {
  s.field("gamma", &Options::gamma).at_least(0).at_most(1).help("discount a step");
}

void describe(options_schema<env_section>& s);
void describe(options_schema<evaluation_section>& s);
void describe(options_schema<checkpoint_section>& s);

}  // namespace troupe
