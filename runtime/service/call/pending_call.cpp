#include "runtime/service/call/pending_call.hpp"

#include <algorithm>

#include "runtime/base/log.hpp"
#include "runtime/base/utf8.hpp"
#include "runtime/service/call/host.hpp"
#include "runtime/trace/trace.hpp"

namespace troupe::detail {

namespace {

constexpr auto stalled_after = std::chrono::seconds(30);
/// The pause before the first retry of a lost call. It doubles, up to sixteen times as long.
constexpr auto retry_pause = std::chrono::milliseconds(25);
/// The bytes of a poisoned call's arguments that are logged, since names of types can be long.
constexpr std::size_t argument_bytes_logged = 500;

}  // namespace

bool pending_call::await_suspend(std::coroutine_handle<> parent) {
  auto& home = caller::current();
  view_ = &home.view(*service_);  // May throw for lack of memory, and then nothing has begun.
  ++view_->awaited;
  home_ = &home;
  wake_.handle = parent;
  wake_.slice = home_->home().slice;
  auto& call = *first_.call;
  call.pending = &first_;
  call.keep_arguments = service_->idempotent(call.endpoint);
  hedged_ = !only_ && service_->hedged(call.endpoint);

  const auto now = home_->home().now();
  call.sent = now;
  if (auto* lane = home_->home().lane) {
    traced_ = true;
    call.traced = lane->new_id();
    awaited_since_ = now;
  }
  if (limit() != no_limit) deadline_ = later(now, limit());
  call.limited = deadline_ != time_point::max();
  call.deadline = deadline_;
  call.urgent = options_.priority == priority::control;
  call.by_slice = wake_.slice;
  set_alarm(now);
  const bool suspended = send_or_wait();
  resuming_ = true;
  return suspended;
}

pending_call::~pending_call() {
  if (!home_ || stage_ == stage::ended) return;
  if (traced_) trace_end(true);
  // The caller's coroutine is destroyed while it waits.
  give_up_all();
  service_->refused[static_cast<std::size_t>(refusal::cancelled)].fetch_add(1);
  if (ticket_) service_->leave(*ticket_, nullptr);
  home_->settle(*view_);
}

duration pending_call::limit() const noexcept {
  return options_.deadline == duration(0) ? service_->options.deadline : options_.deadline;
}

known_replica* pending_call::take_room(service_view& view) {
  if (!only_) return home_->take_room(view, options_);
  return gone() ? nullptr : home_->take_room_at(view, options_, only_);
}

/// Returns false if the call has ended.
bool pending_call::send_or_wait() {
  auto& view = home_->up_to_date(*view_);
  if (auto* to = take_room(view)) {
    send(first_, *to, view);
    return true;
  }
  if (const auto reason = service_->closed()) {
    end(error_kind::service_down, where() + ": " + *reason);
    return false;
  }
  if (only_ && gone()) {
    const auto what = where() + ": replica " + std::to_string(only_->index);
    if (!session_ && only_->leaving()) {
      end(std::make_exception_ptr(
          replica_removed(error_kind::replica_lost, what + " was removed")));
    } else {
      end(session_ ? error_kind::session_lost : error_kind::replica_lost,
          what + (only_->leaving() ? " was removed" : " has died"));
    }
    return false;
  }
  if (!options_.wait) {
    end(error_kind::overloaded,
        view.links.empty()    ? where() + ": no replica is ready"
        : lacks_version(view) ? where() + versions_there(view)
                              : where() + ": every queue is full (max_queued " +
                                    std::to_string(service_->options.max_queued) + " a replica)");
    return false;
  }
  return wait_in_queue();
}

void pending_call::send(attempt& by, known_replica& to, service_view& view) {
  if (ticket_) service_->leave(*std::exchange(ticket_, nullptr), to.slot.get());
  stage_ = stage::in_flight;
  by.to = &to;
  to.in_flight.push_back(by);
  auto& call = *by.call;
  call.statistics = home_->row_of(view, call.endpoint);
  call.caller = home_->me_;
  if (hedged_ && &by == &first_) {
    const auto now = home_->home().now();
    hedge_at_ = later(now, service_->options.hedge_after);
    set_alarm(now);
  }
  to.slot->where->request(by.call, options_.priority);
}

/// True if no replica has the version that is asked for.
bool pending_call::lacks_version(const service_view& view) const {
  return !only_ && std::none_of(view.links.begin(), view.links.end(), [&](const auto& l) {
    return l->slot->version.load(std::memory_order_relaxed) >= options_.min_version;
  });
}

std::string pending_call::versions_there(const service_view& view) const {
  if (options_.min_version == any_version) return ": no replica serves now";
  auto newest = any_version;
  for (const auto& l : view.links) {
    newest = std::max(newest, l->slot->version.load(std::memory_order_relaxed));
  }
  return ": expected a replica of version " + std::to_string(options_.min_version) +
         " or newer, got " + (newest == any_version ? "none of any" : std::to_string(newest));
}

bool pending_call::wait_in_queue() {
  stage_ = stage::waiting;
  if (!ticket_) {
    ticket_ = std::make_shared<ticket>();
    ticket_->who = home_->me_;
    ticket_->only = only_.get();
    if (!only_) ticket_->min_version = options_.min_version;
    ticket_->urgency = options_.priority;
    ticket_->by_slice = wake_.slice;
    ticket_->waiting = this;
  }
  if (!service_->wait(ticket_)) {
    ticket_ = nullptr;
    end(error_kind::overloaded, where() + ": " + std::to_string(service_->options.max_waiting) +
                                    " callers wait already (max_waiting)");
    return false;
  }
  // Look once more, because a change between the first look and the entry has told nobody.
  auto& view = home_->up_to_date(*view_);
  if (auto* to = take_room(view)) {
    send(first_, *to, view);
  } else if (service_->closed() || (only_ && gone())) {
    return send_or_wait();
  }
  return true;
}

void pending_call::notified() { try_again(); }

void pending_call::try_again() {
  try {
    send_or_wait();
  } catch (...) {  // A program's own router can throw.
    end(std::current_exception());
  }
}

void pending_call::replied(attempt& by) {
  if (second_) {
    const bool won = &by == second_.get();
    if (won) service_->hedges_won.fetch_add(1, std::memory_order_relaxed);
    give_up(won ? first_ : *second_);
    keep_only(by);
  }
  end(nullptr);
}

void pending_call::lost(attempt& by) {
  by.unlink();
  const bool removed = std::exchange(by.to, nullptr)->slot->leaving();
  if (by.call->answered.load(std::memory_order_acquire)) return;  // The reply is on its way.
  if (const auto reason = service_->closed()) {
    return end(error_kind::service_down, where() + ": " + *reason);
  }
  const auto* how = removed ? "was removed before it had finished" : "died during the call";
  if (session_) return end(error_kind::session_lost, where() + ": its replica " + how);
  if (only_ || !by.call->keep_arguments) {
    return end(error_kind::replica_lost, where() + ": the replica " + how);
  }
  const auto& options = service_->options;
  if (!removed && by.call->begun.load(std::memory_order_acquire)) ++killed_;
  if (killed_ >= options.poison_limit) {
    log::error("a call is refused as poison",
               {{"service", options.name},
                {"endpoint", by.call->endpoint.name},
                {"arguments", printable(by.call->describe_arguments(), argument_bytes_logged)},
                {"killed", killed_}});
    return end(error_kind::poison,
               where() + ": this call has killed " + std::to_string(killed_) + " replicas");
  }
  if (second_) return keep_only(&by == &first_ ? *second_ : first_);
  if (++losses_ > options.max_retries) {
    return end(error_kind::replica_lost, where() + ": lost " + std::to_string(losses_) + " times");
  }
  retry();
}

ref<call_base> pending_call::copy_call(time_point now) const {
  auto copy = first_.call->again();
  if (!copy) return nullptr;
  copy->sent = now;
  copy->limited = first_.call->limited;
  copy->traced = first_.call->traced;
  copy->deadline = first_.call->deadline;
  copy->urgent = first_.call->urgent;
  copy->by_slice = first_.call->by_slice;
  return copy;
}

void pending_call::retry() {
  // The dying replica may still hold the old call, so the retry needs a new call.
  const auto now = home_->home().now();
  auto fresh = copy_call(now);
  if (!fresh) {
    return end(error_kind::replica_lost,
               where() + ": the replica died, and the arguments can't be copied for another");
  }
  first_.call->pending = nullptr;
  first_.call = std::move(fresh);
  first_.call->pending = &first_;
  stage_ = stage::backing_off;
  hedge_at_ = time_point::max();
  service_->retries.fetch_add(1, std::memory_order_relaxed);
  const auto pause = retry_pause * (1 << std::min<std::uint32_t>(losses_ - 1, 4));
  home_->wheel_.enter(alarm_, std::min(deadline_, now + pause), now);
}

void pending_call::hedge(time_point now) {
  hedge_at_ = time_point::max();
  if (stage_ != stage::in_flight || !first_.to) return;
  auto copy = copy_call(now);
  if (!copy) return;
  auto& view = home_->up_to_date(*view_);
  auto* to = home_->take_room_beside(view, options_, *first_.to->slot);
  if (!to) return;
  second_ = std::make_unique<attempt>(*this);
  second_->call = std::move(copy);
  second_->call->pending = second_.get();
  service_->hedges.fetch_add(1, std::memory_order_relaxed);
  send(*second_, *to, view);
}

void pending_call::keep_only(attempt& by) {
  if (!second_) return;
  (&by == &first_ ? second_->call : first_.call)->pending = nullptr;
  if (&by != &first_) {  // The first attempt is not in any list any more.
    first_.call = std::move(by.call);
    first_.call->pending = &first_;
    first_.to = by.to;
    if (by.linked()) by.to->in_flight.push_back(first_);
  }
  second_ = nullptr;
}

void pending_call::give_up(attempt& by) {
  auto& call = *by.call;
  call.cancelled.store(true, std::memory_order_relaxed);
  call.pending = nullptr;
  const bool can_stop =
      call.endpoint.kind == endpoint_kind::coroutine || (by.linked() && by.to->slot->elsewhere);
  if (by.linked() && can_stop && !service_->runs_to_end(call.endpoint)) {
    stop_working(*by.to->slot->where, by.call);
  }
  by.unlink();
}

void pending_call::give_up_all() {
  give_up(first_);
  if (second_) give_up(*second_);
}

void pending_call::in_cycle(const std::string& members) {
  const auto begun = [](const attempt& by) {
    return by.call->begun.load(std::memory_order_acquire);
  };
  if (begun(first_) || (second_ && begun(*second_))) return;  // The call goes on after all.
  give_up_all();
  end(error_kind::overloaded, where() + ": services wait for each other in a cycle: " + members);
}

void pending_call::expired() {
  const auto now = home_->home().now();
  if (now >= deadline_) {
    give_up_all();
    const auto& view = home_->up_to_date(*view_);
    return end(error_kind::deadline_exceeded,
               where() + ": no answer within " + to_text(limit()) +
                   (stage_ == stage::waiting && lacks_version(view) ? versions_there(view) : ""));
  }
  if (stage_ == stage::backing_off) {
    set_alarm(now);
    try_again();
  } else if (now >= hedge_at_) {
    hedge(now);
    set_alarm(now);
  } else {
    report_stall(now);
  }
}

void pending_call::set_alarm(time_point now) {
  const bool limited = deadline_ != time_point::max();
  home_->wheel_.enter(alarm_, std::min(hedge_at_, limited ? deadline_ : now + stalled_after), now);
}

void pending_call::report_stall(time_point now) {
  service_->stalled.fetch_add(1, std::memory_order_relaxed);
  log::warn("a call without a deadline is stalled",
            {{"service", service_->options.name},
             {"endpoint", first_.call->endpoint.name},
             {"stage", stage_ == stage::waiting ? "waiting for room" : "sent"},
             {"for", to_text(now - first_.call->sent)}});
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
  if (traced_) trace_end(false);
  first_.unlink();
  first_.call->pending = nullptr;  // An answer that comes later finds nobody.
  if (second_) give_up(*std::exchange(second_, nullptr));
  alarm_.leave();
  if (ticket_) service_->leave(*std::exchange(ticket_, nullptr), nullptr);
  home_->settle(*view_);
  if (resuming_) home_->home().wake(wake_);
}

void pending_call::trace_end(bool cancelled) {
  const auto& call = *first_.call;
  auto how = trace_slice::outcome::ok;
  if (error_ || call.error) how = trace_slice::outcome::error;
  if (cancelled) how = trace_slice::outcome::cancelled;
  auto& lane = *home_->home().lane;
  lane.add({.what = trace_slice::kind::wait,
            .how = how,
            .id = call.traced,
            .parent = wake_.slice,
            .begin = awaited_since_,
            .end = home_->home().now(),
            .group = lane.keep(service_->options.name),
            .name = call.endpoint.name});
}

void pending_call::fail() const {
  if (error_) std::rethrow_exception(error_);
  if (first_.call->overran) {
    throw call_error(error_kind::deadline_exceeded, where() + ": cancelled in its replica after " +
                                                        to_text(service_->options.max_call_time) +
                                                        " (max_call_time)");
  }
  if (first_.call->refused) std::rethrow_exception(first_.call->error);
  throw role_error(where(), first_.call->error);
}

bool was_removed(const std::exception_ptr& error) noexcept {
  if (!error) return false;
  try {
    std::rethrow_exception(error);
  } catch (const replica_removed&) {
    return true;
  } catch (...) {
    return false;
  }
}

std::string pending_call::where() const {
  return service_->options.name + "." + std::string(first_.call->endpoint.name);
}

}  // namespace troupe::detail
