#pragma once
// The state that all parties of one service share: its options, the table of live replicas, the
// line of callers that wait for room, and the counts for metrics. May be used on any thread.
// Internal to runtime/.

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
#include "runtime/service/options.hpp"
#include "runtime/service/session_line.hpp"

namespace troupe::detail {

/// Histogram bounds in seconds, for durations and waits of calls.
inline constexpr std::array<double, 16> duration_bounds = {
    1e-6, 5e-6, 2.5e-5, 1e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 1e-2, 2.5e-2, .1, .25, .5, 1, 5, 30};
/// Histogram bounds in calls, for batches.
inline constexpr std::array<double, 10> batch_bounds = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512};

/// Counts that one thread writes and any thread reads, with plain stores and no locked instruction.
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

/// The counts of one endpoint at one replica.
struct endpoint_tally {
  tally<duration_bounds.size()> duration;
  tally<duration_bounds.size()> queue_wait;
  std::atomic<std::uint64_t> threw{0};
};

/// The rows of endpoints in the statistics. The last row is "other" and counts all further ones.
inline constexpr std::size_t max_endpoints = 16;

/// One replica from its start to its end. A restart makes a new slot.
struct replica_slot {
  explicit replica_slot(std::size_t index);

  const std::size_t index;
  ref<inbox> where;  ///< The mailbox of its actor, which sets it once, when it is made.
  /// The replica's number in this process; no other replica ever has it.
  const std::uint64_t serial;
  bool elsewhere = false;                            ///< True if its role is in another process.
  alignas(64) std::atomic<std::int64_t> pending{0};  ///< Calls that are sent and not answered.
  std::atomic<std::int64_t> sessions{0};
  /// The version of its role; any_version if the role has none.
  std::atomic<std::int64_t> version{any_version};
  bool has_exclusive_session = false;  ///< Guarded by the lock of the session line.
  /// The clock's ticks since which it has been busy with one message; 0 if it isn't, or if nobody
  /// watches it.
  std::atomic<duration::rep> busy_since{0};
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
  bool abandon() noexcept { return !(state_.fetch_or(has_ended | is_abandoned) & has_ended); }

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

/// A member of a service's line, such as a waiting call. It runs on its own actor.
class line_member {
 public:
  /// Called when there may be room, a new replica, or the service's end.
  virtual void called_up() = 0;
  /// Called when it waits for room in a cycle of full services that can't go on.
  virtual void in_cycle(const std::string& /*members*/) {}

 protected:
  ~line_member() = default;
};

/// A place in a service's line. A member that was called up in vain keeps its place.
struct ticket {
  ref<inbox> who;
  replica_slot* only = nullptr;            ///< Waits for room at this replica; null means any.
  std::int64_t min_version = any_version;  ///< Waits for a replica of this version or newer.
  priority urgency = priority::normal;
  std::uint64_t by_slice = 0;      ///< The strand::slice of the waiting caller.
  line_member* waiting = nullptr;  ///< Used by its actor only; null once it has given up.

  // The service's lock guards these.
  std::uint64_t number = 0;                  ///< The order of arrival; 0 before it has arrived.
  bool in_line = false;                      ///< False while it is called up.
  const replica_slot* called_for = nullptr;  ///< The replica whose room it was called up for.
};

/// The ways in which a call ends without an answer of its replica, as metrics count them.
enum class refusal { overloaded, deadline, cancelled, lost, down, poison, count_ };

class cycle_watch;
struct role_kind;

/// Numbers services so that callers can keep their views of them in a list. May be used on any
/// thread.
class service_places {
 public:
  /// Returns the lowest number that is not in use, so that callers' lists stay short.
  std::size_t take();
  void give_back(std::size_t place);

 private:
  std::mutex mutex_;
  std::set<std::size_t> free_;  ///< The free numbers below taken_.
  std::size_t taken_ = 0;       ///< The number of places ever taken.
};

class service_state : public std::enable_shared_from_this<service_state> {
 public:
  /// Takes its `place` from `places` and gives it back at the end. Without `places`, the place is
  /// the number.
  service_state(std::size_t number, serve_options options,
                std::shared_ptr<service_places> places = nullptr);
  ~service_state();

  const std::size_t number;  ///< The order of creation in this system.
  const std::size_t place;   ///< Unique among the services that somebody holds.
  const serve_options options;
  /// The class of its replicas' role; null while all replicas are known only from other processes.
  const role_kind* role = nullptr;
  std::shared_ptr<cycle_watch> cycles;  ///< The cycle watch of its system; may be null.
  /// True if another process has this replica made here and asks whether it is stuck.
  bool asked_from_elsewhere = false;

