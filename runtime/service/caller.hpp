#pragma once
// The calling side of an actor: the replicas that it knows, the calls that it has sent them, and
// the deadlines of these calls. Internal to runtime/.

#include <coroutine>
#include <memory>
#include <unordered_map>
#include <vector>

#include "runtime/coroutine/strand.hpp"
#include "runtime/service/call.hpp"
#include "runtime/service/state.hpp"
#include "runtime/service/wheel.hpp"

namespace troupe::detail {

class caller;
class pending_call;
class trace_lane;
struct known_replica;

/// One sending of a call. It lives in its pending_call, and while it is in flight it is in the list
/// of its replica.
class attempt : public list_node {
 public:
  explicit attempt(pending_call& owner) : owner(owner) {}
  pending_call& owner;
  ref<call_base> call;
  known_replica* to = nullptr;  ///< The replica while the attempt is in flight; otherwise null.
};

/// The replica as one caller knows it. The caller hears of the replica's end once, and then fails
/// the attempts in flight to it.
struct known_replica {
  explicit known_replica(std::shared_ptr<replica_slot> slot) : slot(std::move(slot)) {}
  std::shared_ptr<replica_slot> slot;
  list<attempt> in_flight;
  bool ended = false;
};

/// A caller's copy of one service's table.
struct service_view {
  std::shared_ptr<service_state> state;
  std::uint64_t version = 0;
  std::vector<std::shared_ptr<known_replica>> links;
  /// The row in the statistics plus 1, by endpoint number; 0 means that it was not asked for yet.
  std::vector<std::uint8_t> rows;
  std::size_t awaited = 0;  ///< The number of awaited calls that use this view.
  bool given_up = false;    ///< True if the view is dropped when the last of these calls has ended.
};

/// One awaited call, from `co_await` to its end. It lives in the frame of the awaiting coroutine;
/// destroying it gives the call up.
///
///   idle ──co_await──> in flight ──reply──────────────> ended
///          │             │    ^
///          └──> waiting ─┘    └── backing off <── replica lost, if idempotent
///
/// A hedged call that is in flight may get a second attempt beside the first.
class pending_call : private line_member {
 public:
  pending_call(service_state& service, const call_options& options, ref<call_base> call,
               std::shared_ptr<replica_slot> only, bool session)
      : service_(&service), options_(options), only_(std::move(only)), session_(session) {
    first_.call = std::move(call);
  }
  pending_call(const pending_call&) = delete;
  ~pending_call();

  bool await_ready() const noexcept { return false; }
  /// Returns false if the call has already ended with an error.
  bool await_suspend(std::coroutine_handle<> parent);

  // Only the caller uses the functions below.
  void replied(attempt& by);
  void lost(attempt& by);
  void expired();
  void in_cycle(const std::string& members) override;

 protected:
  /// Throws the call's error, if it has one.
  void check() const {
    if (error_ || first_.call->error) fail();
  }
  call_base& call() noexcept { return *first_.call; }

 private:
  friend class caller;
  enum class stage { idle, waiting, in_flight, backing_off, ended };
  struct alarm : timing_wheel::entry {
    explicit alarm(pending_call& owner) : owner(owner) {}
    pending_call& owner;
  };

  void called_up() override;
  void try_again();
  bool send_or_wait();
  void send(attempt& by, known_replica& to, service_view& view);
  bool wait_in_line();
  bool lacks_version(const service_view& view) const;
  std::string versions_there(const service_view& view) const;
  void retry();
  void hedge(time_point now);
  /// Makes a copy of the call that counts as sent now; null if the arguments can't be copied.
  ref<call_base> copy_call(time_point now) const;
  /// Forgets the other attempt, if there is one.
  void keep_only(attempt& by);
  /// Cancels the attempt because nobody awaits it: it is not begun, or it is stopped where it
  /// waits.
  void give_up(attempt& by);
  void give_up_all();
  known_replica* take_room(service_view& view);
  /// True if the one replica that the call may go to doesn't take it any more.
  bool gone() const noexcept { return only_->ended() || (!session_ && only_->leaving()); }
  void set_alarm(time_point now);
  void report_stall(time_point now);
  void end(std::exception_ptr error);
  void end(error_kind kind, const std::string& why);
  [[noreturn]] void fail() const;
  duration limit() const noexcept;
  std::string where() const;
  void trace_end(bool cancelled);

