#include "runtime/service/replica.hpp"

#include <algorithm>

#include "runtime/log.hpp"
#include "runtime/system_core.hpp"

namespace troupe::detail {

namespace {

/// The replica whose turn it is.
replica& here() { return static_cast<replica&>(static_cast<host&>(strand::current())); }

}  // namespace

replica::replica(caf::actor_config& config, system_core& system,
                 std::shared_ptr<service_state> service,
                 std::shared_ptr<const role_factory> factory, const replica_info& info,
                 std::function<void(std::shared_ptr<replica_slot>)> ready)
    : host(config, system),
      service_(std::move(service)),
      factory_(std::move(factory)),
      info_(info),
      ready_(std::move(ready)) {
  made();
}

void replica::starting() {
  slot_ = std::make_shared<replica_slot>(info_.index, self());
  if (service_->options.max_call_time != no_limit) busy_since_ = &slot_->busy_since;
  try {
    role_ = factory_->make(info_);
  } catch (...) {
    return crash("its role's constructor threw: " + describe(std::current_exception()));
  }
  start_root(begin());
}

branch replica::begin() {
  if (factory_->catch_up) {
    try {
      co_await factory_->catch_up(*role_);
    } catch (...) {
      crash("catching up threw: " + describe(std::current_exception()));
      co_return;
    }
  }
  ready_(slot_);
}

void replica::on_request(ref<call_base> call) {
  if (std::exchange(call->received, true)) return;
  if (call->cancelled.load(std::memory_order_relaxed)) return give_room_back();
  switch (call->endpoint.kind) {
    case endpoint_kind::coroutine:
      backlog_.push_back(std::move(call));
      return start_backlog();
    case endpoint_kind::batched:  // Begun when its batch closes.
      return call->execute(*this, *role_);
    case endpoint_kind::plain:
      begin_call(*call, turn_began());
      return call->execute(*this, *role_);
  }
}

void replica::begin_call(call_base& call, time_point time) {
  call.begun.store(true, std::memory_order_release);
  const auto waited = std::chrono::duration<double>(time - call.sent).count();
  slot_->tally_of(call.statistics).queue_wait.add(waited, duration_bounds);
}

void replica::give_room_back() {
  slot_->pending.fetch_sub(1, std::memory_order_seq_cst);
  service_->room_at(*slot_);
  if (!slot_->serving()) drain();
}

void replica::finish(call_base& call) {
  const auto time = now();
  if (call.endpoint.kind == endpoint_kind::coroutine) {
    --ongoing_;
    call.running = nullptr;
    call.unlink();
  } else if (overran(time)) {
    return;
  }
  answer(call, time);
  turn_ends(time);
}

void replica::finish_all(call_list& calls) {
  const auto time = now();
  if (overran(time)) return;
  for (const auto& call : calls) answer(*call, time);
}

/// In virtual time nobody sees a turn that takes too long before its end, so here a replica finds
/// itself hung, and its result comes too late.
bool replica::overran(time_point time) {
  const auto limit = service_->options.max_call_time;
  if (limit == no_limit || !system_.deterministic() || time - turn_began() <= limit) return false;
  if (!slot_->end()) return true;
  log::error("a replica is abandoned: its endpoint hangs",
             {{"service", service_->options.name}, {"replica", info_.index}});
  service_->abandoned.fetch_add(1, std::memory_order_relaxed);
  end();
  return true;
}

void replica::answer(call_base& call, time_point time) {
  auto& counts = slot_->tally_of(call.statistics);
  const auto took = std::chrono::duration<double>(time - call.sent).count();
  counts.duration.add(took, duration_bounds);
  if (call.error) counts.threw.fetch_add(1, std::memory_order_relaxed);
  // After the reply the call is its caller's again.
  std::string reason;
  if (call.error && service_->options.on_throw == on_throw::restart) {
    reason = "its endpoint threw: " + describe(call.error);
  }
  slot_->pending.fetch_sub(1, std::memory_order_seq_cst);
  call.answered.store(true, std::memory_order_release);
  deliver(call);
  if (!reason.empty()) return crash(reason);
  if (crashed()) return end();  // Also one that was abandoned, and has come back.
  service_->room_at(*slot_);
  if (!backlog_.empty()) start_backlog();
  if (!slot_->serving()) drain();
}

void replica::deliver(call_base& call) { call.caller->reply(ref<call_base>(&call)); }

void replica::start_backlog() {
  while (!backlog_.empty() && ongoing_ < service_->options.max_ongoing) {
    const auto call = std::move(backlog_.front());
    backlog_.pop_front();
    if (call->cancelled.load(std::memory_order_relaxed)) {
      give_room_back();
      continue;
    }
    begin_call(*call, now());
    call->execute(*this, *role_);
  }
}

void replica::start(call_base& call, branch work) {
  ++ongoing_;
  call.running = &start_root(std::move(work));
  if (service_->options.max_call_time == no_limit) return;
  call.began = now();
  limited_.push_back(call);
  if (!std::exchange(cutting_off_, true)) start_root(cut_off_overlong());
}

/// Destroys the call's coroutine, which is suspended, and with it all that it awaits.
void replica::stop(call_base& call) {
  --ongoing_;
  call.unlink();
  cancel_root(*std::exchange(call.running, nullptr));
}

void replica::stop_working(call_base& call) {
  const auto place = std::find_if(backlog_.begin(), backlog_.end(),
                                  [&](const auto& other) { return other.get() == &call; });
  if (place != backlog_.end()) {
    backlog_.erase(place);
  } else if (call.running) {
    stop(call);
  } else {
    return;
  }
  give_room_back();
  start_backlog();
}

branch replica::cut_off_overlong() {
  while (!limited_.empty() && !crashed()) {
    const ref<call_base> oldest(&limited_.front());
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

void replica::drain() {
  if (!slot_ || !slot_->leaving() || slot_->sessions.load() > 0) return;
  if (slot_->ended() || !slot_->close_if_idle()) return;
  log::info("a replica has drained",
            {{"service", service_->options.name}, {"replica", info_.index}});
  slot_->end();
  end();
}

void replica::root_finished(std::exception_ptr error) {
  if (error) crash(describe(error));
}

void replica::gather(ref<call_base> call, batch_runner run) {
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

/// One for an endpoint, however many batches close in the meantime because they are full.
branch replica::close_in_time(open_batch& batch) {
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

/// A message to itself comes after all that is in the mailbox now. If that made the batch grow,
/// once more; if it was only other endpoints' calls, the batch doesn't wait for them.
void replica::close_when_drained(open_batch& batch) {
  // Two words, so that std::function holds them itself.
  struct state {
    open_batch* batch;
    std::uint32_t round, size;
  };
  const state then{&batch, batch.round, static_cast<std::uint32_t>(batch.calls.size())};
  self()->post_last([then] { here().close_if_drained(*then.batch, then.round, then.size); });
}

void replica::close_if_drained(open_batch& batch, std::uint32_t round, std::uint32_t size) {
  if (batch.round != round) return;
  if (mailbox().empty() || batch.calls.size() == size) {
    close(batch);
  } else {
    close_when_drained(batch);
  }
}

void replica::close(open_batch& batch) {
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

void replica::crash(const std::string& reason) {
  if (!slot_->end()) return end();  // It was abandoned, and has come back.
  log::warn("a replica crashes",
            {{"service", service_->options.name}, {"replica", info_.index}, {"reason", reason}});
  end();
}

void replica::ended() {
  busy_since_ = nullptr;
  if (slot_) slot_->end();
  if (slot_ && slot_->abandoned() && service_->options.placement == placement::shared) {
    system_.thread_came_back();
  }
  batches_.clear();
  backlog_.clear();
  role_.reset();
  ready_ = nullptr;
  slot_.reset();
  factory_.reset();
}

void stop_working(const replica_slot& slot, ref<call_base> call) {
  slot.where->post([call = std::move(call)] { here().stop_working(*call); });
}

void drain(const replica_slot& slot) {
  slot.where->post([] { here().drain(); });
}

}  // namespace troupe::detail
