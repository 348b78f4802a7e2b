#include <algorithm>

#include "runtime/log.hpp"
#include "runtime/service/caller.hpp"

namespace troupe::detail {

namespace {

constexpr auto stalled_after = std::chrono::seconds(30);
/// Before the first retry of a lost call; doubles, up to sixteen times as long.
constexpr auto retry_pause = std::chrono::milliseconds(25);

}  // namespace

bool pending_call::await_suspend(std::coroutine_handle<> parent) {
  home_ = &caller::current();
  wake_.handle = parent;
  call_->pending = this;
  call_->keep_arguments = service_->idempotent(call_->endpoint);

  const auto now = home_->home().now();
  call_->sent = now;
  if (limit() != no_limit) deadline_ = later(now, limit());
  call_->limited = deadline_ != time_point::max();
  set_alarm(now);
  const bool suspended = send_or_wait();
  resuming_ = true;
  return suspended;
}

pending_call::~pending_call() {
  if (!home_ || stage_ == stage::ended) return;
  // Its coroutine is destroyed while it waits.
  call_->cancelled.store(true, std::memory_order_relaxed);
  call_->pending = nullptr;
  service_->refused[static_cast<std::size_t>(refusal::cancelled)].fetch_add(1);
  if (ticket_) service_->leave(*ticket_, nullptr);
}

duration pending_call::limit() const noexcept {
  return options_.deadline == duration(0) ? service_->options.deadline : options_.deadline;
}

/// False if the call has ended.
bool pending_call::send_or_wait() {
  auto& view = home_->view(*service_);
  if (auto* to = home_->take_room(view, options_, only_.get())) {
    send(*to, view);
    return true;
  }
  if (const auto reason = service_->closed()) {
    end(error_kind::service_down, where() + ": " + *reason);
    return false;
  }
  if (only_ && !only_->alive.load()) {
    const auto kind = session_ ? error_kind::session_lost : error_kind::replica_lost;
    end(kind, where() + ": replica " + std::to_string(only_->index) + " has died");
    return false;
  }
  if (!options_.wait) {
    end(error_kind::overloaded,
        view.links.empty() ? where() + ": no replica is ready"
                           : where() + ": every queue is full (max_queued " +
                                 std::to_string(service_->options.max_queued) + " a replica)");
    return false;
  }
  return wait_in_line();
}

void pending_call::send(link& to, service_view& view) {
  if (ticket_) service_->leave(*std::exchange(ticket_, nullptr), to.slot.get());
  stage_ = stage::in_flight;
  to.in_flight.push_back(*this);
  call_->statistics = home_->row_of(view, call_->endpoint);
  call_->caller = home_->me_;
  to.slot->where->request(call_, options_.priority);
}

bool pending_call::wait_in_line() {
  stage_ = stage::waiting;
  if (!ticket_) {
    ticket_ = std::make_shared<ticket>();
    ticket_->who = home_->me_;
    ticket_->only = only_.get();
    ticket_->urgency = options_.priority;
    ticket_->waiting = this;
  }
  if (!service_->wait(ticket_)) {
    ticket_ = nullptr;
    end(error_kind::overloaded, where() + ": " + std::to_string(service_->options.max_waiting) +
                                    " callers wait already (max_waiting)");
    return false;
  }
  // Look once more: what came between the first look and the entry has told nobody.
  auto& view = home_->view(*service_);
  if (auto* to = home_->take_room(view, options_, only_.get())) {
    send(*to, view);
  } else if (service_->closed() || (only_ && !only_->alive.load())) {
    return send_or_wait();
  }
  return true;
}

void pending_call::called_up() { try_again(); }

void pending_call::try_again() {
  try {
    send_or_wait();
  } catch (...) {  // A program's own router can throw.
    end(std::current_exception());
  }
}

void pending_call::replied() { end(nullptr); }

void pending_call::lost() {
  unlink();
  if (call_->answered.load(std::memory_order_acquire)) return;  // Its reply is on the way.
  if (const auto reason = service_->closed()) {
    return end(error_kind::service_down, where() + ": " + *reason);
  }
  if (session_) {
    return end(error_kind::session_lost, where() + ": its replica died during the call");
  }
  if (only_ || !call_->keep_arguments) {
    return end(error_kind::replica_lost, where() + ": the replica died during the call");
  }
  const auto& options = service_->options;
  ++losses_;
  if (call_->begun.load(std::memory_order_acquire)) ++killed_;
  if (killed_ >= options.poison_limit) {
    log::error("a call is refused as poison", {{"service", options.name},
                                               {"endpoint", call_->endpoint.name},
                                               {"arguments", call_->describe_arguments()},
                                               {"killed", killed_}});
    return end(error_kind::poison,
               where() + ": this call has killed " + std::to_string(killed_) + " replicas");
  }
  if (losses_ > options.max_retries) {
    return end(error_kind::replica_lost, where() + ": lost " + std::to_string(losses_) + " times");
  }
  retry();
}

void pending_call::retry() {
  // The dying replica may still hold the old call, so another attempt is another call.
  auto fresh = call_->again();
  if (!fresh) {
    return end(error_kind::replica_lost,
               where() + ": the replica died, and the arguments can't be copied for another");
  }
  const auto now = home_->home().now();
  fresh->sent = now;
  fresh->limited = call_->limited;
  call_->pending = nullptr;
  call_ = std::move(fresh);
  call_->pending = this;
  stage_ = stage::backing_off;
  service_->retries.fetch_add(1, std::memory_order_relaxed);
  const auto pause = retry_pause * (1 << std::min<std::uint32_t>(losses_ - 1, 4));
  home_->wheel_.enter(alarm_, std::min(deadline_, now + pause), now);
}

void pending_call::expired() {
  const auto now = home_->home().now();
  if (now >= deadline_) {
    call_->cancelled.store(true, std::memory_order_relaxed);
    return end(error_kind::deadline_exceeded, where() + ": no answer within " + to_text(limit()));
  }
  if (stage_ == stage::backing_off) {
    set_alarm(now);
    try_again();
  } else {
    report_stall(now);
  }
}

void pending_call::set_alarm(time_point now) {
  const bool limited = deadline_ != time_point::max();
  home_->wheel_.enter(alarm_, limited ? deadline_ : now + stalled_after, now);
}

void pending_call::report_stall(time_point now) {
  service_->stalled.fetch_add(1, std::memory_order_relaxed);
  log::warn("a call without a deadline is stalled",
            {{"service", service_->options.name},
             {"endpoint", call_->endpoint.name},
             {"stage", stage_ == stage::waiting ? "waiting for room" : "sent"},
             {"for", to_text(now - call_->sent)}});
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
  call_->pending = nullptr;  // An answer that comes later finds nobody.
  if (ticket_) service_->leave(*std::exchange(ticket_, nullptr), nullptr);
  if (resuming_) home_->home().wake(wake_);
}

void pending_call::fail() const {
  if (error_) std::rethrow_exception(error_);
  throw role_error(where(), call_->error);
}

std::string pending_call::where() const {
  return service_->options.name + "." + std::string(call_->endpoint.name);
}

}  // namespace troupe::detail
