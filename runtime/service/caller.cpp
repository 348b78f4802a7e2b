#include "runtime/service/caller.hpp"

#include <algorithm>
#include <stdexcept>

#include "runtime/log.hpp"

namespace troupe::detail {

namespace {

constexpr auto stalled_after = std::chrono::seconds(30);
constexpr auto stall_check_every = std::chrono::seconds(1);

}  // namespace

// ---- one call

bool pending_call::await_suspend(std::coroutine_handle<> parent) {
  home_ = &caller::current();
  parent_ = parent;
  wake_.handle = parent;
  call_->pending = this;
  call_->keep_arguments = service_->idempotent(call_->endpoint);

  const auto now = home_->home().now();
  const auto limit =
      options_.deadline == duration(0) ? service_->options.deadline : options_.deadline;
  if (limit != no_limit) {
    deadline_ = now + limit;
    home_->wheel_.enter(alarm_, deadline_, now);
  } else {
    if (home_->unlimited_++ == 0) home_->next_stall_check_ = now + stall_check_every;
  }
  call_->sent = now;
  const bool suspended = send_or_wait();
  resuming_ = true;
  return suspended;
}

pending_call::~pending_call() {
  if (!home_) return;
  if (stage_ != stage::ended) {
    call_->cancelled.store(true, std::memory_order_relaxed);
    if (deadline_ == time_point::max()) --home_->unlimited_;
  }
  call_->pending = nullptr;
  if (ticket_) service_->leave(*ticket_);
}

bool pending_call::send_or_wait() {
  auto& view = home_->view(*service_);
  for (bool queued = false;; queued = true) {
    bool any = false;
    if (auto* to = home_->take_room(view, options_, only_.get(), any)) {
      if (ticket_) service_->leave(*std::exchange(ticket_, nullptr));
      stage_ = stage::in_flight;
      to->in_flight.push_back(*this);
      call_->statistics = home_->row_of(view, call_->endpoint);
      call_->caller = home_->me_;
      to->slot->where->request(call_, options_.priority);
      return true;
    }
    if (only_ && !only_->alive.load()) {
      const auto kind = session_ ? error_kind::session_lost : error_kind::replica_lost;
      end(kind, where() + ": replica " + std::to_string(only_->index) + " has died");
      return false;
    }
    if (const auto reason = service_->closed()) {
      end(error_kind::service_down, where() + ": " + *reason);
      return false;
    }
    if (!options_.wait) {
      end(error_kind::overloaded, any ? where() + ": every queue is full (max_queued " +
                                            std::to_string(service_->options.max_queued) +
                                            " a replica)"
                                      : where() + ": no replica is ready");
      return false;
    }
    // Wait, then look once more: room that came between the look and the entry told nobody.
    if (queued) return true;
    stage_ = stage::waiting;
    ticket_ = std::make_shared<ticket>();
    ticket_->who = home_->me_;
    ticket_->only = only_.get();
    ticket_->waiting = this;
    if (!service_->wait(ticket_)) {
      ticket_ = nullptr;
      end(error_kind::overloaded, where() + ": " + std::to_string(service_->options.max_waiting) +
                                      " callers wait already (max_waiting)");
      return false;
    }
  }
}

void pending_call::try_again() {
  if (stage_ == stage::ended) return;
  ticket_ = nullptr;
  send_or_wait();
}

void pending_call::replied() { end(nullptr); }

void pending_call::lost() {
  unlink();
  if (call_->answered.load(std::memory_order_acquire)) return;  // Its reply is already on the way.
  ++losses_;
  const auto& options = service_->options;
  if (session_)
    return end(error_kind::session_lost, where() + ": its replica died during the call");
  if (only_ || !call_->keep_arguments) {
    return end(error_kind::replica_lost, where() + ": the replica died during the call");
  }
  if (losses_ >= options.poison_limit) {
    log::error(
        "a call is refused as poison",
        {{"service", options.name}, {"endpoint", call_->endpoint.name}, {"killed", losses_}});
    return end(error_kind::poison,
               where() + ": this call has killed " + std::to_string(losses_) + " replicas");
  }
  auto fresh = call_->again();
  if (losses_ > options.max_retries || !fresh) {
    return end(error_kind::replica_lost, where() + ": lost " + std::to_string(losses_) + " times");
  }
  // The dying replica may still hold the old call, so another attempt is another call.
  const auto now = home_->home().now();
  fresh->keep_arguments = true;
  fresh->sent = now;
  call_->pending = nullptr;
  call_ = std::move(fresh);
  call_->pending = this;
  stage_ = stage::backing_off;
  service_->retries.fetch_add(1, std::memory_order_relaxed);
  const auto pause = std::chrono::milliseconds(25) * (1 << std::min<std::size_t>(losses_ - 1, 4));
  home_->wheel_.enter(alarm_, std::min(deadline_, now + pause), now);
}

void pending_call::expired() {
  const auto now = home_->home().now();
  if (now < deadline_) {  // It was the pause before another attempt.
    if (deadline_ != time_point::max()) home_->wheel_.enter(alarm_, deadline_, now);
    if (stage_ == stage::backing_off) send_or_wait();
    return;
  }
  call_->cancelled.store(true, std::memory_order_relaxed);
  end(error_kind::deadline_exceeded,
      where() + ": no answer within " +
          to_text(options_.deadline == duration(0) ? service_->options.deadline
                                                   : options_.deadline));
}

void pending_call::end(error_kind kind, const std::string& why) {
  auto reason = refusal::lost;
  if (kind == error_kind::overloaded) reason = refusal::overloaded;
  if (kind == error_kind::deadline_exceeded) reason = refusal::deadline;
  if (kind == error_kind::service_down) reason = refusal::down;
  if (kind == error_kind::poison) reason = refusal::poison;
  service_->refused[static_cast<std::size_t>(reason)].fetch_add(1, std::memory_order_relaxed);
  end(std::make_exception_ptr(call_error(kind, why)));
}

void pending_call::end(std::exception_ptr error) {
  stage_ = stage::ended;
  error_ = std::move(error);
  unlink();
  alarm_.leave();
  if (deadline_ == time_point::max()) --home_->unlimited_;
  if (ticket_) service_->leave(*std::exchange(ticket_, nullptr));
  if (resuming_) home_->home().wake(wake_);
}

void pending_call::check() const {
  if (error_) std::rethrow_exception(error_);
  if (call_->error) throw role_error(where(), call_->error);
}

std::string pending_call::where() const {
  return service_->options.name + "." + std::string(call_->endpoint.name);
}

// ---- all calls of one actor

caller::caller(strand& home, const ref<inbox>& me, std::function<void(inbox&)> watch,
               std::uint64_t seed)
    : home_(home), me_(me), watch_(std::move(watch)), random_state_(seed | 1) {}

caller& caller::current() {
  auto* here = strand::current().calls();
  if (!here) throw std::logic_error("a service was called outside of an actor");
  return *here;
}

/// xorshift64 (Marsaglia 2003): cheap, and good enough to choose between replicas.
std::uint32_t caller::random() noexcept {
  random_state_ ^= random_state_ << 13;
  random_state_ ^= random_state_ >> 7;
  random_state_ ^= random_state_ << 17;
  return static_cast<std::uint32_t>(random_state_ >> 32);
}

service_view& caller::view(service_state& service) {
  if (views_.size() <= service.number) views_.resize(service.number + 1);
  auto& known = views_[service.number];
  if (!known) {
    known = std::make_unique<service_view>();
    known->state = service.shared_from_this();
  }
  return *known;
}

std::uint8_t caller::row_of(service_view& view, const endpoint_info& endpoint) {
  if (view.rows.size() <= endpoint.number) view.rows.resize(endpoint.number + 1);
  auto& row = view.rows[endpoint.number];
  if (row == 0) row = static_cast<std::uint8_t>(view.state->row_of(endpoint) + 1);
  return static_cast<std::uint8_t>(row - 1);
}

void caller::refresh(service_view& view) {
  view.version = view.state->version();
  const auto table = view.state->table();
  std::vector<std::shared_ptr<link>> links;
  for (const auto& slot : *table) {
    const auto known =
        std::find_if(links_.begin(), links_.end(), [&](const auto& l) { return l->slot == slot; });
    if (known != links_.end()) {
      links.push_back(*known);
    } else {
      links.push_back(links_.emplace_back(std::make_shared<link>(slot)));
      watch_(*slot->where);
    }
  }
  view.links = std::move(links);
}

namespace {

/// The live links of a view, as routers see them.
class live_links final : public replica_view {
 public:
  live_links(const std::vector<link*>& links, std::function<std::uint32_t()> random)
      : links_(links), random_(std::move(random)) {}
  std::size_t size() const override { return links_.size(); }
  std::size_t pending(std::size_t i) const override {
    return static_cast<std::size_t>(links_[i]->slot->pending.load(std::memory_order_relaxed));
  }
  std::size_t sessions(std::size_t i) const override {
    return static_cast<std::size_t>(links_[i]->slot->sessions.load(std::memory_order_relaxed));
  }
  std::size_t index(std::size_t i) const override { return links_[i]->slot->index; }
  std::uint32_t random() override { return random_(); }