  service_state* service_;  ///< Held by a handle until the call is awaited, then by `view_`.
  const call_options options_;
  /// The one replica that the call may go to; null means any.
  std::shared_ptr<replica_slot> only_;
  const bool session_;
  attempt first_{*this};
  std::unique_ptr<attempt> second_;  ///< The second attempt of a hedged call while it is in flight.
  caller* home_ = nullptr;
  service_view* view_ = nullptr;  ///< The caller's view while the call is awaited.
  std::exception_ptr error_;
  stage stage_ = stage::idle;
  bool hedged_ = false;
  bool resuming_ = false;  ///< True after await_suspend has returned: end() must wake the parent.
  bool traced_ = false;
  std::uint32_t losses_ = 0;
  std::uint32_t killed_ = 0;    ///< The losses of a replica that had begun this call.
  time_point awaited_since_{};  ///< The beginning of the call in the trace.
  time_point deadline_ = time_point::max();
  time_point hedge_at_ = time_point::max();
  std::shared_ptr<ticket> ticket_;  ///< Null unless the call waits for room.
  /// Rings at the deadline, or, if there is none, when the call counts as stalled. A hedged call's
  /// alarm may ring before, for the second attempt.
  alarm alarm_{*this};
  waiter wake_;
};

/// The calling side of one actor.
class caller {
 public:
  /// `watch` asks to be told, through `ended`, when the actor behind a mailbox ends.
  caller(strand& home, const ref<inbox>& me, std::function<void(inbox&)> watch, std::uint64_t seed);

  /// Returns the calling side of the actor that runs on this thread. Throws std::logic_error
  /// outside an actor.
  static caller& current();

  /// The actor's lane in the trace; null if nothing is traced.
  trace_lane* lane = nullptr;

  strand& home() noexcept { return home_; }
  const ref<inbox>& me() const noexcept { return me_; }

  /// Returns the actor's view of a service, brought up to date.
  service_view& view(service_state& service) {
    if (service.place < views_.size()) {
      if (auto* known = views_[service.place].get()) return up_to_date(*known);
    }
    return first_view(service);
  }
  /// Brings a view that the caller already has up to date.
  service_view& up_to_date(service_view& known) {
    if (known.version != known.state->version()) refresh(known);
    return known;
  }
  /// Drops the view of a service, now or when the last call that it awaits has ended.
  void give_up(const service_state& service);
  /// Finds a replica with room for one call and takes the room; null if there is none.
  known_replica* take_room(service_view& view, const call_options& options);
  /// Takes room for one call at one given replica, also while it drains; null if it has none.
  known_replica* take_room_at(service_view& view, const call_options& options,
                              const std::shared_ptr<replica_slot>& slot);
  /// Takes room at the least loaded replica other than `slot`; null if it has none.
  known_replica* take_room_beside(service_view& view, const call_options& options,
                                  const replica_slot& slot);

  /// Fails the attempts in flight to the actor behind `where`, which has ended.
  void ended(const inbox& where);
  /// Handles deadlines, retries, hedges and stalls that are due.
  void tick(time_point now);
  time_point next_tick() const noexcept {
    return wheel_.empty() ? time_point::max() : wheel_.next();
  }
  /// Drops every view and link. No call may be pending.
  void forget();

 private:
  friend class pending_call;
  service_view& first_view(service_state& service);
  /// Counts the end of an awaited call. The coroutine that is resumed may still use the view, so a
  /// view that was given up is dropped in a later turn.
  void settle(service_view& view) {
    if (--view.awaited == 0 && view.given_up) give_up_later(view);
  }
  void give_up_later(service_view& view);
  void refresh(service_view& view);
  const std::shared_ptr<known_replica>& link_to(const std::shared_ptr<replica_slot>& slot);
  std::size_t choose(service_view& view, const call_options& options);
  std::uint8_t row_of(service_view& view, const endpoint_info& endpoint);
  std::uint32_t random() noexcept;

  strand& home_;
  const ref<inbox>& me_;  ///< A reference to the actor's own; a copy would keep the actor alive.
  std::function<void(inbox&)> watch_;
  std::uint64_t random_state_;
  std::vector<std::unique_ptr<service_view>> views_;  ///< Indexed by the service's place.
  /// The known replicas that are not known to have ended, keyed by their mailbox.
  std::unordered_map<const inbox*, std::shared_ptr<known_replica>> links_;
  std::vector<std::size_t> live_;  ///< Scratch memory of `choose`.
  timing_wheel wheel_;
};

}  // namespace troupe::detail