  /// The version of the table. A caller keeps version and table until the version changes.
  std::uint64_t version() const noexcept { return version_.load(std::memory_order_acquire); }
  std::shared_ptr<const replica_table> table() const;
  /// Adds replicas to the table, each at the place of its index, in one change of the table.
  void publish(std::vector<std::shared_ptr<replica_slot>> slots);
  void publish(std::shared_ptr<replica_slot> slot) { publish(std::vector{std::move(slot)}); }
  /// Takes replicas out of the table in one change. They drain: they get no new call and no new
  /// session.
  void withdraw(const std::vector<std::shared_ptr<replica_slot>>& slots);
  /// Takes a replica that has ended out of the table, if it is there.
  void retract(const std::shared_ptr<replica_slot>& slot);
  /// Records the version of the slot's role, if it is newer than the recorded one.
  void note_version(replica_slot& slot, std::int64_t version);
  /// Records the end of a replica that drained.
  void drained(const std::shared_ptr<replica_slot>& slot);
  /// Ends the service. No call is served any more, and callers get `reason`.
  void close(const std::string& reason);
  std::optional<std::string> closed() const;
  /// Records why a replica died. `last_crash` returns the latest reason, "" if there is none.
  void note_crash(const std::string& reason);
  std::string last_crash() const;

  /// Enters the line, at the old place if `t` has been there. Returns false if `max_waiting`
  /// callers wait already.
  bool wait(const std::shared_ptr<ticket>& t);
  /// Leaves the line for good. `got` is the replica whose room was taken, or null. Room that `t`
  /// was called up for and didn't take is offered to the next one.
  void leave(ticket& t, const replica_slot* got);
  /// The tickets in the line whose calls were made by endpoints.
  std::vector<std::shared_ptr<ticket>> line_of_endpoints() const;
  /// Reports that a call waits, in the line or behind the calls that its replica works on.
  void note_wait();
  /// Calls `t` up once, at the next change of the table or at the service's end.
  void watch(std::shared_ptr<ticket> t);
  void unwatch(ticket& t);
  /// Reports that a call of `slot` was answered, so that the next one in the line may try.
  void room_at(const replica_slot& slot) {
    if (waiting_.load(std::memory_order_seq_cst) > 0) call_next(slot);
  }

  /// Registers an actor that calls this service, until it is removed. Returns false if the service
  /// has been given up.
  bool add_caller(const ref<inbox>& who);
  void remove_caller(const ref<inbox>& who);
  /// Tells every caller that `slot` has ended. Used if its actor is stuck and can't tell them.
  void tell_lost(const std::shared_ptr<replica_slot>& slot);
  /// Tells each caller to forget the service once it awaits no call of it. Used when the service
  /// was stopped and nobody asks for it any more.
  void give_up_callers();

  /// The line that grants the sessions of the replicas.
  session_line& sessions() noexcept { return sessions_; }

  /// Holds an object that calls in flight point to, for as long as this service lives. There is one
  /// object for each type and `from`; `make` makes it.
  template <class T, class Make>
  const T* keep(std::type_index type, const void* from, Make make) {
    std::lock_guard lock(mutex_);
    auto& place = kept_[{type, from}];
    if (!place) place = make();
    return static_cast<const T*>(place.get());
  }

  /// The row of an endpoint in the replicas' statistics.
  std::uint8_t row_of(const endpoint_info& endpoint);
  bool idempotent(const endpoint_info& endpoint) const;
  bool hedged(const endpoint_info& endpoint) const;
  bool runs_to_end(const endpoint_info& endpoint) const;

  // Metrics read the functions and counts below.
  std::vector<std::string> endpoint_names() const;
  /// The live replicas, those that drain, and one slot that holds the counts of all that have
  /// ended.
  std::vector<std::shared_ptr<const replica_slot>> counts() const;
  std::size_t ready() const { return table()->size(); }
  std::size_t draining() const;
  std::int64_t waiting() const noexcept { return waiting_.load(std::memory_order_relaxed); }
  std::array<std::atomic<std::uint64_t>, static_cast<std::size_t>(refusal::count_)> refused{};
  std::atomic<std::size_t> desired;
  std::atomic<std::uint64_t> restarts{0};
  std::atomic<std::uint64_t> upscales{0}, downscales{0};  ///< The decisions of the autoscaler.
  std::atomic<std::uint64_t> abandoned{0};
  std::atomic<std::uint64_t> overran{0};
  std::atomic<std::uint64_t> hedges{0};
  std::atomic<std::uint64_t> hedges_won{0};
  std::atomic<std::uint64_t> retries{0};
  std::atomic<std::uint64_t> stalled{0};
  std::atomic<std::uint64_t> in_cycles{0};

 private:
  // Control calls come first, then the order of arrival decides.
  using line_key = std::pair<bool, std::uint64_t>;
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
  /// The members of the line, including those that are called up and may come back.
  std::size_t members_ = 0;
  std::atomic<std::int64_t> waiting_{0};  ///< The length of the line.
  session_line sessions_;
  std::map<std::pair<std::type_index, const void*>, std::shared_ptr<const void>> kept_;
  std::vector<const endpoint_info*> endpoints_;
  std::vector<std::shared_ptr<replica_slot>> draining_;
  std::vector<ref<inbox>> callers_;
  std::unordered_map<const inbox*, std::size_t> caller_places_;  ///< The position in callers_.
  bool given_up_ = false;
  const std::shared_ptr<service_places> places_;  ///< May be null.
  std::shared_ptr<replica_slot> ended_ = std::make_shared<replica_slot>(0);
};

}  // namespace troupe::detail