 private:
  const std::vector<link*>& links_;
  std::function<std::uint32_t()> random_;
};

bool usable(const link& l) { return !l.ended && l.slot->alive.load(std::memory_order_relaxed); }

}  // namespace

link* caller::take_room(service_view& view, const call_options& options, const replica_slot* only,
                        bool& any) {
  if (view.version != view.state->version()) refresh(view);
  const auto& links = view.links;
  const auto limit = static_cast<std::int64_t>(view.state->options.max_queued);
  const auto take = [&](const std::shared_ptr<link>& l) {
    return usable(*l) && l->slot->take_room(limit);
  };
  any = false;
  for (const auto& l : links) any = any || usable(*l);
  if (!any) return nullptr;

  if (only) {
    for (const auto& l : links) {
      if (l->slot.get() == only) return take(l) ? l.get() : nullptr;
    }
    return nullptr;
  }
  std::size_t choice = 0;
  if (auto* router = view.state->options.router.get()) {
    std::vector<link*> live;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < links.size(); ++i) {
      if (!usable(*links[i])) continue;
      live.push_back(links[i].get());
      places.push_back(i);
    }
    live_links seen(live, [this] { return random(); });
    choice = places.at(router->pick(seen, options.key));
  } else if (links.size() > 1) {  // Power of two choices, without the detour.
    const auto n = links.size();
    const std::size_t first = (std::uint64_t{random()} * n) >> 32;
    std::size_t second = (std::uint64_t{random()} * (n - 1)) >> 32;
    if (second >= first) ++second;
    const auto load = [&](std::size_t i) {
      return links[i]->slot->pending.load(std::memory_order_relaxed);
    };
    choice = load(first) <= load(second) ? first : second;
  }
  if (take(links[choice])) return links[choice].get();
  for (const auto& l : links) {
    if (take(l)) return l.get();
  }
  return nullptr;
}

