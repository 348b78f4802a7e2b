#pragma once
// What all parties of one service know of one of its replicas. Any thread.

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "runtime/actor/inbox.hpp"
#include "runtime/service/options/options.hpp"
#include "runtime/service/state/tally.hpp"

namespace troupe::detail {

/// One replica, from its start to its end; a restart makes another one.
struct replica_slot {
  explicit replica_slot(std::size_t index);

  const std::size_t index;
  // Its actor sets these two once, when it is made.
  ref<inbox> where;             ///< The actor's mailbox.
  std::function<void()> drain;  ///< Asks the actor to end once nothing is left to do.
  const std::uint64_t serial;   ///< Of all replicas of this process; kept by no other.
  bool elsewhere = false;       ///< Its role is in another process.
  alignas(64) std::atomic<std::int64_t> pending{0};  ///< Sent and not answered.
  std::atomic<std::int64_t> sessions{0};
  std::atomic<std::int64_t> version{any_version};  ///< Of its role, where that has one.
  bool has_exclusive_session = false;              ///< The session line's, under its lock.
  /// Since when it has been busy with one message, in ticks of the clock; 0: it is not, or nobody
  /// wants to know.
  std::atomic<duration::rep> busy_since{0};
  static constexpr duration::rep has_no_place = -1;
  std::atomic<duration::rep> starting_since{has_no_place};  ///< In ticks of the clock.
  std::atomic<std::uint64_t> lost_link{0};  ///< The link that it was lost with; 0: with none.
  std::array<std::atomic<endpoint_tally*>, max_endpoints> endpoints{};
  tally<batch_bounds.size()> batch_size;

  ~replica_slot();
  /// It takes any call.
  bool serving() const noexcept { return state_.load(std::memory_order_relaxed) == 0; }
  /// It is removed: it takes only calls of its sessions.
  bool leaving() const noexcept { return state_.load(std::memory_order_acquire) & leaves; }
  bool ended() const noexcept { return state_.load(std::memory_order_acquire) & has_ended; }
  bool abandoned() const noexcept { return state_.load(std::memory_order_acquire) & is_abandoned; }
  void leave() noexcept { state_.fetch_or(leaves); }
  /// False if it had ended.
  bool end() noexcept { return !(state_.fetch_or(has_ended) & has_ended); }
  /// It ends while its thread is stuck. False if it had ended.
  bool abandon() noexcept { return !(state_.fetch_or(has_ended | is_abandoned) & has_ended); }

  /// Takes room for one call; false if `limit` are pending. Never more than `limit`, also for an
  /// instant.
  bool take_room(std::int64_t limit) noexcept {
    auto now = pending.load(std::memory_order_seq_cst);
    while (now < limit) {
      if (pending.compare_exchange_weak(now, now + 1, std::memory_order_seq_cst)) return true;
    }
    return false;
  }
  /// Takes all the room there is, if no call is pending: none comes any more.
  bool close_if_idle() noexcept {
    std::int64_t none = 0;
    return pending.compare_exchange_strong(none, closed_to_calls);
  }
  /// Calls sent and not answered.
  std::int64_t in_flight() const noexcept {
    return pending.load(std::memory_order_relaxed) % closed_to_calls;
  }
  endpoint_tally& tally_of(std::size_t row);
  /// Adds what another replica counted.
  void add_counts_of(const replica_slot& other);

 private:
  static constexpr std::int64_t closed_to_calls = std::int64_t{1} << 40;
  static constexpr std::uint8_t leaves = 1, has_ended = 2, is_abandoned = 4;
  std::atomic<std::uint8_t> state_{0};
};

/// The replicas that serve now, by index. Immutable: a change makes a new table.
using replica_table = std::vector<std::shared_ptr<replica_slot>>;

}  // namespace troupe::detail
