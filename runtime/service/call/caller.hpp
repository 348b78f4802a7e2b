#pragma once
// The calling side of an actor: which replicas it knows, what it has sent them, what is overdue.

#include <coroutine>
#include <memory>
#include <unordered_map>
#include <vector>

#include "runtime/coroutine/strand.hpp"
#include "runtime/service/call/call.hpp"
#include "runtime/service/state/service_state.hpp"
#include "runtime/service/state/timing_wheel.hpp"

namespace troupe::detail {

class caller;
class pending_call;
class trace_lane;
struct known_replica;

/// One sending of a call, in a list while it is in flight to that replica. Lives in its call.
class attempt : public list_node {
 public:
  explicit attempt(pending_call& owner) : owner(owner) {}
  pending_call& owner;
  ref<call_base> call;
  known_replica* to = nullptr;  ///< While it is in flight.
};

/// What a caller knows of one replica. It hears of the replica's end once, and then fails what it
/// had sent there.
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
  /// By endpoint number: its row in the statistics, +1; 0: not asked yet.
  std::vector<std::uint8_t> rows;
  std::size_t awaited = 0;  ///< Calls, which look here.
  bool given_up = false;    ///< It goes with the last of them.
};

/// One awaited call, from `co_await` to its end. Lives in the awaiting coroutine's frame;
/// destroying it gives the call up.
///
///   idle ──co_await──> in flight ──reply──────────────> ended
///          │             │    ^
///          └──> waiting ─┘    └── backing off <── replica lost, if idempotent
///
/// In flight a hedged call may get a second attempt beside its first.
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
  /// False if the call has ended already, with an error.
  bool await_suspend(std::coroutine_handle<> parent);

  // The rest is for the caller.
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
  /// The same call once more, sent now; null if its arguments can't be copied.
  ref<call_base> copy_call(time_point now) const;
  /// Forgets the other attempt, if there is one.
  void keep_only(attempt& by);
  /// Nobody awaits it any more: it is not begun, or stopped where it waits.
  void give_up(attempt& by);
  void give_up_all();
  known_replica* take_room(service_view& view);
  /// The one replica it may go to takes it no more.
  bool gone() const noexcept { return only_->ended() || (!session_ && only_->leaving()); }
  void set_alarm(time_point now);
  void report_stall(time_point now);
  void end(std::exception_ptr error);
  void end(error_kind kind, const std::string& why);
  [[noreturn]] void fail() const;
  duration limit() const noexcept;
  std::string where() const;
  void trace_end(bool cancelled);

  service_state* service_;  ///< A handle holds it, and from the sending on `view_`.
  const call_options options_;
  std::shared_ptr<replica_slot> only_;  ///< The one replica it may go to; null: any.
  const bool session_;
  attempt first_{*this};
  std::unique_ptr<attempt> second_;  ///< A hedged call's, while it is in flight.
  caller* home_ = nullptr;
  service_view* view_ = nullptr;  ///< The caller's, while the call is awaited.
  std::exception_ptr error_;
  stage stage_ = stage::idle;
  bool hedged_ = false;
  bool resuming_ = false;  ///< await_suspend has returned: end() must wake the parent.
  bool traced_ = false;
  std::uint32_t losses_ = 0;
  std::uint32_t killed_ = 0;    ///< Losses after the replica had begun this call.
  time_point awaited_since_{};  ///< For the trace.
  time_point deadline_ = time_point::max();
  time_point hedge_at_ = time_point::max();
  std::shared_ptr<ticket> ticket_;  ///< Null but while waiting.
  /// At the deadline; without one, when the call counts as stalled. Or before, for a second
  /// attempt.
  alarm alarm_{*this};
  waiter wake_;
};

/// The calling side of one actor.
class caller {
 public:
  /// `watch` asks to hear of the end of the actor behind a mailbox, by `ended`.
  caller(strand& home, const ref<inbox>& me, std::function<void(inbox&)> watch, std::uint64_t seed);

  /// The calling side of the actor that runs on this thread. Throws std::logic_error outside of
  /// one.
  static caller& current();

  /// Where the actor's trace is kept; null: nowhere.
  trace_lane* lane = nullptr;

  strand& home() noexcept { return home_; }
  const ref<inbox>& me() const noexcept { return me_; }

  /// What this actor knows of a service, brought up to date.
  service_view& view(service_state& service) {
    if (service.place < views_.size()) {
      if (auto* known = views_[service.place].get()) return up_to_date(*known);
    }
    return first_view(service);
  }
  /// The same of one that is known.
  service_view& up_to_date(service_view& known) {
    if (known.version != known.state->version()) refresh(known);
    return known;
  }
  /// What it knows of a service goes, at once or when the last call that it awaits has ended.
  void give_up(const service_state& service);
  /// A replica with room for one call, which is taken; null if there is none.
  known_replica* take_room(service_view& view, const call_options& options);
  /// The same at one replica, also while it drains.
  known_replica* take_room_at(service_view& view, const call_options& options,
                              const std::shared_ptr<replica_slot>& slot);
  /// The same at the least loaded of the others than `slot`.
  known_replica* take_room_beside(service_view& view, const call_options& options,
                                  const replica_slot& slot);

  /// The actor behind `where` has ended: fails what is in flight to it.
  void ended(const inbox& where);
  /// Deadlines and stalls.
  void tick(time_point now);
  time_point next_tick() const noexcept {
    return wheel_.empty() ? time_point::max() : wheel_.next();
  }
  /// Drops every view and link. No call may be pending.
  void forget();

 private:
  friend class pending_call;
  service_view& first_view(service_state& service);
  /// A call is awaited no more. What it tells its coroutine may still look at the service, so the
  /// view goes in another turn.
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
  const ref<inbox>& me_;  ///< The actor's own: a copy here would keep the actor alive.
  std::function<void(inbox&)> watch_;
  std::uint64_t random_state_;
  std::vector<std::unique_ptr<service_view>> views_;  ///< By the service's place.
  /// Every replica known and not heard to have ended, by its mailbox.
  std::unordered_map<const inbox*, std::shared_ptr<known_replica>> links_;
  std::vector<std::size_t> live_;  ///< Scratch of `choose`.
  timing_wheel wheel_;
};

}  // namespace troupe::detail