std::shared_ptr<replica_slot> caller::for_session(service_view& view) {
  if (view.version != view.state->version()) refresh(view);
  std::shared_ptr<replica_slot> best;
  for (const auto& l : view.links) {
    if (usable(*l) && (!best || l->slot->sessions.load() < best->sessions.load())) best = l->slot;
  }
  return best;
}

void caller::ended(const inbox& where) {
  const auto place = std::find_if(links_.begin(), links_.end(),
                                  [&](const auto& l) { return l->slot->where.get() == &where; });
  if (place == links_.end()) return;
  const auto gone = *place;
  links_.erase(place);
  gone->ended = true;
  list<pending_call> lost;
  while (!gone->in_flight.empty()) lost.push_back(gone->in_flight.front());
  while (!lost.empty()) lost.pop_front().lost();
}

void caller::forget() {
  views_.clear();
  links_.clear();
}

time_point caller::next_tick() const noexcept {
  auto next = wheel_.empty() ? time_point::max() : wheel_.next();
  if (unlimited_ > 0) next = std::min(next, next_stall_check_);
  return next;
}

void caller::tick(time_point now) {
  wheel_.expire(
      now, [](timing_wheel::entry& e) { static_cast<pending_call::alarm&>(e).owner.expired(); });
  if (unlimited_ > 0 && now >= next_stall_check_) {
    report_stalls(now);
    next_stall_check_ = now + stall_check_every;
  }
}

void caller::report_stalls(time_point now) {
  for (const auto& l : links_) {
    l->in_flight.for_each([&](pending_call& c) {
      if (c.stall_reported_ || c.deadline_ != time_point::max()) return;
      if (now - c.call_->sent < stalled_after) return;
      c.stall_reported_ = true;
      c.service_->stalled.fetch_add(1, std::memory_order_relaxed);
      log::warn("a call without a deadline is stalled",
                {{"service", c.service_->options.name},
                 {"endpoint", c.call_->endpoint.name},
                 {"replica", l->slot->index},
                 {"waiting", to_text(now - c.call_->sent)}});
    });
  }
}

}  // namespace troupe::detail
