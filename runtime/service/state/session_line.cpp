#include "runtime/service/state/session_line.hpp"

#include <utility>

#include "runtime/service/state/service_state.hpp"

namespace troupe::detail {

namespace {

/// Tells those who wait, each on its own actor, to look again.
void call_up(std::vector<session_call> calls) {
  for (auto& call : calls) {
    call.who->post([wish = std::move(call.wish)] {
      if (wish->waiting) wish->waiting->called_up();
    });
  }
}

}  // namespace

void session_line::serve(
    std::shared_ptr<const std::vector<std::shared_ptr<replica_slot>>> replicas) {
  std::vector<session_call> served;
  {
    std::lock_guard lock(mutex_);
    if (closed_ || owner_) return;
    replicas_ = std::move(replicas);
    grant_all(served);
  }
  call_up(std::move(served));
}

void session_line::close() {
  std::vector<session_call> all;
  {
    std::lock_guard lock(mutex_);
    closed_ = true;
    replicas_ = nullptr;
    for (auto& wish : line_) {
      wish->in_line = false;
      all.push_back({wish->who, std::move(wish)});
    }
    line_.clear();
  }
  call_up(std::move(all));
}

session_line::place session_line::enter(const std::shared_ptr<session_wish>& wish,
                                        std::size_t most) {
  {
    std::lock_guard lock(mutex_);
    if (!owner_ && grant(*wish)) return place::granted;
    if (closed_) return place::waiting;  // The wait is in vain, which the opener checks itself.
    if (!owner_ && line_.size() >= most) return place::full;
    wish->in_line = true;
    line_.push_back(wish);
  }
  if (owner_) owner_->ask(wish);
  return place::waiting;
}

std::shared_ptr<replica_slot> session_line::take(session_wish& wish) {
  std::lock_guard lock(mutex_);
  if (wish.error) std::rethrow_exception(std::exchange(wish.error, nullptr));
  auto slot = std::exchange(wish.granted, nullptr);
  if (slot) wish.who = nullptr;
  return slot;
}

/// Requires mutex_. Returns false if the wish was not in the line.
bool session_line::leave(session_wish& wish) {
  if (!std::exchange(wish.in_line, false)) return false;
  std::erase_if(line_, [&](const auto& w) { return w.get() == &wish; });
  return true;
}

void session_line::give_up(const std::shared_ptr<session_wish>& wish) {
  wish->waiting = nullptr;
  bool waited = false;
  std::shared_ptr<replica_slot> unused;
  {
    std::lock_guard lock(mutex_);
    waited = leave(*wish);
    unused = std::exchange(wish->granted, nullptr);
  }
  if (unused) return end_session(wish, *unused);
  if (waited && owner_) owner_->release(wish);
}

void session_line::end_session(const std::shared_ptr<session_wish>& wish, replica_slot& slot) {
  if (owner_) return owner_->release(wish);
  end_session(slot);
}

bool session_line::granted(const std::shared_ptr<session_wish>& wish,
                           std::shared_ptr<replica_slot> slot) {
  ref<inbox> who;
  {
    std::lock_guard lock(mutex_);
    if (!leave(*wish)) return false;
    wish->granted = std::move(slot);
    who = wish->who;
  }
  call_up({{std::move(who), wish}});
  return true;
}

void session_line::refused(const std::shared_ptr<session_wish>& wish, std::exception_ptr error) {
  ref<inbox> who;
  {
    std::lock_guard lock(mutex_);
    if (!leave(*wish)) return;
    wish->error = std::move(error);
    who = wish->who;
  }
  call_up({{std::move(who), wish}});
}

void session_line::end_session(replica_slot& slot) {
  std::vector<session_call> served;
  {
    std::lock_guard lock(mutex_);
    slot.has_exclusive_session = false;
    if (slot.sessions.fetch_sub(1) == 1 && slot.leaving()) slot.drain();
    grant_all(served);
  }
  call_up(std::move(served));
}

bool session_line::grant(session_wish& wish) {
  std::shared_ptr<replica_slot> best;
  if (!replicas_) return false;
  for (const auto& slot : *replicas_) {
    if (!slot->serving() || slot->has_exclusive_session) continue;
    if (wish.exclusive && slot->sessions.load() > 0) continue;
    if (!best || slot->sessions.load() < best->sessions.load()) best = slot;
  }
  if (!best) return false;
  best->sessions.fetch_add(1);
  best->has_exclusive_session = wish.exclusive;
  wish.granted = std::move(best);
  return true;
}

void session_line::grant_all(std::vector<session_call>& served) {
  for (auto place = line_.begin(); place != line_.end();) {
    if (!grant(**place)) {
      ++place;
      continue;
    }
    (*place)->in_line = false;
    served.push_back({(*place)->who, std::move(*place)});
    place = line_.erase(place);
  }
}

}  // namespace troupe::detail
