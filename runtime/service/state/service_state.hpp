#pragma once
// What all parties of one service share: its options, the table of live replicas, the callers that
// wait for room, and what is counted. Any thread.

#include <array>
#include <atomic>
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
#include "runtime/service/state/session_line.hpp"
#include "runtime/service/state/ticket.hpp"

namespace troupe::detail {

/// Ways a call ends that its replica doesn't see.
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

struct role_kind;

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
  std::shared_ptr<class wait_observer> wait_observer;  ///< The system's; may be null.
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
  /// The mailboxes of the actors that call this service.
  std::vector<ref<inbox>> callers() const;
  /// The service was stopped, and nobody asks for it any more: no caller is added from here on.
  void refuse_callers();

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
