#pragma once
// The sections that the configurations of all algorithms have in common. The `describe` function
// of each section, in config.cpp, has the unit, the range and the meaning of its options.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "actors/environments/hosted_environment.hpp"
#include "actors/networks/network.hpp"
#include "actors/worlds/registry.hpp"
#include "algorithms/learner/annealing.hpp"
#include "algorithms/run/task_sections.hpp"
#include "runtime/config/config.hpp"
#include "runtime/service/options/fault_plan.hpp"
#include "runtime/service/options/placement.hpp"

namespace troupe {

void describe(options_schema<channel_options>& s);

/// How rollouts and training are composed.
enum class training_mode {
  sync,   ///< The run alternates between rollouts and an update with them.
  async,  ///< Rollouts go on while the trainer trains, within a staleness bound.
};

struct env_section {
  std::string id = "CartPole-v1";
  int n_envs = 1;
  int replicas = 1;
  bool normalize_obs = false;
  bool normalize_reward = false;
  json_object options = {};
  json_object reset_options = {};
  std::vector<std::string> wrappers = {};
  std::optional<std::int64_t> max_episode_steps = {};
  int frame_stack = 1;
  bool rescale_action = false;
  double reward_scale = 1;
  std::optional<double> reward_clip = {};
  bool difference_rewards = false;
  std::optional<channel_options> channel = {};
  std::vector<std::string> info = {};
  std::string placement = "shared";
  std::string python = {};
  double start_timeout = 120;
  double reset_timeout = 60;
  double step_timeout = 60;
  std::int64_t memory_limit_mb = 0;
  std::int64_t replace_after_episodes = 0;
  std::int64_t replace_above_mb = 0;
  bool render = false;  ///< No option: environments in Python can draw pictures.
  std::optional<curriculum_section> curriculum = {};
  std::optional<std::vector<task_section>> tasks = {};
  schedule_section schedule = {};

  /// The name of the environment: `id`, or the tasks' names together.
  std::string name() const;
  /// The request for the environment `id`.
  environment_request request() const;
};

/// True if environments of the section wait for another process, such as those in Python.
bool blocks(const env_section& env);

/// The placement of the replicas of these environments: env.placement, but a thread each instead of
/// the pool for environments that wait for another process.
placement place_of(const env_section& env);

/// Throws config_error if a deterministic run can't have these environments.
void require_deterministic(const env_section& env);

/// Returns service_options::max_call_time for replicas of these environments. Environments that
/// wait for another process have their own limits, so theirs is no_limit.
duration max_call_time_of(const env_section& env);

/// Reads "shared", "thread", "process" or "node:PATTERN". Throws std::invalid_argument for any
/// other text.
placement placement_of(const std::string& text);

/// The specification of the environment inside its wrappers. Throws unknown_environment, and
/// std::invalid_argument if a wrapper does not fit.
env_spec spec_of(const env_section& env);
/// The section for evaluations, whose rewards are the environment's own.
env_section for_evaluation(env_section env);
/// A factory, for an environment role, of `count` such environments.
hosted_environment::factory environments_of(const env_section& env, int count);
/// The program that hosts such environments alone, for serve_options::program: env-host if it is
/// there and has them, else this one.
std::string program_of(const env_section& env);

struct evaluation_section {
  std::int64_t every_steps = 10'000;
  int episodes = 10;
  int final_episodes = 100;
  std::optional<double> stop_at = {};
};

struct checkpoint_section {
  std::int64_t every_updates = 0;
  int keep = 3;
};

/// The options that all algorithms for environments have in common. The configuration of an
/// algorithm is derived from it.
struct run_config {
  std::string algo;  ///< The algorithm's name, such as "dqn".
  env_section env;
  std::int64_t total_steps = 100'000;
  std::optional<std::int64_t> schedule_steps = {};
  std::uint64_t seed = 1;
  training_mode mode = training_mode::sync;
  evaluation_section evaluation;
  checkpoint_section checkpoint;
  bool deterministic = false;
  std::string faults;

