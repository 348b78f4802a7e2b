#pragma once
// The replay of the off-policy algorithms: a ring of transitions, from which minibatches are drawn.

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/checkpoint/role_storage.hpp"
#include "actors/environments/running_normalizer.hpp"
#include "actors/replay/admission.hpp"
#include "actors/replay/item_id.hpp"
#include "actors/replay/replay.hpp"
#include "actors/replay/transition_priorities.hpp"
#include "actors/replay/transition_ring.hpp"
#include "runtime/coroutine/combine.hpp"
#include "runtime/coroutine/condition.hpp"

namespace troupe {

/// The transitions of one call of a collector. The rows are copied into the replay's ring; the
/// other members describe them.
struct collected_transitions {
  struct episode {
    /// The number of environment steps of the collection up to the end of the episode, inclusive.
    std::int64_t step;
    double episode_return;
    std::int64_t length;
    std::map<std::string, double> info = {};  ///< Its numbers; see finished_episode::info.
    std::vector<double> agent_returns = {};   ///< Of each agent, if there are several.
  };

  transition_rows rows;
  /// The discounted return of each step; empty unless normalize_reward needs it.
  std::vector<double> discounted;
  std::vector<episode> episodes;  ///< The episodes that ended.
  /// The number of steps of all environments, including steps that gave no transition.
  std::int64_t steps = 0;
  std::int64_t version = 0;  ///< The version of the weights that acted.
  item_id id;
};

struct transition_replay_options {
  transition_widths widths;
  transition_ring_options ring;
  /// The number of collections before the first update. The first `sample` returns them all.
  std::int64_t warm_up = 0;
  /// The number of collections that may begin before the updates on earlier ones are done; 0 in
  /// sync mode.
  std::int64_t max_staleness = 0;
  std::uint64_t seed = 0;  ///< The seed of the draws.
  /// The time after which a waiting `sample` throws replay_starved.
  duration patience = std::chrono::minutes(10);
  /// Options of prioritised draws; empty means uniform draws.
  std::optional<priority_options> prioritised = {};
  /// Normalises drawn observations by the statistics of all observations so far, as
  /// Stable-Baselines3's VecNormalize does with samples of a replay. The ring keeps raw values.
  bool normalize_obs = false;
  /// With normalize_obs, the statistics before the first collection; no columns means none.
  running_moments obs_statistics = {};
  /// Normalises drawn rewards by the statistics of `discounted`; a reward of n steps is one number.
  bool normalize_reward = false;
};

/// The replay between collectors and an off-policy trainer (see replay.hpp). Its items are
/// collections; their rows go into one ring, from which the trainer draws minibatches:
///
///   admit ──> (a collection) ──> insert ──> sample ──> draw, draw, ... ──> trained
///                                  │                     ^   │
///                                  └── ring of rows ─────┘   └─> update_priorities
///
/// One update is due for each collection, so the number of draws of an update sets the ratio of
/// samples to inserts, and neither side runs ahead by more than max_staleness. This is Reverb's
/// rate limiter with these bounds (Cassirer et al. 2021, https://arxiv.org/abs/2102.04736, section
/// 3.3). Draws are from the whole ring.
class transition_replay {
 public:
  using item_type = collected_transitions;

  /// The contents of a replay. If it is given to `serve`, it outlives the replica: a restarted
  /// replica has everything that its predecessor had, except for the number of admitted
  /// collections. Only one replay may use it.
  class storage;

  /// `on` holds the contents; null means that the replay makes its own. Throws
  /// std::invalid_argument like the constructors of transition_ring and transition_priorities.
  explicit transition_replay(const transition_replay_options& options,
                             std::shared_ptr<storage> on = nullptr);

  /// Waits until another collection may begin. Returns false once the replay is closed.
  task<bool> admit();
  void close();
  /// Inserts a collection. One that was inserted before is dropped.
  void insert(collected_transitions made);
  /// Waits for the collections that the next update is for, and returns them without rows: one
  /// collection, and in the first sample also those of the warm-up. It returns the same ones again
  /// until `trained` is called. Throws replay_starved once `patience` has passed.
  task<std::vector<collected_transitions>> sample();
  /// Says that weights of `version` are in use now.
  void trained(std::int64_t version);
  /// The version of the weights in use.
  std::int64_t version() const;

  /// Draws `count` transitions, and returns them in the memory of `into`. Prioritised draws also
  /// have their numbers and importance weights, for this value of `progress_remaining` (see
  /// transition_priorities::draw).
  transition_rows draw(transition_rows into, std::size_t count, double progress_remaining);
  /// Sets the priorities of drawn transitions after an update; see transition_priorities::update.
  void update_priorities(std::vector<std::int64_t> numbers, std::vector<float> td_errors);
  /// Returns the scale [2 D] by which drawn observations are normalised now, in the form in which a
  /// network with normalize_obs has it behind its parameters (see obs_scale.hpp). It is empty
  /// without normalize_obs.
  std::vector<float> obs_scale() const;

  replay_counts counts() const;
  std::string save() const;
  /// Restores a state of `save`. It must be called before any other endpoint. Throws state_error.
  void restore(std::string bytes);

 private:
  struct contents;

  std::size_t needed() const;
  task<> wait_until_satisfied();
  void learn_statistics(const collected_transitions& made);
  void tell_if_full();

  const transition_replay_options options_;
  std::shared_ptr<storage> storage_;
  storage_claim claim_;
  contents& held_;
  admission admission_;
  bool closed_ = false;
  bool told_full_ = false;
  condition changed_;
};

struct transition_replay::contents {
  explicit contents(const transition_replay_options& options);

  transition_ring ring;
  action_random random;
  std::int64_t version = 0;
  std::deque<collected_transitions> due;
  // The number of collections at the front of `due` that the last sample returned.
  std::size_t handed_out = 0;
  replay_counts counts;
  std::optional<transition_priorities> priorities;
  std::optional<running_normalizer> obs, reward;
  known_items known;
};

class transition_replay::storage : public role_storage {
  friend class transition_replay;
  std::optional<contents> contents_;
};

static_assert(prioritised_replay<transition_replay>);

}  // namespace troupe
