#include "runtime/remote/simulated_link.hpp"

#include <algorithm>

#include "runtime/actor/timed_action.hpp"
#include "runtime/remote/remote_context.hpp"

namespace troupe::detail {

std::pair<std::shared_ptr<simulated_link>, std::shared_ptr<simulated_link>> simulated_link::make(
    remote_context& system) {
  std::shared_ptr<simulated_link> one(new simulated_link(system));
  std::shared_ptr<simulated_link> other(new simulated_link(system));
  one->other_ = other;
  other->other_ = one;
  return {one, other};
}

void simulated_link::open(std::shared_ptr<link_listener> listener) {
  listener_ = std::move(listener);
  for (auto& early : std::exchange(early_, {})) arrive(std::move(early));
  if (closed_) tell_closed();
}

void simulated_link::send(block message, priority) {
  auto* faults = system_.faults();
  if (closed_ || cut_) return;
  if (faults && faults->drops()) return cut();
  if (faults && faults->duplicates()) {
    block copy(message.size());
    std::memcpy(copy.data(), message.data(), message.size());
    carry(std::move(copy), faults->delay());
  }
  carry(std::move(message), faults ? faults->delay() : duration(0));
}

void simulated_link::close(const std::string& why) {
  if (closed_) return;
  end(why);
  if (const auto other = other_.lock(); other && !cut_) other->end("the other side has closed it");
}

void simulated_link::carry(block message, duration pause) {
  const auto other = other_.lock();
  if (!other) return;
  pause = std::max(pause, stalled_until_ - system_.clock().now());
  if (pause == duration(0)) return other->arrive(std::move(message));
  const auto kept = std::make_shared<block>(std::move(message));
  ++under_way_;
  at(pause, [me = shared_from_this(), other, kept] {
    if (!me->cut_) other->arrive(std::move(*kept));
    me->has_arrived();
  });
}

void simulated_link::arrive(block message) {
  if (closed_) return;
  if (!listener_) return early_.push_back(std::move(message));
  listener_->received(std::move(message));
}

void simulated_link::has_arrived() {
  if (under_way_-- == under_way_max + 1 && listener_) listener_->writable();
}

/// The ends whose messages go that way.
std::vector<std::shared_ptr<simulated_link>> simulated_link::senders(way which) {
  std::vector<std::shared_ptr<simulated_link>> ends;
  if (which != way::in) ends.push_back(shared_from_this());
  const auto other = other_.lock();
  if (which != way::out && other) ends.push_back(other);
  return ends;
}

void simulated_link::cut(way which) {
  for (const auto& side : senders(which)) {
    if (std::exchange(side->cut_, true)) continue;
    const auto listens = side->other_.lock();
    if (listens)
      at(silence_limit, [listens] { listens->close("nothing was heard of it for 5 s"); });
  }
}

void simulated_link::stall(duration time, way which) {
  const auto until = later(system_.clock().now(), std::min<duration>(time, silence_limit));
  for (const auto& side : senders(which)) {
    side->stalled_until_ = std::max(side->stalled_until_, until);
  }
}

void simulated_link::end(const std::string& why) {
  if (std::exchange(closed_, true)) return;
  why_ = why;
  tell_closed();
}

void simulated_link::tell_closed() {
  if (const auto listener = std::exchange(listener_, nullptr)) listener->closed(why_);
}

void simulated_link::at(duration pause, std::function<void()> action) {
  auto& clock = system_.clock();
  clock.wake_at(later(clock.now(), pause), ref<inbox>(new timed_action(std::move(action))));
}

}  // namespace troupe::detail
