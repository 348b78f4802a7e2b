#pragma once
// One awaited call: its way from `co_await` to its end, with retries, hedging and deadlines.

#include <coroutine>
#include <exception>
#include <memory>
#include <string>

#include "runtime/service/call/caller.hpp"

namespace troupe::detail {

/// One awaited call, from `co_await` to its end. It lives in the frame of the awaiting coroutine;
/// destroying it gives the call up.
///
///   idle ──co_await──> in flight ──reply──────────────> ended
///          │             │    ^
///          └──> waiting ─┘    └── backing off <── replica lost, if idempotent
///
/// A hedged call that is in flight may get a second attempt beside the first.
class pending_call : private queue_waiter {
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

  void notified() override;
  void try_again();
  bool send_or_wait();
  void send(attempt& by, known_replica& to, service_view& view);
  bool wait_in_queue();
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

/// A call of an endpoint that is not known where it is awaited. It gives back the call, which has
/// the value.
class untyped_call final : public pending_call {
 public:
  using pending_call::pending_call;
  call_base& await_resume() {
    check();
    return call();
  }
};

/// True if its replica was removed before the call was sent.
bool was_removed(const std::exception_ptr& error) noexcept;

}  // namespace troupe::detail
