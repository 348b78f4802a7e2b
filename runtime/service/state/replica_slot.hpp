#pragma once
// What all parties of one service know of one of its replicas. Any thread.

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "runtime/actor/inbox.hpp"
#include "runtime/actor/turn_count.hpp"
#include "runtime/service/options/options.hpp"
#include "runtime/service/state/tally.hpp"

namespace troupe::detail {

/// The turns of a replica's actor. The actor may be in one after the replica was abandoned.
struct replica_turns {
  turn_count count;
  std::atomic<bool> abandoned{false};
  std::atomic<bool> over{false};  ///< True once the actor has ended.
};

/// One replica from its start to its end. A restart makes a new slot.
struct replica_slot {
  explicit replica_slot(std::size_t index);

  const std::size_t index;
  // Its actor sets these two once, when it is made.
  ref<inbox> where;             ///< The actor's mailbox.
  std::function<void()> drain;  ///< Asks the actor to end once nothing is left to do.
  /// The replica's number in this process; no other replica ever has it.
  const std::uint64_t serial;
  bool elsewhere = false;                            ///< True if its role is in another process.
  alignas(64) std::atomic<std::int64_t> pending{0};  ///< Calls that are sent and not answered.
  std::atomic<std::int64_t> sessions{0};
  /// The version of its role; any_version if the role has none.
  std::atomic<std::int64_t> version{any_version};
  bool has_exclusive_session = false;  ///< Guarded by the lock of the session line.
  /// The clock's ticks since which it has been busy with one message, in the future while it has an
  /// allowance (note_progress); 0 if it isn't busy, or if nobody watches it.
  std::atomic<duration::rep> busy_since{0};
  /// The turns of its actor, where its role lives here.
  const std::shared_ptr<replica_turns> turns = std::make_shared<replica_turns>();
  static constexpr duration::rep has_no_place = -1;
  /// The clock's ticks when its start began; has_no_place before.
  std::atomic<duration::rep> starting_since{has_no_place};
  /// The link that the replica was lost with; 0 means none.
  std::atomic<std::uint64_t> lost_link{0};
  std::array<std::atomic<endpoint_tally*>, max_endpoints> endpoints{};
  tally<batch_bounds.size()> batch_size;

  ~replica_slot();
  /// True if it takes any call.
  bool serving() const noexcept { return state_.load(std::memory_order_relaxed) == 0; }
  /// True if it is being removed and takes only the calls of its sessions.
  bool leaving() const noexcept { return state_.load(std::memory_order_acquire) & leaves; }
  bool ended() const noexcept { return state_.load(std::memory_order_acquire) & has_ended; }
  bool abandoned() const noexcept { return state_.load(std::memory_order_acquire) & is_abandoned; }
  void leave() noexcept { state_.fetch_or(leaves); }
  /// Marks it as ended. Returns false if it had ended before.
  bool end() noexcept { return !(state_.fetch_or(has_ended) & has_ended); }
  /// Marks it as ended while its thread is stuck. Returns false if it had ended before.
  bool abandon() noexcept {
    turns->abandoned = true;
    return !(state_.fetch_or(has_ended | is_abandoned) & has_ended);
  }

  /// Takes room for one call. Returns false if `limit` calls are pending. Never exceeds `limit`,
  /// not even for an instant.
  bool take_room(std::int64_t limit) noexcept {
    auto now = pending.load(std::memory_order_seq_cst);
    while (now < limit) {
      if (pending.compare_exchange_weak(now, now + 1, std::memory_order_seq_cst)) return true;
    }
    return false;
  }
  /// Takes all the room if no call is pending, so that no call can come any more.
  bool close_if_idle() noexcept {
    std::int64_t none = 0;
    return pending.compare_exchange_strong(none, closed_to_calls);
  }
  /// The number of calls that are sent and not answered.
  std::int64_t in_flight() const noexcept {
    return pending.load(std::memory_order_relaxed) % closed_to_calls;
  }
  endpoint_tally& tally_of(std::size_t row);
  /// Adds the counts of another replica.
  void add_counts_of(const replica_slot& other);

 private:
  static constexpr std::int64_t closed_to_calls = std::int64_t{1} << 40;
  static constexpr std::uint8_t leaves = 1, has_ended = 2, is_abandoned = 4;
  std::atomic<std::uint8_t> state_{0};
};

/// The replicas that serve now, ordered by index. A table never changes; each change makes a new
/// one.
using replica_table = std::vector<std::shared_ptr<replica_slot>>;

}  // namespace troupe::detail
