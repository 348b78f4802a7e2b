#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "actors/replay/rate_limiter.hpp"
#include "actors/replay/sample_info.hpp"
#include "actors/replay/selector.hpp"

namespace troupe {

struct replay_table_options {
  selector_options sampler;                                     ///< What is sampled next.
  selector_options remover = {.order = selection_order::fifo};  ///< What goes when it is full.
  rate_limiter_options limiter;

  // Bounds.
  std::int64_t max_items = 100'000;
  std::int64_t max_bytes = std::numeric_limits<std::int64_t>::max();
  std::int64_t max_times_sampled = 0;         ///< Then an entry goes; 0: never for that.
  std::optional<std::int64_t> max_staleness;  ///< Versions an entry may be behind; none: any.

  std::uint64_t seed = 0;  ///< Of the sampler's and the remover's generators.
};

/// What a table knows of an entry that is inserted: an item, or a group of them that stays
/// together.
struct replay_entry {
  /// None: the highest seen so far, 1 before any above 0 (Schaul et al. 2016, algorithm 1).
  std::optional<double> priority;
  std::int64_t version = 0;  ///< The oldest weights that made any part of it.
  std::int64_t items = 1;
  std::int64_t bytes = 0;
};

struct priority_update {
  std::uint64_t key = 0;
  double priority = 0;
};

/// What a table has seen so far. All but `items` and `bytes` count entries:
///   held = inserted - evicted - used_up - stale
struct replay_table_counts {
  std::int64_t inserted = 0;  ///< All that came.
  std::int64_t sampled = 0;
  std::int64_t evicted = 0;  ///< Made room for others.
  std::int64_t used_up = 0;  ///< Sampled max_times_sampled times.
  std::int64_t stale = 0;    ///< Older than max_staleness, on arrival or later.
  std::int64_t version = 0;  ///< Of the weights that are trained on samples.
  std::int64_t held = 0;
  std::int64_t items = 0;  ///< Held.
  std::int64_t bytes = 0;  ///< Held.
  std::int64_t staleness_max = 0;
  double staleness_sum = 0;  ///< Over samples.

  double staleness_mean() const {
    return sampled == 0 ? 0 : staleness_sum / static_cast<double>(sampled);
  }
};

/// Which entries a replay table holds and which comes next: everything of a table but the items
/// themselves. Inserting, sampling and removing an entry cost what its selectors do.
///
///   insert ──> held ──sampled max_times_sampled times──> used up
///                 ├──────no room for a new one─────────> evicted
///                 └──────older than max_staleness──────> stale
class replay_index {
 public:
  /// Throws std::invalid_argument naming the option.
  explicit replay_index(const replay_table_options& options);

  /// Whether the rate limiter lets an entry in.
  bool may_insert() const { return limiter_.may_insert(uses_left()); }
  /// The new entry's key; none if it is too stale already. What is in its way is evicted first, so
  /// a new entry is always held. Throws without any change: std::invalid_argument if the priority
  /// is no finite number >= 0 or the entry alone is above a bound, std::logic_error if it may not.
  std::optional<std::uint64_t> insert(const replay_entry& entry);

  /// Throws std::invalid_argument if there is no waiting for so many: they are more
  /// than the rate limiter or max_items ever allows at once.
  void check_sample(std::int64_t count) const;
  /// Whether the rate limiter allows it and there are uses enough.
  bool may_sample(std::int64_t count) const;
  /// Why not, for people.
  std::string shortage(std::int64_t count) const;
  /// Entries one after another, as the sampler chooses them: one can come twice, unless
  /// max_times_sampled forbids. Throws std::logic_error, without any change, if it may not.
  std::vector<sample_info> sample(std::int64_t count);

  /// How many of the keys are still there, and have their new priority now. Throws
  /// std::invalid_argument, without any change, if a priority is no finite number >= 0.
  std::int64_t update_priorities(std::span<const priority_update> updates);
  /// Weights of `version` are trained on samples now; an earlier one than before changes nothing.
  void advance(std::int64_t version);

  /// The keys removed since the last call, in the order in which they went.
  std::vector<std::uint64_t> take_removed() { return std::exchange(removed_, {}); }
  replay_table_counts counts() const;
  /// Ascending.
  std::vector<std::uint64_t> keys() const;

  void save(state_writer& to) const;
  /// Continues where `save` was, under this table's own options: what they don't allow
  /// goes. Throws state_error. REQUIRES: nothing has been inserted.
  void restore(const state_reader& from);

 private:
  struct held_entry {
    double priority = 0;
    std::int64_t version = 0;
    std::int64_t times_sampled = 0;
    std::int64_t items = 0;
    std::int64_t bytes = 0;
  };

  std::int64_t uses_left() const;
  bool too_stale(std::int64_t version) const;
  bool used_up(const held_entry& entry) const;
  void check(const replay_entry& entry) const;
  void hold(std::uint64_t key, const held_entry& entry);
  void make_room(std::int64_t items, std::int64_t bytes);
  void remove(std::uint64_t key);
  void drop_stale();
  void restore_entries(const state_reader& from);

  replay_table_options options_;
  std::unique_ptr<selector> sampler_;
  std::unique_ptr<selector> remover_;
  rate_limiter limiter_;
  std::unordered_map<std::uint64_t, held_entry> entries_;
  std::set<std::pair<std::int64_t, std::uint64_t>> by_version_;  ///< Empty without max_staleness.
  std::vector<std::uint64_t> removed_;
  std::uint64_t next_key_ = 1;
  double highest_priority_ = 0;     ///< 0: none was seen.
  std::int64_t times_sampled_ = 0;  ///< Sum over the entries held.
  std::int64_t stale_before_ = 0;   ///< counts_.stale at the last sample.
  replay_table_counts counts_;
};

}  // namespace troupe
