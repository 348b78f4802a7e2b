#include "runtime/system.hpp"

#include <caf/scheduler/test_coordinator.hpp>

#include "runtime/actor/host.hpp"
#include "runtime/actor/signal.hpp"
#include "runtime/actor/splitmix.hpp"
#include "runtime/actor/thread_pool.hpp"
#include "runtime/cluster/cluster_site.hpp"
#include "runtime/log.hpp"
#include "runtime/process/process_site.hpp"
#include "runtime/remote/hosted_replicas.hpp"
#include "runtime/remote/remote_metrics.hpp"
#include "runtime/remote/simulated_site.hpp"
#include "runtime/service/collector.hpp"
#include "runtime/service/supervisor.hpp"
#include "runtime/system_core.hpp"
#include "runtime/trace/trace.hpp"

namespace troupe {

namespace detail {

namespace {

call_error cancelled() { return call_error(error_kind::cancelled, "the program was told to end"); }

/// The actor that runs a program's main coroutine.
class driver final : public host {
 public:
  struct outcome {
    bool finished = false;
    std::exception_ptr error;
  };

  driver(caf::actor_config& config, system_core& system, branch main,
         std::shared_ptr<outcome> result)
      : host(config, system), main_(std::move(main)), result_(std::move(result)) {
    made();
  }

 private:
  void starting() override {
    if (auto* trace = system_.trace()) calls()->lane = &trace->add_lane("main");
    start_root(std::move(*main_));
    main_.reset();
  }
  void root_finished(std::exception_ptr error) override {
    tell(std::move(error));
    end();
  }
  void ended() override { tell(std::make_exception_ptr(cancelled())); }
  void tell(std::exception_ptr error) {
    {
      std::lock_guard lock(system_.main_mutex);
      if (!result_) return;
      result_->finished = true;
      result_->error = std::move(error);
      result_ = nullptr;  // The error dies with who runs it, not with this actor.
    }
    system_.changed();
  }

  std::optional<branch> main_;
  std::shared_ptr<outcome> result_;  ///< Null once it is told.
};

/// Throws std::invalid_argument if the role can't be made and called in another process.
void require_it_can_leave(const role_factory& factory, const serve_options& options, bool simulated,
                          bool listens) {
  const auto refuse = [&](const std::string& what, const std::string& type) {
    throw std::invalid_argument("service \"" + options.name + "\": placement " +
                                options.placement.text() + ": " + what + ": " + type +
                                " can't be encoded");
  };
  const auto require = [&](bool holds, const char* expected) {
    if (holds) return;
    throw std::invalid_argument("service \"" + options.name + "\": placement " +
                                options.placement.text() + ": expected " + expected);
  };
  if (!simulated && options.placement.on_node()) {
    require(listens, "a system that listens for nodes (system_options::listen, --listen)");
  } else if (!simulated) {
    require(can_have_children(),
            "a program whose main calls troupe::run, or troupe::serve_parent_if_child first");
  }
  if (!factory.recipe->not_encodable.empty()) {
    refuse("the constructor of " + factory.recipe->name, factory.recipe->not_encodable);
  }
  for (const auto* kind : calls_on(*factory.role)) {
    if (!kind->not_encodable.empty()) refuse("endpoint " + kind->name, kind->not_encodable);
  }
}

/// Ends a service whose start failed or was cancelled: its name is free again.
class closer {
 public:
  closer(system_core& system, service_state& service) : system_(&system), service_(service) {}
  closer(const closer&) = delete;
  ~closer() {
    if (system_) system_->stop_service(service_);
  }
  void dismiss() noexcept { system_ = nullptr; }