  /// Reads `faults`. Throws fault_plan_error.
  fault_plan plan() const;
};

/// True if placement_of can read `text`.
bool is_placement(const std::string& text);

/// Describes a field whose value is a placement or, with `or_auto`, the text "auto".
template <class Section>
detail::field_schema<Section> describe_placement(options_schema<Section>& s, const char* name,
                                                 std::string Section::* member,
                                                 bool or_auto = false) {
  auto field = s.field(name, member);
  s.rule(name, std::string(or_auto ? "auto, " : "") + "shared, thread, process or node:PATTERN",
         [=](const Section& of) {
           return (or_auto && of.*member == "auto") || is_placement(of.*member);
         });
  return field;
}

/// Describes a field that is a time in seconds, of up to a day.
template <class Section>
detail::field_schema<Section> describe_timeout(options_schema<Section>& s, const char* name,
                                               double Section::* member) {
  return s.field(name, member).above(0).at_most(86'400).unit("seconds");
}

/// Describes the interpreter and the memory limit of Python processes. `what` they have says what
/// runs in them.
template <class Section>
void describe_python(options_schema<Section>& s, const char* name,
                     std::string Section::* interpreter, std::int64_t Section::* memory_limit_mb,
                     const std::string& what) {
  s.field(name, interpreter)
      .help("The Python interpreter of " + what +
            " in Python; empty means $VIRTUAL_ENV's, else python3.");
  s.field("memory_limit_mb", memory_limit_mb)
      .at_least(0)
      .at_most(1 << 24)
      .unit("MiB")
      .help("The limit of private memory of a process of " + what +
            " in Python; 0 means none. Beyond it Python raises MemoryError.");
}

void describe(enum_schema<training_mode>& s);
void describe(enum_schema<activation>& s);
void describe(enum_schema<annealing>& s);
void describe(enum_schema<network_body>& s);
void describe(enum_schema<gradient_backend>& s);
void describe(options_schema<cnn_options>& s);

/// Describes the fields that the policy sections of all algorithms begin with: kind, cnn, backend
/// and device.
template <class Policy, class Owner>
void describe_network(options_schema<Policy>& s, network_body Owner::* body,
                      cnn_options Owner::* cnn, gradient_backend Owner::* backend,
                      std::string Owner::* device) {
  s.field("kind", body)
      .help(
          "The kind of network: mlp is a multilayer perceptron for any numbers, cnn has "
          "convolutions for images, multi_input has them for each image of a Dict or Tuple beside "
          "its other parts, auto is cnn or multi_input if the environment shows images and else "
          "mlp.");
  s.field("cnn", cnn).help("The layers that each image goes through, with cnn and multi_input.");
  s.field("backend", backend)
      .help(
          "The code that computes gradients: fused is hand-written kernels, libtorch is its "
          "autograd, auto is fused if the architecture allows it and no layer has 1024x1024 "
          "weights.");
  s.field("device", device)
      .help("The device on which networks act and learn: cpu, cuda or cuda:N.");
  s.rule("device", "cpu, cuda or cuda:N",
         [device](const Policy& p) { return is_device_name(p.*device); });
}

/// Describes the options `layer_norm` and `encoder` of a policy section with these members.
template <class Policy, class Owner>
void describe_layers(options_schema<Policy>& s, bool Owner::* layer_norm,
                     std::string Owner::* encoder) {
  s.field("layer_norm", layer_norm)
      .also_known_as({"use_layer_norm", "norm_class"})
      .help(
          "If true, each hidden layer of actor and critic has a layer norm before its activation, "
          "as in DroQ (Hiraoka et al. 2022).");
  s.field("encoder", encoder)
      .also_known_as({"features_extractor_class", "custom_model"})
      .help(
          "The name of a network that the program or a plug-in registers. The hidden layers of "
          "actor and critic see its features in place of the observations. Empty means none.");
}

/// Describes the options of actors/networks/state_dependent_noise.hpp in a Section with these
/// members.
template <class Section>
void describe_sde(options_schema<Section>& s) {
  s.field("use_sde", &Section::use_sde)
      .help(
          "If true, continuous actions are explored by generalised state-dependent exploration "
          "(Raffin et al. 2021).");
  s.field("use_expln", &Section::use_expln)
      .has_effect_if("policy.use_sde is true", [](const Section& o) { return o.use_sde; })
      .help(
          "If true, standard deviations grow as log(1 + p) + 1 above 1, else as "
          "exp(p), for a parameter p.");
  s.field("sde_sample_freq", &Section::sde_sample_freq)
      .at_least(-1)
      .unit("steps")
      .has_effect_if("policy.use_sde is true", [](const Section& o) { return o.use_sde; })
      .help("The noise is drawn every so many steps; -1 draws it once a rollout.");
  s.rule("sde_sample_freq", "-1 or a number > 0",
         [](const Section& o) { return o.sde_sample_freq != 0; });
}

/// Says of options of a section, such as `rollout`, that they have an effect in async mode alone.
template <class Config, class Base, class Section, class... Members>
void describe_async(options_schema<Config>& s, Section Base::* section, Members... members) {
  (s.option(section, members)
       .has_effect_if("mode is async",
                      [](const Config& c) { return c.mode == training_mode::async; }),
   ...);
}

/// Reads a fault plan of a configuration; an empty text is the plan without faults. Throws
/// fault_plan_error.
fault_plan fault_plan_of(const std::string& text);
/// True if fault_plan_of can read `text`.
bool is_fault_plan(const std::string& text);

/// Describes the fields `deterministic` and `faults` of a Config.
template <class Config>
void describe_deterministic(options_schema<Config>& s) {
  s.field("deterministic", &Config::deterministic)
      .help(
          "If true, the run has one thread, virtual time and an order drawn from the seed, so the "
          "same seed gives the same weights.");
  s.field("faults", &Config::faults)
      .help(
          "The faults that a deterministic run injects: random, or a list such as "
          "crash=0.001,delay=0.01:50ms; empty means none.");
  s.rule("faults", "\"\" where deterministic is false",
         [](const Config& c) { return c.faults.empty() || c.deterministic; });
  s.rule("faults", "random, or faults such as crash=0.001,delay=0.01:50ms",
         [](const Config& c) { return is_fault_plan(c.faults); });
}

/// Describes the field `max_skipped_steps` of an update rule's Options.
template <class Options>
void describe_skips(options_schema<Options>& s) {
  s.field("max_skipped_steps", &Options::max_skipped_steps)
      .at_least(1)
      .help(
          "Training ends with an error after so many optimiser steps in a row whose loss or "
          "gradient was not finite.");
}

/// Describes the fields `lr` and `lr_schedule` of an update rule's Options.
template <class Options>
void describe_lr(options_schema<Options>& s) {
  s.field("lr", &Options::lr)
      .also_known_as({"learning_rate"})
      .above(0)
      .help("The optimiser's step size at the start of training.");
  s.field("lr_schedule", &Options::lr_schedule)
      .help("How lr changes: constant keeps it, linear lets it fall to 0 at the end of training.");
}

/// Describes the field `schedule_steps` of a configuration.
template <class Config, class Member>
void describe_schedule_steps(options_schema<Config>& s, Member member, const char* unit) {
  s.field("schedule_steps", member)
      .at_least(1)
      .at_most(1e15)
      .unit(unit)
      .help(
          "The length of all schedules, such as trainer.lr_schedule, which keep their last values "
          "after it. null means total_steps. A resumption with a later end (--steps) keeps the "
          "length that they had, or with --schedules stretch sets null.");
}

/// Describes the fields of run_config for a Config derived from it, and the section `log`. `unit`
/// is what the algorithm gathers experience in, such as "rollout", `seeded` is what its seed
/// decides, and `evaluated` says how evaluations play. `sections` describes the algorithm's own
/// sections.
template <class Config, class Sections>
void describe_run(options_schema<Config>& s, const std::string& unit, const std::string& seeded,
                  const std::string& evaluated, Sections sections) {
  s.field("algo", &run_config::algo).one_of({Config().algo}).help("The name of the algorithm.");
  s.field("env", &run_config::env).help("The environment that the policy learns on.");
  s.field("total_steps", &run_config::total_steps)
      .also_known_as({"total_timesteps", "steps"})
      .at_least(1)
      .at_most(1e15)
      .unit("environment steps")
      .help("Training ends after at least so many environment steps; the last " + unit +
            " is completed.");
  describe_schedule_steps(s, &run_config::schedule_steps, "environment steps");
  s.field("seed", &run_config::seed).help("The seed of " + seeded + " and environments.");
  s.field("mode", &run_config::mode)
      .help("sync alternates between " + unit + "s and updates; async makes " + unit +
            "s while the trainer trains.");
  sections();
  s.field("evaluation", &run_config::evaluation)
      .help("Evaluations play episodes " + evaluated + " and store nothing.");
  s.field("checkpoint", &run_config::checkpoint)
      .help("The checkpoints from which a run can be resumed.");
  s.field("log", &Config::log).help("The rows of progress.csv.");
  describe_deterministic(s);
}

/// Describes the field `gamma` of an update rule's Options.
template <class Options>
void describe_gamma(options_schema<Options>& s) {
  s.field("gamma", &Options::gamma)
      .at_least(0)
      .at_most(1)
      .help("The discount of rewards per step.");
}

void describe(options_schema<env_section>& s);
void describe(options_schema<evaluation_section>& s);
void describe(options_schema<checkpoint_section>& s);

}  // namespace troupe
