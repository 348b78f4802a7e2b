#include "runtime/service/replica.hpp"

#include "runtime/log.hpp"
#include "runtime/system_core.hpp"

namespace troupe::detail {

namespace {

/// The replica whose turn it is.
replica& here() { return static_cast<replica&>(static_cast<host&>(strand::current())); }

}  // namespace

replica::replica(caf::actor_config& config, system_core& system,
                 std::shared_ptr<service_state> service, const replica_info& info,
                 ready_function ready)
    : host(config, system), service_(std::move(service)), info_(info), ready_(std::move(ready)) {}

void replica::starting() { slot_ = std::make_shared<replica_slot>(info_.index, self()); }

void replica::give_room_back() {
  slot_->pending.fetch_sub(1, std::memory_order_seq_cst);
  service_->room_at(*slot_);
  if (!slot_->serving()) drain();
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
  room_came();
  if (!slot_->serving()) drain();
}

void replica::deliver(call_base& call) { call.caller->reply(ref<call_base>(&call)); }

void replica::drain() {
  if (!slot_ || !slot_->leaving() || slot_->sessions.load() > 0) return;
  if (slot_->ended() || !slot_->close_if_idle()) return;
  log::info("a replica has drained",
            {{"service", service_->options.name}, {"replica", info_.index}});
  slot_->end();
  end();
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
  ready_ = nullptr;
  slot_.reset();
}

void stop_working(const replica_slot& slot, ref<call_base> call) {
  slot.where->post([call = std::move(call)] { here().stop_working(*call); });
}

void drain(const replica_slot& slot) {
  slot.where->post([] { here().drain(); });
}

}  // namespace troupe::detail