 private:
  system_core* system_;
  service_state& service_;
};

}  // namespace

system_core::system_core(system_options options)
    : options_(std::move(options)), seed_(options_.seed), order_(~options_.seed) {
  if (options_.faults.any()) {
    if (!options_.deterministic) {
      throw std::invalid_argument("system: faults: expected a deterministic system, got \"" +
                                  options_.faults.text() + "\" in one that is not");
    }
    faults_.emplace(options_.faults, options_.seed);
  }
  if (options_.deterministic && !options_.listen.empty()) {
    throw std::invalid_argument(
        "system: listen: expected no address in a deterministic system, "
        "whose nodes are simulated, got \"" +
        options_.listen + '"');
  }
  if (options_.trace) options_.trace->begin_system(options_.deterministic);
  if (!options_.metrics) options_.metrics = std::make_shared<metrics_registry>();
  if (options_.deterministic) {
    clock_ = std::make_unique<virtual_clock>();
    config_.set("scheduler.policy", caf::atom("testing"));
  } else {
    clock_ = std::make_unique<real_clock>();
    const auto cores = std::max<std::size_t>(1, std::thread::hardware_concurrency());
    config_.load<thread_pool>();
    config_.set("scheduler.max-threads", options_.threads ? options_.threads : cores);
    config_.set("scheduler.max-throughput", std::size_t{100});
  }
  remote_metrics_ = std::make_shared<class remote_metrics>(metrics());
  hosted_replicas_ = std::make_shared<class hosted_replicas>();
  metrics().watch(remote_metrics_);
  metrics().add(hosted_replicas_);
  actors_ = std::make_unique<caf::actor_system>(config_);
  if (options_.deterministic) {
    processes_ = std::make_unique<simulated_site>(*this);
  } else {
    processes_ = make_process_site(*this);
    if (!options_.listen.empty()) {
      cluster_ = std::make_unique<cluster_site>(
          *this, link_server_options{.address = options_.listen, .certs = options_.certs});
      log::info("nodes may join", {{"port", cluster_->port()}});
    }
  }
  if (!options_.deterministic) spares_ = std::make_unique<spare_threads>(*actors_);
}

system_core::~system_core() {
  stop_all();
  clock_->stop();
  spares_.reset();
  actors_.reset();
  remote_metrics_->remove_all();
  metrics().retire(hosted_replicas_);
  for (const auto& [number, known] : services_) {
    if (known.collector) metrics().retire(known.collector);
  }
}

site& system_core::site_of(const placement& where) {
  return where.on_node() && cluster_ ? static_cast<site&>(*cluster_) : *processes_;
}
system_core& core_of(system& sys) { return *sys.core_; }

std::uint64_t system_core::next_seed() {
  std::lock_guard lock(mutex_);
  return next_of(seed_);
}

void system_core::thread_hangs() {
  if (spares_) spares_->add();
}
void system_core::thread_came_back() {
  if (spares_) spares_->remove();
}

void system_core::host_started() {
  std::lock_guard lock(mutex_);
  ++hosts_;
}

void system_core::host_ended() {
  std::lock_guard lock(mutex_);
  --hosts_;
  hosts_changed_.notify_all();
}

std::size_t system_core::hosts() const {
  std::lock_guard lock(mutex_);
  return hosts_;
}

std::shared_ptr<service_state> system_core::add_service(serve_options options) {
  const auto require = [&](bool holds, const char* name, const char* expected) {
    if (holds) return;
    throw std::invalid_argument("service \"" + options.name + "\": " + name + ": expected " +
                                expected);
  };
  require(!options.name.empty(), "name", "a name, got none");
  require(options.replicas > 0, "replicas", "a number > 0, got 0");
  const auto& autoscale = options.autoscale;
  if (autoscale.max > 0) {
    require(autoscale.min > 0, "autoscale.min", "a number > 0, got 0");
    require(autoscale.min <= autoscale.max, "autoscale.max",
            ("at least min, " + std::to_string(autoscale.min) + ", got " +
             std::to_string(autoscale.max))
                .c_str());
    require(options.replicas >= autoscale.min && options.replicas <= autoscale.max, "replicas",
            ("a number from autoscale.min, " + std::to_string(autoscale.min) + ", to max, " +
             std::to_string(autoscale.max) + ", got " + std::to_string(options.replicas))
                .c_str());
  }
  require(options.max_queued > 0, "max_queued", "a number > 0, got 0");
  require(options.max_ongoing > 0, "max_ongoing", "a number > 0, got 0");
  require(options.max_batch > 0, "max_batch", "a number > 0, got 0");
  require(options.poison_limit > 0, "poison_limit", "a number > 0, got 0");
  const auto require_time = [&](duration value, bool zero, const char* name) {
    require(value > duration(0) || (zero && value == duration(0)), name,
            ((zero ? "a time >= 0, got " : "a time > 0, got ") + to_text(value)).c_str());
  };
  require_time(autoscale.target_queue_wait, false, "autoscale.target_queue_wait");
  require_time(autoscale.metrics_interval, false, "autoscale.metrics_interval");
  require_time(autoscale.upscale_delay, true, "autoscale.upscale_delay");
  require_time(autoscale.downscale_delay, true, "autoscale.downscale_delay");
  require_time(options.deadline, false, "deadline");
  require_time(options.max_delay, true, "max_delay");
  require_time(options.restart_window, false, "restart_window");
  require_time(options.backoff, true, "backoff");
  require_time(options.backoff_limit, true, "backoff_limit");
  require_time(options.max_call_time, false, "max_call_time");
  require_time(options.drain_timeout, true, "drain_timeout");
  require_time(options.hedge_after, !options.hedged.empty() ? false : true, "hedge_after");
  for (const auto* e : options.idempotent)
    require(e != nullptr, "idempotent", "endpoints, got null");
  for (const auto* e : options.run_to_end)
    require(e != nullptr, "run_to_end", "endpoints, got null");
  for (const auto* e : options.hedged) {
    require(e != nullptr, "hedged", "endpoints, got null");
    const bool idempotent = std::find(options.idempotent.begin(), options.idempotent.end(), e) !=
                            options.idempotent.end();
    require(idempotent, "hedged",
            ("only idempotent endpoints, got " + std::string(e->name)).c_str());
  }

  std::lock_guard lock(mutex_);
  if (stopping_) {
    throw call_error(error_kind::cancelled, options.name + ": the system is stopping");
  }
  for (const auto& [number, known] : services_) {
    if (known.collector && known.state->options.name == options.name && !known.state->closed()) {
      throw std::invalid_argument("service \"" + options.name + "\": the name is in use");
    }
  }
  const auto number = next_service_++;
  auto state = std::make_shared<service_state>(number, std::move(options));
  services_[number] = {state, nullptr, std::make_shared<service_collector>(state), true};
  metrics().add(services_[number].collector);
  return state;
}

std::shared_ptr<service_state> system_core::add_unnamed(serve_options options, bool findable) {
  std::lock_guard lock(mutex_);
  const auto number = next_service_++;
  auto state = std::make_shared<service_state>(number, std::move(options));
  services_[number] = {state, nullptr, nullptr, findable};
  return state;
}

void system_core::remove_unnamed(const service_state& service) {
  std::lock_guard lock(mutex_);
  services_.erase(service.number);
}

std::size_t system_core::services() const {
  std::lock_guard lock(mutex_);
  return services_.size();
}

std::shared_ptr<service_state> system_core::find_service(const std::string& name) const {
  std::lock_guard lock(mutex_);
  for (const auto& [number, known] : services_) {
    if (known.findable && known.state->options.name == name && !known.state->closed()) {
      return known.state;
    }
  }
  return nullptr;
}

void system_core::set_supervisor(const service_state& service, ref<inbox> supervisor) {
  {
    std::lock_guard lock(mutex_);
    services_.at(service.number).supervisor = supervisor;
  }
  // Stopped in the meantime, when there was nobody to tell.
  if (service.closed()) supervisor->kill("its service is stopped");
}

void system_core::scale(const std::shared_ptr<service_state>& service, std::size_t replicas,
                        std::function<void(std::exception_ptr)> tell) {
  auto wish = std::make_shared<scaling>(service, replicas, std::move(tell));
  ref<inbox> supervisor;
  {
    std::lock_guard lock(mutex_);
    const auto known = services_.find(service->number);
    if (known != services_.end()) supervisor = known->second.supervisor;
  }
  if (!supervisor || service->closed()) return;  // The wish is dropped, which answers it.
  supervisor->post([wish = std::move(wish)] {
    static_cast<class supervisor&>(static_cast<host&>(strand::current())).scale(wish);
  });
}

void system_core::stop_service(service_state& service) {
  service.close("it was stopped");
  ref<inbox> supervisor;
  {
    std::lock_guard lock(mutex_);
    const auto known = services_.find(service.number);
    if (known != services_.end()) supervisor = std::exchange(known->second.supervisor, nullptr);
  }
  if (supervisor) supervisor->kill("its service is stopped");
}

std::vector<std::shared_ptr<service_state>> system_core::last_first() const {
  std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<service_state>> all;
  for (const auto& [number, known] : services_) all.insert(all.begin(), known.state);
  return all;
}

void system_core::stop_all() {
  {
    std::lock_guard lock(main_mutex);
    if (main) main->kill("the system stops");
    main = nullptr;
  }
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;  // From here on no service is added but those that other processes bring.
  }
  for (const auto& service : last_first()) stop_service(*service);
  if (cluster_) cluster_->close();
  processes_->close();
  const auto none_left = [this] {
    std::lock_guard lock(mutex_);
    return hosts_ == 0;
  };
  if (deterministic()) {
    while (!none_left() && step_deterministic()) {
    }
  } else {
    const auto limit = std::chrono::steady_clock::now() + options_.stop_limit;
    std::unique_lock lock(mutex_);
    hosts_changed_.wait_until(lock, limit, [this] { return hosts_ == 0; });
  }
  if (none_left()) return;
  log::error("actors did not end in time; leaving without them",
             {{"actors", hosts_}, {"services_with_hung_replicas", hung()}});
  std::fflush(nullptr);
  std::_Exit(70);  // EX_SOFTWARE: a thread is stuck in user code, so no orderly end is possible.
}

bool system_core::step_deterministic() {
  auto& scheduler = dynamic_cast<caf::scheduler::test_coordinator&>(actors_->scheduler());
  auto& jobs = scheduler.jobs;
  if (jobs.empty()) return static_cast<virtual_clock&>(*clock_).advance_to_next();
  if (jobs.size() > 1) std::swap(jobs.front(), jobs[next_of(order_) % jobs.size()]);
  scheduler.run_once();
  return true;
}

void system_core::run_until(const std::function<bool()>& finished) {
  if (deterministic()) {
    while (!finished()) {
      if (step_deterministic()) continue;
      throw std::logic_error("deadlock: every actor waits, and no deadline or timer is pending" +
                             unanswered());
    }
    return;
  }
  std::unique_lock lock(main_mutex);
  main_changed_.wait(lock, finished);
}

/// What the deadlock's message says of services: ": counter (3 in flight, 1 waiting)".
std::string system_core::unanswered() const {
  std::lock_guard lock(mutex_);
  std::string text;
  for (const auto& [number, known] : services_) {
    std::int64_t in_flight = 0;
    for (const auto& slot : *known.state->table()) in_flight += slot->pending.load();
    if (in_flight == 0 && known.state->waiting() == 0) continue;
    text += (text.empty() ? ": " : ", ") + known.state->options.name + " (" +
            std::to_string(in_flight) + " in flight, " + std::to_string(known.state->waiting()) +
            " waiting)";
  }
  return text;
}

/// Names of services that have abandoned replicas: "env, policy"; "none".
std::string system_core::hung() const {
  std::lock_guard lock(mutex_);
  std::string names;
  for (const auto& [number, known] : services_) {
    if (known.state->abandoned.load() == 0) continue;
    names += (names.empty() ? "" : ", ") + known.state->options.name;
  }
  return names.empty() ? "none" : names;
}

}  // namespace detail

