#pragma once
// The calling side of an actor: the replicas that it knows, the calls that it has sent them, and
// the deadlines of these calls. Internal to runtime/.

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

/// The calling side of one actor.
class caller {
 public:
  /// `watch` asks to be told, through `ended`, when the actor behind a mailbox ends.
  caller(strand& home, const ref<inbox>& me, std::function<void(inbox&)> watch, std::uint64_t seed);

  /// Returns the calling side of the actor that runs on this thread. Throws std::logic_error
  /// outside an actor.
  static caller& current();

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

  /// Tells every caller of a service that `slot` has ended, where the replica's own actor can't
  /// because its thread is stuck.
  static void tell_all_lost(const service_state& service,
                            const std::shared_ptr<replica_slot>& slot);
  /// The service was stopped: each of its callers forgets it once it awaits no call of it.
  static void tell_all_stopped(service_state& service);

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
