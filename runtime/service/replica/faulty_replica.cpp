#include "runtime/service/replica/faulty_replica.hpp"

#include "runtime/actor/timed_action.hpp"
#include "runtime/service/options/fault_plan.hpp"

namespace troupe::detail {

void faulty_replica::on_request(ref<call_base> call) {
  auto& faults = *system_.faults();
  if (faults.drops()) {
    give_room_back();
    return lose_link(*call);
  }
  if (faults.duplicates()) {
    self()->post_last([this, call] { local_replica::on_request(call); });
  }
  if (const auto pause = faults.delay(); pause > duration(0)) {
    return after(pause, [me = self(), this, call] { me->post([this, call] { take_up(call); }); });
  }
  take_up(std::move(call));
}

void faulty_replica::take_up(ref<call_base> call) {
  auto& faults = *system_.faults();
  if (faults.crashes()) return crash("an injected fault, before a call");
  if (forgets_queued_calls && leaving()) {
    call->answered = true;
    return give_room_back();
  }
  turn_began();  // Time that is spent from here on counts as this call's.
  if (const auto more = faults.slowness(); more > duration(0)) system_.spend(more);
  local_replica::on_request(std::move(call));
}

void faulty_replica::deliver(call_base& call) {
  auto& faults = *system_.faults();
  const auto swallow = [&] { call.answered.store(false, std::memory_order_release); };
  if (crashed()) return swallow();  // The call is one of the rest of a batch.
  if (faults.drops()) {
    swallow();
    return lose_link(call);
  }
  const bool crashes = faults.crashes();
  if (crashes && faults.one_of_two()) {
    if (!forgets_swallowed_replies) swallow();
    return crash("an injected fault, before a reply");
  }
  const ref<call_base> kept(&call);
  if (faults.duplicates()) call.caller->reply(kept);
  if (const auto pause = faults.delay(); pause > duration(0)) {
    after(pause, [kept] { kept->caller->reply(kept); });
  } else {
    call.caller->reply(kept);
  }
  if (crashes) crash("an injected fault, after a reply");
}

/// Crashes if the caller has no deadline, because nothing else would end its wait.
void faulty_replica::lose_link(const call_base& call) {
  if (!call.limited) crash("an injected fault: the link is lost");
}

void faulty_replica::after(duration pause, std::function<void()> action) {
  system_.clock().wake_at(later(now(), pause), ref<inbox>(new timed_action(std::move(action))));
}

}  // namespace troupe::detail
