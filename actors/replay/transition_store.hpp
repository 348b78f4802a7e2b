#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "actors/replay/admission.hpp"
#include "actors/replay/transition_ring.hpp"
#include "runtime/coroutine/combine.hpp"
#include "runtime/coroutine/condition.hpp"

namespace troupe {

/// What a collector made in one go. Its rows are moved into the store's ring; the rest says what
/// they were.
struct collected_transitions {
  struct episode {
    std::int64_t step;  ///< Environment steps of the collection so far, this one included.
    double episode_return;
    std::int64_t length;
  };

  transition_rows rows;
  std::vector<episode> episodes;  ///< Those that ended.
  std::int64_t steps = 0;         ///< Of all environments, those that gave no transition too.
  std::int64_t version = 0;       ///< Of the weights that acted.
};

struct transition_store_options {
  transition_widths widths;
  transition_ring_options ring;
  /// Collections before the first update; `sample` gives them all with the first.
  std::int64_t warm_up = 0;
  /// Collections that may begin before the updates on those before them: none in sync mode.
  std::int64_t max_staleness = 0;
  std::uint64_t seed = 0;                        ///< Of what is drawn.
  duration patience = std::chrono::minutes(10);  ///< After it a `sample` fails.
};

/// What a store has seen so far.
struct transition_store_counts {
  std::int64_t collections = 0;  ///< That updates were due on.
  std::int64_t staleness_max = 0;
  double staleness_sum = 0;  ///< Over collections: versions between acting and training.
  std::int64_t held = 0;     ///< Transitions in the ring.
  std::int64_t bytes = 0;

  double staleness_mean() const {
    return collections == 0 ? 0 : staleness_sum / static_cast<double>(collections);
  }
};

/// The role between collectors and an off-policy trainer.
///
///   admit ──> (a collection) ──> insert ──> sample ──> draw, draw, ... ──> trained
///                                  │                     ^
///                                  └── ring of rows ─────┘
///
/// One update is due for each collection, so the ratio of samples to inserts is what the update
/// takes, and neither side runs ahead by more than max_staleness (Reverb's rate limiter with these
/// bounds: Cassirer et al. 2021, https://arxiv.org/abs/2102.04736, section 3.3). What is drawn
/// comes from the whole ring.
class transition_store {
 public:
  /// Throws std::invalid_argument as transition_ring.
  explicit transition_store(const transition_store_options& options);

  /// Waits until another collection may begin. False: none does any more, it is closed.
  task<bool> admit();
  void close();
  void insert(collected_transitions made);
  /// What the next update is due on, without rows: one collection, and before the first those of
  /// the warm-up. Waits; throws replay_starved once `patience` has passed.
  task<std::vector<collected_transitions>> sample();
  /// Weights of `version` are in use now.
  void trained(std::int64_t version);

  /// `count` transitions in the memory of `into`.
  transition_rows draw(transition_rows into, std::size_t count);

  transition_store_counts counts() const;
  std::string save() const;
  /// Goes on from what `save` gave. Before the first call of another endpoint. Throws state_error.
  void restore(std::string bytes);

 private:
  std::size_t needed() const;
  task<> wait_until_satisfied();

  const transition_store_options options_;
  transition_ring ring_;
  action_random random_;
  admission admission_;
  std::int64_t version_ = 0;
  bool closed_ = false;
  std::deque<collected_transitions> due_;
  transition_store_counts counts_;
  condition changed_;
};

}  // namespace troupe
