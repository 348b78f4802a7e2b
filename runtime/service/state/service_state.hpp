#pragma once
// What all parties of one service share: its options, the table of live replicas, the callers that
// wait for room, and what is counted. Any thread.

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <typeindex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/actor/inbox.hpp"
#include "runtime/service/options/options.hpp"
#include "runtime/service/state/session_line.hpp"

namespace troupe::detail {

/// Histogram bounds in seconds, for durations and waits of calls.
inline constexpr std::array<double, 16> duration_bounds = {
    1e-6, 5e-6, 2.5e-5, 1e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 1e-2, 2.5e-2, .1, .25, .5, 1, 5, 30};
/// Histogram bounds in calls, for batches.
inline constexpr std::array<double, 10> batch_bounds = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512};

/// Counts written by one thread and read by any: plain stores, no locked instruction.
template <std::size_t N>
struct tally {
  std::array<std::atomic<std::uint64_t>, N + 1> buckets{};
  std::atomic<double> sum{0};

  void add(double value, const std::array<double, N>& bounds) noexcept {
    std::size_t i = 0;
    while (i < N && value > bounds[i]) ++i;
    buckets[i].store(buckets[i].load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    sum.store(sum.load(std::memory_order_relaxed) + value, std::memory_order_relaxed);
  }
  void add(const tally& other) noexcept {
    for (std::size_t i = 0; i <= N; ++i) buckets[i] += other.buckets[i].load();
    sum.store(sum.load() + other.sum.load());
  }
};

/// What a replica counts of one endpoint.
struct endpoint_tally {
  tally<duration_bounds.size()> duration;
  tally<duration_bounds.size()> queue_wait;
  std::atomic<std::uint64_t> threw{0};
};

inline constexpr std::size_t max_endpoints =
    16;  ///< Told apart in metrics; the last row is "other".

/// One replica, from its start to its end; a restart makes another one.
struct replica_slot {
  explicit replica_slot(std::size_t index);

  const std::size_t index;
  ref<inbox> where;            ///< Its actor's, which sets it once, when it is made.
  const std::uint64_t serial;  ///< Of all replicas of this process; kept by no other.
  bool elsewhere = false;      ///< Its role is in another process.
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

/// Something in a service's line, on an actor of its own.
class line_member {
 public:
  /// Room may have come, or a replica, or the service's end.
  virtual void called_up() = 0;
  /// It waits for room in a cycle of full services that can't go on.
  virtual void in_cycle(const std::string& /*members*/) {}

 protected:
  ~line_member() = default;
};

/// A place in a service's line. It is kept when its member was called up in vain.
struct ticket {
  ref<inbox> who;
  replica_slot* only = nullptr;            ///< Room at this replica; null: at any.
  std::int64_t min_version = any_version;  ///< Room at one of this version or a newer one.
  priority urgency = priority::normal;
  std::uint64_t by_slice = 0;      ///< The strand::slice of who waits.
  line_member* waiting = nullptr;  ///< Its actor's alone; null once it has given up.

  // The service's, under its lock.
  std::uint64_t number = 0;                  ///< In order of coming; 0: it has not come yet.
  bool in_line = false;                      ///< False while it is called up.
  const replica_slot* called_for = nullptr;  ///< Whose room it was called up for.
};

/// Ways a call ends that its replica doesn't see.
enum class refusal { overloaded, deadline, cancelled, lost, down, poison, count_ };

class cycle_watch;
struct role_kind;

/// Gives services the places where callers keep what they know of them. Any thread.
class service_places {
 public:
  /// The lowest that nobody has: so callers' lists are as long as there are services at a time.
  std::size_t take();
  void give_back(std::size_t place);

 private:
  std::mutex mutex_;
  std::set<std::size_t> free_;  ///< Below taken_.
  std::size_t taken_ = 0;       ///< Places ever taken.
};

class service_state : public std::enable_shared_from_this<service_state> {
 public:
  /// Its place is of those, to which it goes back in the end; without them its number.
  service_state(std::size_t number, serve_options options,
                std::shared_ptr<service_places> places = nullptr);
  ~service_state();

  const std::size_t number;  ///< In order of creation in this system.
  const std::size_t place;   ///< No other service has it while anybody holds this one.
  const serve_options options;
  const role_kind* role =
      nullptr;  ///< Of its replicas; null while they are only in other processes.
  std::shared_ptr<cycle_watch> cycles;  ///< Of its system; may be null.
  /// Another process has its replica made here, and asks whether it is stuck.
  bool asked_from_elsewhere = false;

  /// The table and its version; a caller keeps both until the version changes.
  std::uint64_t version() const noexcept { return version_.load(std::memory_order_acquire); }
  std::shared_ptr<const replica_table> table() const;
  /// Puts each in the place of its index: one change of the table for all of them.
  void publish(std::vector<std::shared_ptr<replica_slot>> slots);
  void publish(std::shared_ptr<replica_slot> slot) { publish(std::vector{std::move(slot)}); }
  /// Takes out replicas, which drain: they get no new call and no new session. One change of the
  /// table for all of them.
  void withdraw(const std::vector<std::shared_ptr<replica_slot>>& slots);
  /// Takes out one that has ended, if it is there.
  void retract(const std::shared_ptr<replica_slot>& slot);
  /// `slot`'s role has this version from here on, if it is a newer one.
  void note_version(replica_slot& slot, std::int64_t version);
  /// A replica that drained has ended.
  void drained(const std::shared_ptr<replica_slot>& slot);
  /// No call is served any more; `reason` is what callers read.
  void close(const std::string& reason);
  std::optional<std::string> closed() const;
  /// Why a replica died last; empty if none has.
  void note_crash(const std::string& reason);
  std::string last_crash() const;

