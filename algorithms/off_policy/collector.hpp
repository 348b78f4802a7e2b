#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "actors/environments/hosted_environment.hpp"
#include "actors/networks/acting_network.hpp"
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
  int n_step = 1;                 ///< Steps of one transition.
  bool discount_rewards = false;  ///< Collections come with discounted returns of `gamma`.
  double gamma = 0.99;
  std::uint64_t seed = 0;  ///< Of the run; each replica draws actions from a stream of its own.
};

/// What one transition of these observations and actions has.
transition_widths widths_of(const network_shape& shape);

/// The role that makes transitions: environments and a network in one, so that any number of steps
/// is one message.
class collector {
 public:
  /// Throws std::invalid_argument if the network does not fit the environments.
  collector(const replica_info& info, collector_options options, service<weight_store> store);

  /// Takes the newest weights before the replica serves, also after a restart.
  task<> catch_up();

  /// `steps` of each environment, from where they were left. `first`: environment steps of the run
  /// before these, which the exploration follows. A step whose environment fails gives no
  /// transition.
  collected_transitions collect(std::int64_t first, std::int64_t steps);

  /// What its environments practise; see hosted_environment.
  void set_level(std::size_t level) { environments_.set_level(level); }
  void set_turns(std::vector<std::size_t> turns, std::size_t replicas) {
    environments_.set_turns(std::move(turns), replicas);
  }
  std::vector<graded_episode> take_graded() { return environments_.take_graded(); }

  /// Swaps in newer weights; older ones than those in use are ignored.
  void update(weights fresh);

  /// Environments, where their episodes are, generator, noise and the sums of n steps that have
  /// begun, for checkpoints; the weights are the store's.
  std::string save();
  /// Throws state_error.
  void restore(std::string bytes);

 private:
  struct action {
    std::vector<float> taken;
    std::int64_t choice = 0;
  };
  using sum_of_steps = n_step<std::vector<float>, action>;
  struct state;
  /// Where an environment is: its next step, and the episode that this is of.
  struct episode_step {
    std::uint32_t episode = 0;
    std::uint32_t step = 0;
    void begin_another() {
      ++episode;
      step = 0;
    }
  };

  /// The environments were reset, whatever they did before.
  void begin_episodes();
  /// Actions of all environments after `step`; as a transition keeps them in taken_ or choice_.
  env_actions act(std::span<const float> obs, std::int64_t step);
  void choose(std::span<const float> obs, std::int64_t step);
  /// Before step t of a collection: what state-dependent exploration goes by.
  void draw_noise(std::int64_t t);
  void append(transition_rows& to, std::span<const float> before, const env_step& after);
  void append_row(transition_rows& to, std::size_t i, const float* before, const float* next,
                  const env_step& after);
  /// Where the row of environment i lies that sums `steps` steps up to this one, with which its
  /// episode ended as `end` says.
  void append_place(transition_rows& to, std::size_t i, int steps, episode_end end) const;

  collector_options options_;
  std::uint32_t first_environment_ = 0;  // of all collectors' environments
  service<weight_store> store_;
  hosted_environment environments_;
  single_network network_;
  action_scale scale_;
  std::size_t count_;  // B
  action_noise noise_;
  action_random random_;
  std::int64_t version_ = -1;

  std::vector<std::int64_t> choice_;  // [B] of discrete actions, else empty
  std::vector<float> taken_;          // [B, A] of continuous actions, else empty
  std::vector<sum_of_steps> sums_;    // [B] where n_step > 1, else empty
  std::vector<episode_step> at_;      // [B]
};

}  // namespace troupe
