#include "runtime/service/replica.hpp"

#include "runtime/log.hpp"
#include "runtime/system_core.hpp"

namespace troupe::detail {

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
}

void replica::finish(call_base& call) {
  const auto time = now();
  if (call.endpoint.kind == endpoint_kind::coroutine) --ongoing_;
  answer(call, time);
  turn_ends(time);
}

void replica::finish_all(std::vector<ref<call_base>>& calls) {
  const auto time = now();
  for (const auto& call : calls) answer(*call, time);
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
  if (crashed()) return;
  service_->room_at(*slot_);
  if (!backlog_.empty()) start_backlog();
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

void replica::start(branch work) {
  ++ongoing_;
  start_root(std::move(work));
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
  if (service_->options.max_delay == duration(0)) return close_when_drained(batch);
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
  self()->post_last([this, &batch, round = batch.round, size = batch.calls.size()] {
    if (batch.round != round) return;
    if (mailbox().empty() || batch.calls.size() == size) {
      close(batch);
    } else {
      close_when_drained(batch);
    }
  });
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
  if (!slot_->alive.exchange(false)) return;
  log::warn("a replica crashes",
            {{"service", service_->options.name}, {"replica", info_.index}, {"reason", reason}});
  end();
}

void replica::ended() {
  if (slot_) slot_->alive.store(false);
  batches_.clear();
  backlog_.clear();
  role_.reset();
  ready_ = nullptr;
  slot_.reset();
  factory_.reset();
}

}  // namespace troupe::detail