  /// Enters the line, at its old place if it has been there. False if `max_waiting` are there.
  bool wait(const std::shared_ptr<ticket>& t);
  /// Leaves it for good, having taken room at `got` if that is not null. Room that it was called up
  /// for and didn't take is offered to the next.
  void leave(ticket& t, const replica_slot* got);
  /// Those in the line whom an endpoint has called for.
  std::vector<std::shared_ptr<ticket>> line_of_endpoints() const;
  /// A call waits from here on, in the line or behind those that its replica works on.
  void note_wait();
  /// Is called up once, at the next change of the table or the service's end.
  void watch(std::shared_ptr<ticket> t);
  void unwatch(ticket& t);
  /// A call of `slot` was answered: the next in line may try.
  void room_at(const replica_slot& slot) {
    if (waiting_.load(std::memory_order_seq_cst) > 0) call_next(slot);
  }

  /// An actor calls this service from here on, until it forgets it. False if the service has been
  /// given up.
  bool add_caller(const ref<inbox>& who);
  void remove_caller(const ref<inbox>& who);
  /// Tells every caller that `slot` has ended, where its own actor can't: it is stuck.
  void tell_lost(const std::shared_ptr<replica_slot>& slot);
  /// It was stopped, and nobody asks for it any more: each caller forgets it once it awaits no call
  /// of it.
  void give_up_callers();

  /// Who has the replicas' sessions, and who waits for one.
  session_line& sessions() noexcept { return sessions_; }

  /// Holds an object for as long as this service lives: what calls in flight point to. One for each
  /// key; `make` makes it.
  template <class T, class Make>
  const T* keep(std::type_index type, const void* from, Make make) {
    std::lock_guard lock(mutex_);
    auto& place = kept_[{type, from}];
    if (!place) place = make();
    return static_cast<const T*>(place.get());
  }

  /// The row in replicas' statistics of an endpoint.
  std::uint8_t row_of(const endpoint_info& endpoint);
  bool idempotent(const endpoint_info& endpoint) const;
  bool hedged(const endpoint_info& endpoint) const;
  bool runs_to_end(const endpoint_info& endpoint) const;

  // Read by metrics.
  std::vector<std::string> endpoint_names() const;
  /// Live replicas, those that drain, and one more that holds the counts of those that have ended.
  std::vector<std::shared_ptr<const replica_slot>> counts() const;
  std::size_t ready() const { return table()->size(); }
  std::size_t draining() const;
  std::int64_t waiting() const noexcept { return waiting_.load(std::memory_order_relaxed); }
  std::array<std::atomic<std::uint64_t>, static_cast<std::size_t>(refusal::count_)> refused{};
  std::atomic<std::size_t> desired;
  std::atomic<std::uint64_t> restarts{0};
  std::atomic<std::uint64_t> upscales{0}, downscales{0};  ///< Decisions of the autoscaler.
  std::atomic<std::uint64_t> abandoned{0};
  std::atomic<std::uint64_t> overran{0};
  std::atomic<std::uint64_t> hedges{0};
  std::atomic<std::uint64_t> hedges_won{0};
  std::atomic<std::uint64_t> retries{0};
  std::atomic<std::uint64_t> stalled{0};
  std::atomic<std::uint64_t> in_cycles{0};

 private:
  using line_key = std::pair<bool, std::uint64_t>;  // Control calls first, then in order of coming.
  static line_key key_of(const ticket& t) { return {t.urgency != priority::control, t.number}; }
  void take_out(const std::vector<std::shared_ptr<replica_slot>>& slots, bool drain);
  void call_everybody();
  void call_next(const replica_slot& slot);
  void offer_room();

  mutable std::mutex mutex_;
  std::shared_ptr<const replica_table> table_ = std::make_shared<replica_table>();
  std::atomic<std::uint64_t> version_{1};
  std::optional<std::string> closed_;
  std::string last_crash_;
  std::map<line_key, std::shared_ptr<ticket>> line_;
  std::vector<std::shared_ptr<ticket>> watchers_;
  std::uint64_t last_number_ = 0;
  std::size_t members_ = 0;  ///< Of the line, those called up included: they may come back.
  std::atomic<std::int64_t> waiting_{0};  ///< The length of the line.
  session_line sessions_;
  std::map<std::pair<std::type_index, const void*>, std::shared_ptr<const void>> kept_;
  std::vector<const endpoint_info*> endpoints_;
  std::vector<std::shared_ptr<replica_slot>> draining_;
  std::vector<ref<inbox>> callers_;
  std::unordered_map<const inbox*, std::size_t> caller_places_;  ///< In callers_.
  bool given_up_ = false;
  const std::shared_ptr<service_places> places_;  ///< May be null.
  std::shared_ptr<replica_slot> ended_ = std::make_shared<replica_slot>(0);
};

}  // namespace troupe::detail
