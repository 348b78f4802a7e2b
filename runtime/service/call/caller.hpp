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

  /// Tells every caller of a service that `slot` has ended, where the replica's own actor can't
  /// because its thread is stuck.
  static void tell_all_lost(const service_state& service,
                            const std::shared_ptr<replica_slot>& slot);
  /// The service was stopped: each of its callers forgets it once it awaits no call of it.
  static void tell_all_stopped(service_state& service);

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
