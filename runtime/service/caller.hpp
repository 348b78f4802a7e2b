#pragma once
// The calling side of an actor: which replicas it knows, what it has sent them, what is overdue.

#include <coroutine>
#include <memory>
#include <vector>

#include "runtime/coroutine/strand.hpp"
#include "runtime/service/call.hpp"
#include "runtime/service/state.hpp"
#include "runtime/service/wheel.hpp"

namespace troupe::detail {

class caller;
class clock;

/// What a caller knows of one replica. It hears of the replica's end once, and then fails what it
/// had sent there.
struct link {
  explicit link(std::shared_ptr<replica_slot> slot) : slot(std::move(slot)) {}
  std::shared_ptr<replica_slot> slot;
  list<pending_call> in_flight;
  bool ended = false;
};

/// A caller's copy of one service's table.
struct service_view {
  std::shared_ptr<service_state> state;
  std::uint64_t version = 0;
  std::vector<std::shared_ptr<link>> links;
  /// By endpoint number: its row in the statistics, +1; 0: not asked yet.
  std::vector<std::uint8_t> rows;
};

/// One awaited call, from `co_await` to its end. Lives in the awaiting coroutine's frame;
/// destroying it gives the call up. In a list it is in flight to a replica.
///
///   idle ──co_await──> in flight ──reply──────────────> ended
///          │             │    ^
///          └──> waiting ─┘    └── backing off <── replica lost, if idempotent
class pending_call : public list_node, private line_member {
 public:
  pending_call(service_state& service, const call_options& options, ref<call_base> call,
               std::shared_ptr<replica_slot> only, bool session)
      : service_(&service),
        options_(options),
        only_(std::move(only)),
        session_(session),
        call_(std::move(call)) {}
  pending_call(const pending_call&) = delete;
  ~pending_call();

  bool await_ready() const noexcept { return false; }
  /// False if the call has ended already, with an error.
  bool await_suspend(std::coroutine_handle<> parent);

  // The rest is for the caller.
  void replied();
  void lost();
  void expired();

 protected:
  /// Throws the call's error, if it has one.
  void check() const {
    if (error_ || call_->error) fail();
  }
  call_base& call() noexcept { return *call_; }

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
  void send(link& to, service_view& view);
  bool wait_in_line();
  void retry();
  void set_alarm(time_point now);
  void report_stall(time_point now);
  void end(std::exception_ptr error);
  void end(error_kind kind, const std::string& why);
  [[noreturn]] void fail() const;
  duration limit() const noexcept;
  std::string where() const;

  service_state* service_;  ///< Its system holds it.
  const call_options options_;
  std::shared_ptr<replica_slot> only_;  ///< The one replica it may go to; null: any.
  const bool session_;
  ref<call_base> call_;
  caller* home_ = nullptr;
  std::exception_ptr error_;
  stage stage_ = stage::idle;
  bool resuming_ = false;  ///< await_suspend has returned: end() must wake the parent.
  std::uint32_t losses_ = 0;
  std::uint32_t killed_ = 0;  ///< Losses after the replica had begun this call.
  time_point deadline_ = time_point::max();
  std::shared_ptr<ticket> ticket_;  ///< Null but while waiting.
  alarm alarm_{*this};  ///< At the deadline; without one, when the call counts as stalled.
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

  strand& home() noexcept { return home_; }
  const ref<inbox>& me() const noexcept { return me_; }

  /// What this actor knows of a service, brought up to date.
  service_view& view(service_state& service) {
    if (service.number < views_.size()) {
      if (auto* known = views_[service.number].get()) {
        if (known->version != service.version()) refresh(*known);
        return *known;
      }
    }
    return first_view(service);
  }
  /// A replica with room for one call, which is taken; null if there is none.
  link* take_room(service_view& view, const call_options& options, const replica_slot* only);

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
  void refresh(service_view& view);
  std::size_t choose(service_view& view, const call_options& options);
  std::uint8_t row_of(service_view& view, const endpoint_info& endpoint);
  std::uint32_t random() noexcept;

  strand& home_;
  const ref<inbox>& me_;  ///< The actor's own: a copy here would keep the actor alive.
  std::function<void(inbox&)> watch_;
  std::uint64_t random_state_;
  std::vector<std::unique_ptr<service_view>> views_;  ///< By service number.
  std::vector<std::shared_ptr<link>> links_;  ///< Every replica known and not heard to have ended.
  std::vector<std::size_t> live_;             ///< Scratch of `choose`.
  timing_wheel wheel_;
};

}  // namespace troupe::detail