system::system(system_options options) : core_(std::make_unique<detail::system_core>(options)) {}
system::~system() = default;

task<> system::wait_for_nodes(std::size_t count) {
  auto* cluster = core_->cluster();
  if (!cluster) throw std::logic_error("wait_for_nodes: expected a system that listens for nodes");
  const auto here = std::make_shared<detail::signal>();
  cluster->when_there_are(count, [here] { detail::signal::set(here); });
  co_await detail::signal::awaiter(here);
}

std::vector<node_info> system::nodes() const {
  return core_->cluster() ? core_->cluster()->nodes() : std::vector<node_info>();
}
std::uint16_t system::port() const { return core_->cluster() ? core_->cluster()->port() : 0; }

metrics_registry& system::metrics() { return core_->metrics(); }
const system_options& system::options() const { return core_->options(); }
std::size_t system::actors() const { return core_->hosts(); }

task<std::shared_ptr<detail::service_state>> system::open(
    serve_options options, std::shared_ptr<const detail::role_factory> factory) {
  if (options.placement.elsewhere()) {
    detail::require_it_can_leave(*factory, options, core_->deterministic(),
                                 core_->cluster() != nullptr);
  }
  const auto state = core_->add_service(std::move(options));
  state->role = factory->role;
  const auto started = std::make_shared<detail::signal>();
  const auto tell = [started](std::exception_ptr error) {
    detail::signal::set(started, std::move(error));
  };
  // Who sees that the pool's threads hang needs one that is none of them.
  const bool own_thread = state->options.max_call_time != no_limit && !core_->deterministic();
  auto& actors = core_->actors();
  const auto actor = own_thread ? actors.spawn<detail::supervisor, caf::detached>(
                                      std::ref(*core_), state, std::move(factory), tell)
                                : actors.spawn<detail::supervisor>(std::ref(*core_), state,
                                                                   std::move(factory), tell);
  core_->set_supervisor(*state,
                        detail::make_local_inbox(caf::actor_cast<caf::strong_actor_ptr>(actor)));
  detail::closer unless_started(*core_, *state);
  co_await detail::signal::awaiter(started);
  unless_started.dismiss();
  co_return state;
}

