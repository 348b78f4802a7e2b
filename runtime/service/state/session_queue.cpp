#include "runtime/service/state/session_queue.hpp"

#include <algorithm>
#include <utility>

#include "runtime/service/state/service_state.hpp"

namespace troupe::detail {

namespace {

/// Tells those who wait, each on its own actor, to look again.
void notify(std::vector<session_call> calls) {
  for (auto& call : calls) {
    call.who->post([request = std::move(call.request)] {
      if (request->waiting) request->waiting->notified();
    });
  }
}

}  // namespace

void session_queue::serve(
    std::shared_ptr<const std::vector<std::shared_ptr<replica_slot>>> replicas) {
  std::vector<session_call> served;
  {
    std::lock_guard lock(mutex_);
    if (closed_ || owner_) return;
    replicas_ = std::move(replicas);
    grant_all(served);
  }
  notify(std::move(served));
}

void session_queue::close() {
  std::vector<session_call> all;
  {
    std::lock_guard lock(mutex_);
    closed_ = true;
    replicas_ = nullptr;
    for (const auto& group : queue_) {
      for (const auto& request : group) {
        request->queued = false;
        all.push_back({request->who, request});
      }
    }
    queue_.clear();
  }
  notify(std::move(all));
}

session_queue::place session_queue::enter(const session_group& group, std::size_t most) {
  {
    std::lock_guard lock(mutex_);
    const bool overtakes = group.front()->exclusive &&
                           std::any_of(queue_.begin(), queue_.end(),
                                       [](const auto& other) { return other.front()->exclusive; });
    if (!owner_ && !overtakes && grant(group)) return place::granted;
    if (closed_) return place::waiting;  // The wait is in vain, which the opener checks itself.
    if (!owner_ && queue_.size() >= most) return place::full;
    for (const auto& request : group) request->queued = true;
    queue_.push_back(group);
  }
  if (owner_) owner_->ask(group.front());
  return place::waiting;
}

std::shared_ptr<replica_slot> session_queue::take(session_request& request) {
  std::lock_guard lock(mutex_);
  if (request.error) std::rethrow_exception(std::exchange(request.error, nullptr));
  auto slot = std::exchange(request.granted, nullptr);
  if (slot) request.who = nullptr;
  return slot;
}

/// Takes the request's group out of the queue. Requires mutex_. Returns false if it was not there.
bool session_queue::leave(session_request& request) {
  if (!request.queued) return false;
  const auto holds = [&](const auto& each) { return each.get() == &request; };
  const auto place = std::find_if(queue_.begin(), queue_.end(), [&](const auto& group) {
    return std::any_of(group.begin(), group.end(), holds);
  });
  for (const auto& each : *place) each->queued = false;
  queue_.erase(place);
  return true;
}

void session_queue::give_up(const std::shared_ptr<session_request>& request) {
  request->waiting = nullptr;
  bool waited = false;
  std::shared_ptr<replica_slot> unused;
  {
    std::lock_guard lock(mutex_);
    waited = leave(*request);
    unused = std::exchange(request->granted, nullptr);
  }
  if (unused) return end_session(request, *unused);
  if (waited && owner_) owner_->release(request);
}

void session_queue::end_session(const std::shared_ptr<session_request>& request,
                                replica_slot& slot) {
  if (owner_) return owner_->release(request);
  end_session(*request, slot);
}

bool session_queue::granted(const std::shared_ptr<session_request>& request,
                            std::shared_ptr<replica_slot> slot) {
  ref<inbox> who;
  {
    std::lock_guard lock(mutex_);
    if (!leave(*request)) return false;
    request->granted = std::move(slot);
    who = request->who;
  }
  notify({{std::move(who), request}});
  return true;
}

void session_queue::refused(const std::shared_ptr<session_request>& request,
                            std::exception_ptr error) {
  ref<inbox> who;
  {
    std::lock_guard lock(mutex_);
    if (!leave(*request)) return;
    request->error = std::move(error);
    who = request->who;
  }
  notify({{std::move(who), request}});
}

session_waits session_queue::waits() {
  session_waits all;
  std::lock_guard lock(mutex_);
  if (owner_ || queue_.empty()) return all;
  std::size_t most = 1;
  for (const auto& group : queue_) {
    const auto& first = group.front();
    if (first->exclusive) most = std::max(most, group.size());
    all.waiting.push_back({first, first->who, first->exclusive ? most : 1});
  }
  all.held = held_;
  return all;
}

std::size_t session_queue::note_standstill(time_point now, duration limit) {
  std::lock_guard lock(mutex_);
  if (std::exchange(moves_, false) || owner_ || queue_.empty()) stands_since_ = now;
  if (standstill_told_ || now - stands_since_ < limit) return 0;
  standstill_told_ = true;
  return queue_.size();
}

void session_queue::end_session(const session_request& request, replica_slot& slot) {
  std::vector<session_call> served;
  {
    std::lock_guard lock(mutex_);
    moves_ = true;
    std::erase_if(held_, [&](const auto& each) { return each.request == &request; });
    slot.has_exclusive_session = false;
    if (slot.sessions.fetch_sub(1) == 1 && slot.leaving()) slot.drain();
    grant_all(served);
  }
  notify(std::move(served));
}

bool session_queue::grant(session_request& request) {
  std::shared_ptr<replica_slot> best;
  if (!replicas_) return false;
  for (const auto& slot : *replicas_) {
    if (!slot->serving() || slot->has_exclusive_session) continue;
    if (request.exclusive && slot->sessions.load() > 0) continue;
    if (!best || slot->sessions.load() < best->sessions.load()) best = slot;
  }
  if (!best) return false;
  moves_ = true;
  best->sessions.fetch_add(1);
  best->has_exclusive_session = request.exclusive;
  held_.push_back({&request, request.who.get(), request.by_slice, best->serial, request.exclusive});
  request.granted = std::move(best);
  return true;
}

/// Grants all requests of the group or none.
bool session_queue::grant(const session_group& group) {
  for (std::size_t i = 0; i < group.size(); ++i) {
    if (grant(*group[i])) continue;
    while (i-- > 0) {
      const auto slot = std::exchange(group[i]->granted, nullptr);
      slot->has_exclusive_session = false;
      slot->sessions.fetch_sub(1);
      held_.pop_back();
    }
    return false;
  }
  return true;
}

void session_queue::grant_all(std::vector<session_call>& served) {
  bool exclusive_ones_wait = false;  // Later ones don't overtake them.
  for (auto place = queue_.begin(); place != queue_.end();) {
    const bool exclusive = place->front()->exclusive;
    if ((exclusive && exclusive_ones_wait) || !grant(*place)) {
      exclusive_ones_wait = exclusive_ones_wait || exclusive;
      ++place;
      continue;
    }
    for (const auto& request : *place) {
      request->queued = false;
      served.push_back({request->who, request});
    }
    place = queue_.erase(place);
  }
}

}  // namespace troupe::detail
