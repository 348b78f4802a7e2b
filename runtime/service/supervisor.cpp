#include "runtime/service/supervisor.hpp"

#include "runtime/log.hpp"
#include "runtime/service/faulty_replica.hpp"
#include "runtime/system_core.hpp"

namespace troupe::detail {

supervisor::supervisor(caf::actor_config& config, system_core& system,
                       std::shared_ptr<service_state> service,
                       std::shared_ptr<const role_factory> factory,
                       std::function<void(std::exception_ptr)> started)
    : host(config, system),
      service_(std::move(service)),
      factory_(std::move(factory)),
      started_(std::move(started)),
      places_(service_->options.replicas),
      jitter_(system.next_seed()) {
  made();
}

void supervisor::starting() {
  for (std::size_t i = 0; i < places_.size(); ++i) start_replica(i);
}

void supervisor::start_replica(std::size_t index) {
  auto ready = [me = self(), this, index](std::shared_ptr<replica_slot> slot) {
    me->post([this, index, slot = std::move(slot)]() mutable { serves(index, std::move(slot)); });
  };
  const bool own_thread =
      service_->options.placement == placement::thread && !system_.deterministic();
  const replica_info info{index, places_[index].starts++};
  auto& actors = system_.actors();
  caf::actor actor;
  if (system_.faults() && service_->options.faults) {
    actor = actors.spawn<faulty_replica>(std::ref(system_), service_, factory_, info, ready);
  } else if (own_thread) {
    actor =
        actors.spawn<replica, caf::detached>(std::ref(system_), service_, factory_, info, ready);
  } else {
    actor = actors.spawn<replica>(std::ref(system_), service_, factory_, info, ready);
  }
  places_[index].replica = make_local_inbox(caf::actor_cast<caf::strong_actor_ptr>(actor));
  watch(*places_[index].replica);
}

void supervisor::serves(std::size_t index, std::shared_ptr<replica_slot> slot) {
  // It may have died since, and its successor may be on the way.
  if (!places_[index].replica || !slot->alive.load()) return;
  places_[index].serving = true;
  service_->publish(index, std::move(slot));
  for (const auto& p : places_) {
    if (!p.serving) return;
  }
  report_started(nullptr);
}

void supervisor::on_down(const inbox& who, const std::string& reason) {
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (places_[i].replica.get() != &who) continue;
    service_->publish(i, nullptr);
    places_[i].replica = nullptr;
    places_[i].serving = false;
    if (!service_->closed()) start_root(restart(i));
    return;
  }
}

branch supervisor::restart(std::size_t index) {
  const auto& options = service_->options;
  const auto time = now();
  while (!restarts_.empty() && restarts_.front() + options.restart_window < time) {
    restarts_.pop_front();
  }
  if (restarts_.size() >= options.max_restarts) {
    give_up("more than " + std::to_string(options.max_restarts) + " restarts in " +
            to_text(options.restart_window));
    co_return;
  }
  const auto pause = backoff();
  restarts_.push_back(time);
  service_->restarts.fetch_add(1, std::memory_order_relaxed);
  co_await sleep_for(pause);
  if (service_->closed()) co_return;
  log::info("a replica is restarted",
            {{"service", options.name}, {"replica", index}, {"in_window", restarts_.size()}});
  start_replica(index);
}

/// None before the first restart in the window, then doubling, with a jitter of a quarter either
/// way.
duration supervisor::backoff() {
  if (restarts_.empty()) return duration(0);
  const auto& options = service_->options;
  const auto doublings = std::min<std::size_t>(restarts_.size() - 1, 20);
  const auto full = std::min<double>(
      static_cast<double>(options.backoff.count()) * static_cast<double>(1ULL << doublings),
      static_cast<double>(options.backoff_limit.count()));
  jitter_ = jitter_ * 6364136223846793005ULL + 1442695040888963407ULL;
  const double share = static_cast<double>(jitter_ >> 40) / static_cast<double>(1ULL << 24);
  return duration(static_cast<duration::rep>(full * (0.75 + 0.5 * share)));
}

void supervisor::give_up(const std::string& why) {
  log::error("a service is down", {{"service", service_->options.name}, {"reason", why}});
  service_->close(why);
  report_started(std::make_exception_ptr(
      call_error(error_kind::service_down, service_->options.name + ": " + why)));
  end();
}

void supervisor::report_started(std::exception_ptr error) {
  if (auto tell = std::exchange(started_, nullptr)) tell(std::move(error));
}

void supervisor::ended() {
  service_->close("it was stopped");
  for (auto& p : places_) {
    if (p.replica) p.replica->kill("its service has ended");
    p.replica = nullptr;
  }
  report_started(std::make_exception_ptr(
      call_error(error_kind::service_down, service_->options.name + ": it was stopped")));
  factory_.reset();
}

}  // namespace troupe::detail
