#include "runtime/actor/turn_order.hpp"

#include <algorithm>
#include <bit>

#include "runtime/actor/strand_actor.hpp"

namespace troupe::detail {

/// The integer part k has the probability 2^-(k+1), and the fraction is uniform.
std::uint64_t delay_of(std::uint64_t random) noexcept {
  constexpr int digits = 24;
  constexpr std::uint64_t fraction = (std::uint64_t{1} << digits) - 1;
  const auto whole = static_cast<std::uint64_t>(std::countl_zero(random | fraction));
  return (whole << digits) + (random & fraction);
}

void turn_order::add(caf::resumable* job) {
  auto* const actor = dynamic_cast<strand_actor*>(job);
  const auto random = actor ? actor->draw_turn() : others_.next();
  push({now_ + delay_of(random), added_++, job});
}

void turn_order::add_all(std::deque<caf::resumable*>& jobs) {
  for (auto* job : jobs) add(job);
  jobs.clear();
}

caf::resumable* turn_order::take(const std::function<bool(caf::resumable*)>& can) {
  caf::resumable* taken = nullptr;
  while (!taken && !waiting_.empty()) {
    const auto next = pop();
    if (can(next.job)) {
      now_ = std::max(now_, next.due);
      taken = next.job;
    } else {
      skipped_.push_back(next);
    }
  }
  for (const auto& t : skipped_) push(t);
  skipped_.clear();
  return taken;
}

void turn_order::remove_all(std::deque<caf::resumable*>& to) {
  while (!waiting_.empty()) to.push_back(pop().job);
}

void turn_order::push(const turn& t) {
  waiting_.push_back(t);
  std::push_heap(waiting_.begin(), waiting_.end());
}

turn_order::turn turn_order::pop() {
  std::pop_heap(waiting_.begin(), waiting_.end());
  const auto next = waiting_.back();
  waiting_.pop_back();
  return next;
}

}  // namespace troupe::detail
