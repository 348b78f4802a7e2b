#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/checkpoint/shelf.hpp"
#include "actors/environments/running_normalizer.hpp"
#include "actors/replay/admission.hpp"
#include "actors/replay/item_id.hpp"
#include "actors/replay/replay.hpp"
#include "actors/replay/transition_priorities.hpp"
#include "actors/replay/transition_ring.hpp"
#include "runtime/coroutine/combine.hpp"
#include "runtime/coroutine/condition.hpp"

namespace troupe {

/// What a collector made in one go. Its rows are copied into the replay's ring; the rest says
/// what they were.
struct collected_transitions {
  struct episode {
    std::int64_t step;  ///< Environment steps of the collection so far, this one included.
    double episode_return;
    std::int64_t length;
  };

  transition_rows rows;
  std::vector<double> discounted;  ///< Discounted returns of each step; empty where not asked for.
  std::vector<episode> episodes;   ///< Those that ended.
  std::int64_t steps = 0;          ///< Of all environments, those that gave no transition too.
  std::int64_t version = 0;        ///< Of the weights that acted.
  item_id id;
};

struct transition_replay_options {
  transition_widths widths;
  transition_ring_options ring;
  /// Collections before the first update; `sample` gives them all with the first.
  std::int64_t warm_up = 0;
  /// Collections that may begin before the updates on those before them: none in sync mode.
  std::int64_t max_staleness = 0;
  std::uint64_t seed = 0;                        ///< Of what is drawn.
  duration patience = std::chrono::minutes(10);  ///< After it a `sample` fails.
  std::optional<priority_options> prioritised;   ///< None: what is drawn is drawn uniformly.
  /// What is kept is raw. What is drawn is brought to one scale by the statistics of all that came
  /// so far, as Stable-Baselines3's VecNormalize does with a replay's samples.
  bool normalize_obs = false;
  bool normalize_reward = false;  ///< The same by `discounted`; a reward of n steps is one number.
};

/// The replay between collectors and an off-policy trainer (see replay.hpp). Its items are
/// collections; their rows go into one ring, from which the trainer draws minibatches:
///
///   admit ──> (a collection) ──> insert ──> sample ──> draw, draw, ... ──> trained
///                                  │                     ^   │
///                                  └── ring of rows ─────┘   └─> update_priorities
///
/// One update is due for each collection, so the ratio of samples to inserts is what the update
/// takes, and neither side runs ahead by more than max_staleness (Reverb's rate limiter with these
/// bounds: Cassirer et al. 2021, https://arxiv.org/abs/2102.04736, section 3.3). What is drawn
/// comes from the whole ring.
class transition_replay {
 public:
  using item_type = collected_transitions;

  /// What is kept. Given to `serve`, it outlives the replica: one that is restarted has all that
  /// the one before it had, but for who was admitted. For one replay.
  class shelf;

  /// `on`: null: a shelf of its own. Throws std::invalid_argument as transition_ring and
  /// transition_priorities.
  explicit transition_replay(const transition_replay_options& options,
                             std::shared_ptr<shelf> on = nullptr);

  /// Waits until another collection may begin. False: none does any more, it is closed.
  task<bool> admit();
  void close();
  /// One that has come before is dropped.
  void insert(collected_transitions made);
  /// What the next update is due on, without rows: one collection, and before the first those of
  /// the warm-up; the same again until it is `trained`. Waits; throws replay_starved once
  /// `patience` has passed.
  task<std::vector<collected_transitions>> sample();
  /// Weights of `version` are in use now.
  void trained(std::int64_t version);
  /// Of the weights in use.
  std::int64_t version() const;

  /// `count` transitions in the memory of `into`. Where they are prioritised, with their numbers
  /// and importance weights at that moment of the training (see transition_priorities::draw).
  transition_rows draw(transition_rows into, std::size_t count, double progress_remaining);
  /// What an update has found for drawn transitions: see transition_priorities::update.
  void update_priorities(std::vector<std::int64_t> numbers, std::vector<float> td_errors);
  /// Of observations, as a network with normalize_obs has them at its end (see obs_scale.hpp): what
  /// is drawn now is scaled by it. [2 D], empty without normalize_obs.
  std::vector<float> obs_scale() const;

  replay_counts counts() const;
  std::string save() const;
  /// Goes on from what `save` gave. Before the first call of another endpoint. Throws state_error.
  void restore(std::string bytes);

 private:
  struct contents;

  std::size_t needed() const;
  task<> wait_until_satisfied();
  void learn_statistics(const collected_transitions& made);

  const transition_replay_options options_;
  std::shared_ptr<shelf> shelf_;
  shelf_claim claim_;
  contents& held_;
  admission admission_;
  bool closed_ = false;
  condition changed_;
};

struct transition_replay::contents {
  explicit contents(const transition_replay_options& options);

  transition_ring ring;
  action_random random;
  std::int64_t version = 0;
  std::deque<collected_transitions> due;
  std::size_t handed_out = 0;  // of `due`, at its front
  replay_counts counts;
  std::optional<transition_priorities> priorities;
  std::optional<running_normalizer> obs, reward;
  known_items known;
};

class transition_replay::shelf : public shelf_base {
  friend class transition_replay;
  std::optional<contents> contents_;
};

static_assert(prioritised_replay<transition_replay>);

}  // namespace troupe
