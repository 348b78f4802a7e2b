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
      ready_(std::move(ready)) {}

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
  serving_ = true;
  ready_(slot_);
}

void replica::on_request(ref<call_base> call) {
  if (call->cancelled.load(std::memory_order_relaxed)) {
    // Nobody waits for it any more. It still has to give its room back.
    slot_->pending.fetch_sub(1, std::memory_order_seq_cst);
    service_->room_at(*slot_);
    return;
  }
  if (call->endpoint.kind == endpoint_kind::coroutine &&
      ongoing_ >= service_->options.max_ongoing) {
    backlog_.push_back(std::move(call));
    return;
  }
  execute(std::move(call));
}

void replica::execute(ref<call_base> call) {
  const auto waited = std::chrono::duration<double>(now() - call->sent).count();
  slot_->tally_of(call->statistics).queue_wait.add(waited, duration_bounds);
  call->execute(*this, *role_);
}

void replica::finish(call_base& call) {
  auto& counts = slot_->tally_of(call.statistics);
  const auto took = std::chrono::duration<double>(now() - call.sent).count();
  counts.duration.add(took, duration_bounds);
  if (call.error) counts.threw.fetch_add(1, std::memory_order_relaxed);
  const bool restart = call.error && service_->options.on_throw == on_throw::restart;
  slot_->pending.fetch_sub(1, std::memory_order_seq_cst);
  call.answered.store(true, std::memory_order_release);
  call.caller->reply(ref<call_base>(&call));
  service_->room_at(*slot_);
  if (restart) crash("its endpoint threw: " + describe(call.error));
}

void replica::start(branch work) {
  ++ongoing_;
  start_root(std::move(work));
}

void replica::root_finished(std::exception_ptr error) {
  if (error) crash(describe(error));
  if (!serving_ || ongoing_ == 0) return;  // It was `begin`.
  --ongoing_;
  while (!backlog_.empty() && ongoing_ < service_->options.max_ongoing) {
    auto next = std::move(backlog_.front());
    backlog_.pop_front();
    on_request(std::move(next));
  }
}

void replica::gather(ref<call_base> call, batch_runner run) {
  const auto* key = &call->endpoint;
  auto& batch = batches_[key];
  batch.run = run;
  batch.calls.push_back(std::move(call));
  if (batch.calls.size() >= service_->options.max_batch) return close(batch);
  if (batch.calls.size() > 1) return;
  if (service_->options.max_delay > duration(0)) {
    ++ongoing_;
    start_root(close_later(batch, batch.round));
  } else {
    close_when_drained(batch, batch.round);
  }
}

branch replica::close_later(open_batch& batch, std::size_t round) {
  co_await sleep_for(service_->options.max_delay);
  if (batch.round == round) close(batch);
}

/// A message to itself comes after all that is in the mailbox now; if more has come meanwhile, once
/// more.
void replica::close_when_drained(open_batch& batch, std::size_t round) {
  self()->post_last([this, &batch, round] {
    if (batch.round != round) return;
    if (mailbox().empty()) {
      close(batch);
    } else {
      close_when_drained(batch, round);
    }
  });
}

void replica::close(open_batch& batch) {
  ++batch.round;
  std::vector<ref<call_base>> calls;
  calls.swap(batch.calls);
  slot_->batch_size.add(static_cast<double>(calls.size()), batch_bounds);
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
