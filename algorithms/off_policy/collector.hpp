#pragma once
// The role that collects transitions for DQN, SAC, TD3 and DDPG.

#include <cstdint>
#include <span>
#include <string>

#include "actors/environments/hosted_environment.hpp"
#include "actors/networks/acting_network.hpp"
#include "actors/networks/choice_map.hpp"
#include "actors/replay/n_step.hpp"
#include "actors/replay/transition_replay.hpp"
#include "actors/weights/weight_store.hpp"
#include "algorithms/off_policy/exploration.hpp"
#include "runtime/service/options/replica_info.hpp"
#include "runtime/service/service.hpp"

namespace troupe {

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
};

/// The widths of a transition with observations and actions of that shape.
transition_widths widths_of(const network_shape& shape);

/// The role that collects transitions. It has both the environments and the acting network, so that
/// one message makes any number of steps.
class collector {
 public:
  /// Throws std::invalid_argument if the network does not fit the environments.
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
  /// n-step sums that have begun. The weights are in the weight store.
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
  /// The position of an environment: its episode and the number of its next step in it.
  struct episode_step {
    std::uint32_t episode = 0;
    std::uint32_t step = 0;
    void begin_another() {
      ++episode;
      step = 0;
    }
  };

  /// Begins new episodes in all environments, after a reset.
  void begin_episodes();
  /// Chooses the actions of all environments after `step` environment steps of the run. As a
  /// transition keeps them, they are in taken_ or choice_.
  env_actions act(std::span<const float> obs, std::int64_t step);
  void choose(std::span<const float> obs, std::int64_t step);
  /// Draws the noise of state-dependent exploration, if it is due before step t of a collection.
  void draw_noise(std::int64_t t);
  void append(transition_rows& to, std::span<const float> before, const env_step& after);
  void append_row(transition_rows& to, std::size_t i, const float* before, const float* next,
                  const env_step& after);
  /// Appends the place in its episode of the row of environment i that sums the last `steps` steps.
  /// `end` says how the episode ended with the last of them.
  void append_place(transition_rows& to, std::size_t i, int steps, episode_end end) const;

  collector_options options_;
  std::uint32_t first_environment_ = 0;  // index among the environments of all collectors
  service<weight_store> store_;
  hosted_environment environments_;
  single_network network_;
  action_scale scale_;
  choice_map choices_;
  std::size_t count_;  // B
  action_noise noise_;
  action_random random_;
  std::int64_t version_ = -1;

  std::vector<std::int64_t> choice_;  // [B] if actions are discrete, else empty
  std::vector<float> taken_;          // [B, A] if actions are continuous, else empty
  std::vector<sum_of_steps> sums_;    // [B] if n_step > 1, else empty
  std::vector<episode_step> at_;      // [B]
};

}  // namespace troupe
