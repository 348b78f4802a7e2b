#pragma once
// The sections that the configurations of all algorithms have in common.

#include <cstdint>
#include <optional>
#include <string>

#include "actors/env/hosted_environment.hpp"
#include "actors/env/wrappers.hpp"
#include "actors/policy/network.hpp"
#include "algorithms/learner/annealing.hpp"
#include "algorithms/run/practice_sections.hpp"
#include "runtime/config/config.hpp"
#include "runtime/service/placement.hpp"

namespace troupe {

/// How rollouts and training are composed.
enum class training_mode {
  sync,   ///< Rollouts, then an update with them, in turn.
  async,  ///< Rollouts go on while the trainer trains, within a staleness bound.
};

struct env_section {
  std::string id = "CartPole-v1";
  int n_envs = 1;                 ///< B, environments of one replica, stepped in one message
  int replicas = 1;               ///< In async mode at least as many as rollout.workers.
  bool normalize_obs = false;     ///< observations: by running mean and variance, cut to +-10
  bool normalize_reward = false;  ///< rewards: by the deviation of discounted returns, cut to +-10
  std::optional<std::int64_t> max_episode_steps;  ///< none: the environment's own limit
  int frame_stack = 1;                            ///< observations shown at once
  bool rescale_action = false;                    ///< box actions of -1..1, stretched to the bounds
  std::string placement = "shared";               ///< of its replicas; see placement_of
  std::optional<curriculum_section> curriculum;   ///< of its levels; none: the last one alone
  std::optional<std::vector<task_section>> tasks;  ///< none: `id` alone
  schedule_section schedule;                       ///< of the tasks

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
  std::int64_t every_steps = 10'000;  ///< 0: only at the end
  int episodes = 10;                  ///< of an evaluation during training
  int final_episodes = 100;           ///< of the one at the end
  std::optional<double> stop_at;      ///< mean return of one during training that ends it
};

struct checkpoint_section {
  std::int64_t every_updates = 0;  ///< 0: no checkpoints
  int keep = 3;                    ///< the newest that stay on the disk
};

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

void describe(options_schema<env_section>& s);
void describe(options_schema<evaluation_section>& s);
void describe(options_schema<checkpoint_section>& s);

}  // namespace troupe