void system::close(detail::service_state& service) { core_->stop_service(service); }

task<> system::change_replicas(std::shared_ptr<detail::service_state> service,
                               std::size_t replicas) {
  if (replicas == 0) {
    throw std::invalid_argument("service \"" + service->options.name +
                                "\": scale: replicas: expected a number > 0, got 0; `stop` ends a "
                                "service");
  }
  const auto finished = std::make_shared<detail::signal>();
  core_->scale(service, replicas, [finished](std::exception_ptr error) {
    detail::signal::set(finished, std::move(error));
  });
  co_await detail::signal::awaiter(finished);
}

void system::drive(detail::branch main) {
  const auto result = std::make_shared<detail::driver::outcome>();
  const auto finished = [&] { return result->finished; };
  {
    std::lock_guard lock(core_->main_mutex);
    if (core_->main) throw std::logic_error("system::run: it runs already");
    if (std::exchange(core_->main_cancelled, false)) throw detail::cancelled();
    const auto actor =
        core_->actors().spawn<detail::driver>(std::ref(*core_), std::move(main), result);
    core_->main = detail::make_local_inbox(caf::actor_cast<caf::strong_actor_ptr>(actor));
  }
  std::exception_ptr deadlock;
  try {
    core_->run_until(finished);
  } catch (const std::logic_error&) {
    deadlock = std::current_exception();
    cancel();
    core_->run_until(finished);
  }
  std::lock_guard lock(core_->main_mutex);
  core_->main = nullptr;
  if (deadlock) std::rethrow_exception(deadlock);
  if (result->error) std::rethrow_exception(result->error);
}

void system::cancel() {
  std::lock_guard lock(core_->main_mutex);
  if (core_->main) {
    core_->main->kill("cancelled");
  } else {
    core_->main_cancelled = true;
  }
}

}  // namespace troupe
