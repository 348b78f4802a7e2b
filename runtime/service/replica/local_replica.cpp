#include "runtime/service/replica/local_replica.hpp"

#include <unistd.h>

#include <algorithm>

#include "runtime/base/log.hpp"

namespace troupe::detail {

namespace {

/// Returns the replica whose turn it is.
local_replica& here() { return static_cast<local_replica&>(static_cast<host&>(strand::current())); }

/// Returns a number for the work of a call, other than that of any other work now, also of other
/// processes that have the same addresses: a node and its child processes are behind one link, and
/// whoever searches for cycles knows their work by these numbers alone.
std::uint64_t slice_of(const call_base& call) {
  static const auto process = static_cast<std::uint64_t>(::getpid() & 0x7fff) << 48;
  return process + reinterpret_cast<std::uintptr_t>(&call);
}

}  // namespace

local_replica::local_replica(caf::actor_config& config, replica_context& system,
                             std::shared_ptr<service_state> service,
                             std::shared_ptr<const role_factory> factory, const replica_info& info,
                             std::shared_ptr<replica_slot> slot, ready_function ready)
    : replica(config, system, "replica", std::move(service), info, std::move(slot),
              std::move(ready)),
      factory_(std::move(factory)) {
  const bool watched =
      service_->options.max_call_time != no_limit || service_->asked_from_elsewhere;
  if (watched) busy_since_ = &slot_->busy_since;
  turns_seen_ = &slot_->turns->count;
  made();
}

void local_replica::starting() {
  replica::starting();
  begin_start();
  try {
    role_ = factory_->make(info_);
  } catch (...) {
    return crash(std::string(service_state::constructor_threw) +
                 describe(std::current_exception()));
  }
  start_root(begin());
}

child_task local_replica::begin() {
  if (factory_->catch_up) {
    try {
      co_await factory_->catch_up(*role_);
    } catch (...) {
      crash("catching up threw: " + describe(std::current_exception()));
      co_return;
    }
  }
  note_version();
  serve();
}

/// Called before the answer of a call that may have changed the version, because the caller may
/// rely on the version once it has the answer.
void local_replica::note_version() {
  if (factory_->version_of) service_->note_version(*slot_, factory_->version_of(*role_));
}

void local_replica::on_request(ref<call_base> call) {
  if (std::exchange(call->received, true)) return;
  if (call->cancelled.load(std::memory_order_relaxed)) return give_room_back();
  switch (call->endpoint.kind) {
    case endpoint_kind::coroutine:
      backlog_.push_back(*call.release());  // The list holds the call.
      return start_backlog();
    case endpoint_kind::batched:  // A batched call begins when its batch closes.
      return call->execute(*this, *role_);
    case endpoint_kind::plain:
      begin_call(*call, turn_began());
      return call->execute(*this, *role_);
  }
}

void local_replica::begin_call(call_base& call, time_point time) {
  call.begun.store(true, std::memory_order_release);
  call.began = time;
  slice = call.slice = lane ? call.traced : slice_of(call);
  // A call that was sent during the turn that takes it has not waited.
  const auto waited = std::chrono::duration<double>(std::max(time, call.sent) - call.sent).count();
  slot_->tally_of(call.statistics).queue_wait.add(waited, duration_bounds);
}

void local_replica::finish(call_base& call) {
  const auto time = now();
  if (call.endpoint.kind == endpoint_kind::coroutine) {
    --ongoing_;
    call.running = nullptr;
    call.unlink();
  }
  note_version();
  answer(call, time);
  turn_ends(time);
}

void local_replica::finish_all(call_list& calls) {
  const auto time = now();
  trace_batch(calls, time);
  note_version();
  for (const auto& call : calls) answer(*call, time);
}

void local_replica::room_came() {
  if (!backlog_.empty()) start_backlog();
}

void local_replica::start_backlog() {
  while (!backlog_.empty() && ongoing_ < service_->options.max_ongoing) {
    const auto call = take_out(backlog_.front());
    if (call->cancelled.load(std::memory_order_relaxed)) {
      give_room_back();
      continue;
    }
    begin_call(*call, now());
    call->execute(*this, *role_);
  }
  if (!backlog_.empty()) service_->note_wait();
}

void local_replica::tell_waits(waits_function tell) {
  replica_waits mine;
  backlog_.for_each([&](call_base& call) { mine.queued.emplace_back(&call); });
  if (ongoing_ >= service_->options.max_ongoing) {
    mine.ongoing = ongoing_;
    mine.full = slot_->in_flight() <= static_cast<std::int64_t>(ongoing_ + mine.queued.size());
  }
  begun_.for_each([&](call_base& call) {
    if (call.slice != 0) mine.begun.push_back({ref<call_base>(&call), call.slice});
  });
  tell(std::move(mine));
}

ref<call_base> local_replica::take_out(call_base& of_backlog) {
  of_backlog.unlink();
  ref<call_base> taken(&of_backlog);
  of_backlog.drop();
  return taken;
}

void local_replica::start(call_base& call, child_task work) {
  ++ongoing_;
  call.running = &start_root(std::move(work));
  begun_.push_back(call);
  if (service_->options.max_call_time == no_limit) return;
  if (!std::exchange(cutting_off_, true)) start_root(cut_off_overlong());
}

/// Destroys the call's suspended coroutine and everything that it awaits.
void local_replica::stop(call_base& call) {
  --ongoing_;
  call.unlink();
  cancel_root(*std::exchange(call.running, nullptr));
}

void local_replica::stop_working(call_base& call) {
  if (call.running) {
    stop(call);
    trace_stopped(call);
  } else if (call.linked()) {
    take_out(call);
  } else {
    return;
  }
  give_room_back();
  start_backlog();
}

child_task local_replica::cut_off_overlong() {
  while (!begun_.empty() && !crashed()) {
    const ref<call_base> oldest(&begun_.front());
    const auto left = later(oldest->began, service_->options.max_call_time) - now();
    if (left > duration(0)) {
      co_await sleep_for(left);
      continue;
    }
    stop(*oldest);
    oldest->overran = true;
    oldest->error = std::make_exception_ptr(std::runtime_error("it ran for too long"));
    service_->overran.fetch_add(1, std::memory_order_relaxed);
    answer(*oldest, now());
  }
  cutting_off_ = false;
}

void local_replica::root_finished(std::exception_ptr error) {
  if (error) crash(describe(error));
}

void local_replica::gather(ref<call_base> call, batch_runner run) {
  auto& batch = batches_[&call->endpoint];
  batch.run = run;
  batch.calls.push_back(std::move(call));
  if (batch.calls.size() >= service_->options.max_batch) return close(batch);
  if (batch.calls.size() > 1) return;
  if (service_->options.max_delay == duration(0)) {
    return mailbox().empty() ? close(batch) : close_when_drained(batch);
  }
  batch.opened = now();
  if (!std::exchange(batch.timed, true)) start_root(close_in_time(batch));
}

/// Closes the batches of one endpoint in time. One such coroutine serves an endpoint, however many
/// batches close earlier because they are full.
child_task local_replica::close_in_time(open_batch& batch) {
  while (!batch.calls.empty()) {
    const auto left = later(batch.opened, service_->options.max_delay) - now();
    if (left > duration(0)) {
      co_await sleep_for(left);
    } else {
      close(batch);
    }
  }
  batch.timed = false;
}

/// Closes the batch when the mailbox is empty. A message to this actor comes after all messages
/// that are in the mailbox now. If the batch has grown meanwhile, it waits once more; if only calls
/// of other endpoints came, it doesn't wait for them.
void local_replica::close_when_drained(open_batch& batch) {
  // The state has the size of two words, so that std::function stores it without an allocation.
  struct state {
    open_batch* batch;
    std::uint32_t round, size;
  };
  const state then{&batch, batch.round, static_cast<std::uint32_t>(batch.calls.size())};
  self()->post_last([then] { here().close_if_drained(*then.batch, then.round, then.size); });
}

void local_replica::close_if_drained(open_batch& batch, std::uint32_t round, std::uint32_t size) {
  if (batch.round != round) return;
  if (mailbox().empty() || batch.calls.size() == size) {
    close(batch);
  } else {
    close_when_drained(batch);
  }
}

void local_replica::close(open_batch& batch) {
  ++batch.round;
  auto calls = std::exchange(batch.calls, {});
  std::erase_if(calls, [&](const auto& call) {
    if (!call->cancelled.load(std::memory_order_relaxed)) return false;
    give_room_back();
    return true;
  });
  if (calls.empty()) return;
  slot_->batch_size.add(static_cast<double>(calls.size()), batch_bounds);
  const auto time = now();
  for (const auto& call : calls) begin_call(*call, time);
  batch.run(calls, *this, *role_);
}

/// Unlinks the calls while the coroutines' frames hold them; another thread may drop a call right
/// after its frame. What follows until `ended` counts as a turn, because destructors may hang.
void local_replica::before_end() {
  if (turns_seen_) turns_seen_->begin();
  while (!begun_.empty()) begun_.pop_front();
}

void local_replica::ended() {
  batches_.clear();
  while (!backlog_.empty()) take_out(backlog_.front());
  role_.reset();
  factory_.reset();
  replica::ended();
}

}  // namespace troupe::detail
