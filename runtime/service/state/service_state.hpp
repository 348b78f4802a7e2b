#pragma once
// The state that all parties of one service share: its options, the table of live replicas, the
// line of callers that wait for room, and the counts for metrics. May be used on any thread.
// Internal to runtime/.

#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <typeindex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/actor/inbox.hpp"
#include "runtime/service/options/options.hpp"
#include "runtime/service/state/service_places.hpp"
#include "runtime/service/state/session_queue.hpp"
#include "runtime/service/state/ticket.hpp"

namespace troupe::detail {

/// The ways in which a call ends without an answer of its replica, as metrics count them.
enum class refusal { overloaded, deadline, cancelled, lost, down, poison, count_ };

/// Hears that a call has to wait: it looks for services that wait for each other in a cycle.
class wait_observer {
 public:
  /// A call waits from here on: for room, or behind the calls that its replica works on. Any
  /// thread.
  virtual void call_waits() = 0;

 protected:
  ~wait_observer() = default;
};

class publication;
struct role_kind;

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
  const role_kind* role =
      nullptr;  ///< Of its replicas; null while they are only in other processes.
  std::shared_ptr<class wait_observer> wait_observer;  ///< The system's; may be null.
  /// True if another process has this replica made here and asks whether it is stuck.
  bool asked_from_elsewhere = false;
  /// True once the service ends because others are about to take the places of its replicas.
  std::atomic<bool> has_successor{false};

  /// The version of the table. A caller keeps version and table until the version changes.
  std::uint64_t version() const noexcept { return version_.load(std::memory_order_acquire); }
  std::shared_ptr<const replica_table> table() const;
  /// Hands publications to the supervisor, on any thread.
  using publisher = std::function<void(std::shared_ptr<publication>)>;
  /// Null before the supervisor has begun, once the service has ended, and where the service is
  /// another process's.
  publisher get_publisher() const;
  void set_publisher(publisher by);
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
  /// A replica whose role could not be made dies of this, and then the error.
  static constexpr std::string_view constructor_threw = "its role's constructor threw: ";
  /// Records why a replica died. `last_crash` returns the latest reason, "" if there is none.
  void note_crash(const std::string& reason);
  std::string last_crash() const;

  /// Enters the queue, at the old place if `t` has been there. Returns false if `max_waiting`
  /// callers wait already.
  bool wait(const std::shared_ptr<ticket>& t);
  /// Leaves the queue for good. `got` is the replica whose room was taken, or null. Room that `t`
  /// was notified for and didn't take is offered to the next one.
  void leave(ticket& t, const replica_slot* got);
  /// The tickets in the queue whose calls were made by endpoints.
  std::vector<std::shared_ptr<ticket>> queued_by_endpoints() const;
  /// Reports that a call waits, in the queue or behind the calls that its replica works on.
  void note_wait();
  /// Calls `t` up once, at the next change of the table or at the service's end.
  void watch(std::shared_ptr<ticket> t);
  void unwatch(ticket& t);
  /// Reports that a call of `slot` was answered, so that the next one in the queue may try.
  void room_at(const replica_slot& slot) {
    if (waiting_.load(std::memory_order_seq_cst) > 0) call_next(slot);
  }

  /// Registers an actor that calls this service, until it is removed. Returns false if the service
  /// has been given up.
  bool add_caller(const ref<inbox>& who);
  void remove_caller(const ref<inbox>& who);
  /// The mailboxes of the actors that call this service.
  std::vector<ref<inbox>> callers() const;
  /// The service was stopped, and nobody asks for it any more: no caller is added from here on.
  void refuse_callers();

  /// The queue that grants the sessions of the replicas.
  session_queue& sessions() noexcept { return sessions_; }

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
  /// Its replicas in this process that were in one turn for long at the last look.
  std::atomic<std::size_t> in_long_turns{0};
  std::atomic<std::uint64_t> overran{0};
  std::atomic<std::uint64_t> hedges{0};
  std::atomic<std::uint64_t> hedges_won{0};
  std::atomic<std::uint64_t> retries{0};
  std::atomic<std::uint64_t> stalled{0};
  std::atomic<std::uint64_t> in_cycles{0};

 private:
  // Control calls come first, then the order of arrival decides.
  using queue_key = std::pair<bool, std::uint64_t>;
  static queue_key key_of(const ticket& t) { return {t.urgency != priority::control, t.number}; }
  void take_out(const std::vector<std::shared_ptr<replica_slot>>& slots, bool drain);
  void call_everybody();
  void call_next(const replica_slot& slot);
  void offer_room();
  void keep_counts_of(const replica_table& gone);

  mutable std::mutex mutex_;
  std::shared_ptr<const replica_table> table_ = std::make_shared<replica_table>();
  std::atomic<std::uint64_t> version_{1};
  std::optional<std::string> closed_;
  publisher publisher_;  ///< Cleared at the end, because it holds the supervisor, which holds this.
  std::string last_crash_;
  std::map<queue_key, std::shared_ptr<ticket>> queue_;
  std::vector<std::shared_ptr<ticket>> watchers_;
  std::uint64_t last_number_ = 0;
  /// The members of the queue, including those that are notified and may come back.
  std::size_t members_ = 0;
  std::atomic<std::int64_t> waiting_{0};  ///< The length of the queue.
  session_queue sessions_;
  std::map<std::pair<std::type_index, const void*>, std::shared_ptr<const void>> kept_;
  std::vector<const endpoint_info*> endpoints_;
  std::vector<std::shared_ptr<replica_slot>> draining_;
  std::vector<ref<inbox>> callers_;
  std::unordered_map<const inbox*, std::size_t> caller_places_;  ///< The position in callers_.
  bool given_up_ = false;
  const std::shared_ptr<service_places> places_;  ///< May be null.
  /// The sum of the counts of the replicas that have ended. Another one replaces it when it grows.
  std::shared_ptr<const replica_slot> ended_ = std::make_shared<replica_slot>(0);
};

}  // namespace troupe::detail
