#pragma once
// The role that collects transitions for DQN, SAC, TD3 and DDPG, and for IQL, VDN, QMIX and MADDPG.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "actors/environments/hosted_environment.hpp"
#include "actors/networks/acting_network.hpp"
#include "actors/networks/acting_policies.hpp"
#include "actors/networks/choice_map.hpp"
#include "actors/replay/n_step.hpp"
#include "actors/replay/transition_replay.hpp"
#include "actors/weights/weight_store.hpp"
#include "algorithms/off_policy/agent_steps.hpp"
#include "algorithms/off_policy/exploration.hpp"
#include "runtime/service/options/replica_info.hpp"
#include "runtime/service/service.hpp"

namespace troupe {

/// What a collector does with several agents, which the policies of its shape play.
struct agent_collection {
  /// [policies] 1 for those that explore; empty means all. The others take their best choices.
  std::vector<std::uint8_t> explores = {};
  std::vector<double> reward_shares = {};  ///< [N, N] See agent_results; empty means own rewards.
  /// True if the transition of an agent that does not act in every step reaches to the next step in
  /// which it acts (agent_steps). False if all transitions are single steps of the environment.
  bool own_steps = false;
  bool reward_after_end = false;   ///< With own_steps: agents get rewards after their own ends.
  bool limits_end = false;         ///< A time limit counts as an end.
  std::string env_options = "{}";  ///< The environment's options, for scripted policies.
};

struct collector_options {
  hosted_environment::factory environments;
  env_observers observers;
  std::uint64_t environment_seed = 0;
  network_shape shape;
  network_options network;
  exploration explore;
  int n_step = 1;                 ///< The number of steps that one transition spans.
  bool discount_rewards = false;  ///< If true, collections contain discounted returns.
  double gamma = 0.99;            ///< The discount per step.
  std::uint64_t seed = 0;  ///< The run's seed; each replica draws actions from its own stream.
  agent_collection agents = {};  ///< Used if the shape has policies.
};

/// The widths of a transition with observations and actions of that shape.
transition_widths widths_of(const network_shape& shape);

/// The role that collects transitions. It has both the environments and the acting network, so that
/// one message makes any number of steps.
class collector {
 public:
  /// Throws std::invalid_argument if the network does not fit the environments, and for several
  /// agents with n_step > 1 or with other actions than one choice each or floats alone.
  collector(const replica_info& info, collector_options options, service<weight_store> store);

  /// Takes the newest weights before the replica serves, also after a restart.
  task<> catch_up();

  /// Makes `steps` steps of each environment, from their present states. `first` is the number of
  /// environment steps of the run before these, on which the exploration depends. A step in which
  /// an environment fails gives no transition.
  collected_transitions collect(std::int64_t first, std::int64_t steps);

  /// These set what the environments practise; see hosted_environment.
  void set_level(std::size_t level) { environments_.set_level(level); }
  void set_turns(std::vector<std::size_t> turns, std::size_t replicas) {
    environments_.set_turns(std::move(turns), replicas);
  }
  void set_options(const std::string& json) { environments_.set_options(json); }
  void set_attr(const std::string& name, const std::string& json) {
    environments_.set_attr(name, json);
  }
  std::vector<graded_episode> take_graded() { return environments_.take_graded(); }

  /// Takes newer weights. Weights that are not newer than those in use are ignored.
  void update(weights fresh);

  /// The state for checkpoints: environments, positions in episodes, random generator, noise, and
  /// n-step sums and transitions of agents that have begun. The weights are in the weight store.
  std::string save();
  /// Restores what `save` returned. Throws state_error if it does not fit.
  void restore(std::string bytes);

 private:
  struct action {
    std::vector<float> taken;
    std::int64_t choice = 0;
  };
  using sum_of_steps = n_step<std::vector<float>, action>;
  struct state;
  struct agents_state;
  /// The position of an environment: its episode and the number of its next step in it.
  struct episode_step {
    std::uint32_t episode = 0;
    std::uint32_t step = 0;
    void begin_another() {
      ++episode;
      step = 0;
    }
  };

  void serve_agents();
  /// Begins new episodes in all environments, after a reset.
  void begin_episodes();
  /// Chooses the actions of all environments after `step` environment steps of the run. As a
  /// transition keeps them, they are in taken_ or choice_.
  env_actions act(std::span<const float> obs, std::int64_t step);
  void choose(std::span<const float> obs, std::int64_t step);
  void choose_floats(std::span<const float> obs, bool at_random);
  /// Draws the noise of state-dependent exploration, if it is due before step t of a collection.
  void draw_noise(std::int64_t t);
  void append(transition_rows& to, std::span<const float> before, const env_step& after);
  void append_row(transition_rows& to, std::size_t i, const float* before, const float* next,
                  const env_step& after);
  void refuse_turns(const float* before);
  void append_agents(transition_rows& to, std::size_t i, const float* before, const float* next,
                     const env_step& after, episode_end end);
  /// Appends the place in its episode of a row of environment i: its first step, and how the
  /// episode ended with that step.
  void append_place(transition_rows& to, std::size_t i, std::uint32_t step, episode_end end) const;

  collector_options options_;
  std::uint32_t first_environment_ = 0;  // index among the environments of all collectors
  service<weight_store> store_;
  hosted_environment environments_;
  std::optional<single_network> network_;    // of a single agent
  std::optional<acting_policies> policies_;  // of several agents
  action_scale scale_;
  choice_map choices_;
  std::size_t count_;  // B
  action_noise noise_;
  action_random random_;
  std::int64_t version_ = -1;

  std::vector<std::int64_t> choice_;          // [B, P] if actions are discrete, else empty
  std::vector<float> taken_;                  // [B, A] if actions are continuous, else empty
  std::vector<sum_of_steps> sums_;            // [B] if n_step > 1, else empty
  std::vector<episode_step> at_;              // [B]
  random_choices explore_;                    // of several agents
  std::vector<std::uint8_t> float_explores_;  // [A] of several agents
  std::vector<float> best_;                   // [B, A] of several agents
  agent_results results_;
  std::vector<agent_steps> agent_steps_;  // [B] with own_steps, else empty
};

}  // namespace troupe
