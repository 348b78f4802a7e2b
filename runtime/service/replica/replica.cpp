#include "runtime/service/replica/replica.hpp"

#include "runtime/base/log.hpp"
#include "runtime/trace/trace.hpp"

namespace troupe::detail {

namespace {

/// Returns the replica whose turn it is.
replica& here() { return static_cast<replica&>(static_cast<host&>(strand::current())); }

/// Replicas of one index share a name, whatever their generation, because the system counts actors
/// by name.
std::string name_of(const std::string& kind, const service_state& service,
                    const replica_info& info) {
  return kind + ' ' + std::to_string(info.index) + " of " + service.options.name;
}

}  // namespace

replica::replica(caf::actor_config& config, replica_context& system, const char* kind,
                 std::shared_ptr<service_state> service, const replica_info& info,
                 std::shared_ptr<replica_slot> slot, ready_function ready, turns by)
    : host(config, system, name_of(kind, *service, info), by),
      system_(system),
      service_(std::move(service)),
      info_(info),
      slot_(std::move(slot)),
      ready_(std::move(ready)) {
  slot_->where = self();
  slot_->drain = [me = self()] { me->post([] { here().drain(); }); };
}

void replica::starting() {
  if (auto* trace = system_.trace()) {
    lane = &trace->add_lane(service_->options.name, info_.index);
  }
}

void replica::begin_start() {
  slot_->starting_since.store(now().time_since_epoch().count(), std::memory_order_relaxed);
}

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
  if (call.traced) trace_answer(call, time);
  // The call belongs to its caller again after the reply.
  std::string reason;
  if (call.error && service_->options.on_throw == on_throw::restart) {
    reason = "its endpoint threw: " + describe(call.error);
  }
  slot_->pending.fetch_sub(1, std::memory_order_seq_cst);
  call.answered.store(true, std::memory_order_release);
  deliver(call);
  if (!reason.empty()) return crash(reason);
  if (crashed()) return end();  // A replica that was abandoned and has come back ends here, too.
  service_->room_at(*slot_);
  room_came();
  if (!slot_->serving()) drain();
}

void replica::trace_answer(const call_base& call, time_point time) {
  const bool in_batch = call.endpoint.kind == endpoint_kind::batched;
  lane->add({.what = in_batch ? trace_slice::kind::joined : trace_slice::kind::execution,
             .how = call.error ? trace_slice::outcome::error : trace_slice::outcome::ok,
             .id = call.traced,
             .begin = std::max(call.began,
                               call.sent),  // The last turn's end may stand for its beginning.
             .end = time,
             .name = call.endpoint.name});
}

void replica::trace_batch(const call_list& calls, time_point time) {
  if (!lane) return;
  const auto& one = *calls.front();
  lane->add({.what = trace_slice::kind::batch,
             .count = static_cast<std::uint32_t>(calls.size()),
             .id = lane->new_id(),
             .begin = one.began,
             .end = time,
             .name = one.endpoint.name});
}

void replica::trace_stopped(const call_base& call) {
  if (!lane) return;
  lane->add({.what = trace_slice::kind::execution,
             .how = trace_slice::outcome::cancelled,
             .id = call.traced,
             .begin = call.began,
             .end = now(),
             .name = call.endpoint.name});
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
  service_->note_crash(reason);
  if (!slot_->end()) return end();  // The replica was abandoned and has come back.
  if (lane) {
    const auto time = now();
    lane->add({.what = trace_slice::kind::mark,
               .begin = time,
               .end = time,
               .name = lane->keep("crash: " + reason)});
  }
  log::warn("a replica crashes",
            {{"service", service_->options.name}, {"replica", info_.index}, {"reason", reason}});
  end();
}

void replica::ended() {
  busy_since_ = nullptr;
  if (auto* turns = std::exchange(turns_seen_, nullptr)) turns->end();
  if (slot_) slot_->end();
  if (slot_) slot_->turns->over = true;
  if (slot_ && slot_->abandoned() && service_->options.placement == placement::shared) {
    system_.thread_came_back(pool().get());
  }
  ready_ = nullptr;
  slot_.reset();
}

void replica::keep(const std::string& key, std::shared_ptr<void> what) {
  system_.kept_for_successors()->keep(key_of_kept(key), std::move(what));
}

std::shared_ptr<void> replica::take_kept(const std::string& key) {
  return system_.kept_for_successors()->take(key_of_kept(key));
}

std::string replica::key_of_kept(const std::string& key) const {
  return kept_for_successors::key_of(service_->options.name, info_.index, "role\n" + key);
}

void leave_place(const replica_slot& slot) {
  slot.where->post([] { here().leave_place(); });
}

bool abandon(replica_context& system, const service_state& service, replica_slot& slot) {
  if (!slot.abandon()) return false;
  if (service.options.placement == placement::shared) system.thread_hangs(pool_of(*slot.where));
  return true;
}

void ask_waits(const replica_slot& slot, waits_function tell) {
  slot.where->post([tell = std::move(tell)] { here().tell_waits(tell); });
}

void end_room_wait(const replica_slot& slot, std::uint64_t slice, const std::string& members) {
  slot.where->post([slice, members] { here().end_room_wait(slice, members); });
}

}  // namespace troupe::detail
