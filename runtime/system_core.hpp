#pragma once
// The state that all hosts of a system share. Internal to runtime/.

#include <atomic>
#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runtime/actor/clock.hpp"
#include "runtime/actor/own_threads.hpp"
#include "runtime/actor/simulated_threads.hpp"
#include "runtime/actor/spare_threads.hpp"
#include "runtime/actor/turn_order.hpp"
#include "runtime/metrics/registry.hpp"
#include "runtime/service/state.hpp"
#include "runtime/system.hpp"

namespace troupe::detail {

class cluster_site;
class cycle_watch;
class hosted_replicas;
class remote_metrics;
class service_collector;
class simulated_nodes;
class site;

class system_core {
 public:
  explicit system_core(system_options options);
  ~system_core();

  caf::actor_system& actors() noexcept { return *actors_; }
  class clock& clock() noexcept { return *clock_; }
  metrics_registry& metrics() noexcept { return *options_.metrics; }
  /// The counts of the processes that run replicas for this one.
  const std::shared_ptr<class remote_metrics>& remote_metrics() noexcept { return remote_metrics_; }
  /// The replicas that run here for other processes.
  class hosted_replicas& hosted_replicas() noexcept { return *hosted_replicas_; }
  /// Null if nothing is traced.
  class trace* trace() noexcept { return options_.trace.get(); }
  const system_options& options() const noexcept { return options_; }
  bool deterministic() const noexcept { return options_.deterministic; }
  /// The key of a new actor's random numbers. In a deterministic system, actors of the same name
  /// get different keys.
  std::uint64_t key_of(std::string_view name);
  /// Null if the system injects no faults.
  fault_source* faults() noexcept { return faults_ ? &*faults_ : nullptr; }
  /// Lets virtual time pass during this turn of a deterministic system. Other turns run meanwhile
  /// if this turn can pause.
  void spend(duration time);
  /// The threads of a deterministic system in which turns may take time; otherwise null.
  simulated_threads* threads_in_virtual_time() noexcept { return virtual_threads_.get(); }
  /// True if a replica may be busy for long while others go on. A turn in virtual time takes no
  /// time unless that is simulated.
  bool turns_take_time() const noexcept { return !deterministic() || virtual_threads_; }

  /// Adds a thread to the pool while one of its threads is stuck in a role's code. In a
  /// deterministic system the thread is added to `in`, unless that is null.
  void thread_hangs(simulated_pool* in);
  /// Removes the added thread, because the stuck thread is back.
  void thread_came_back(simulated_pool* in);
  /// Starts the thread for hosts with reserved turns, if there is none. A deterministic system has
  /// no such thread.
  void reserve_thread();

  /// The place of the replicas that `where` puts in another process.
  site& site_of(const placement& where);
  /// From the first call on, a deterministic system runs the replicas placed on nodes on these
  /// simulated nodes, and turns may take time. Call it before any service is served.
  simulated_nodes& simulate_nodes();
  /// Null if no node can join.
  cluster_site* cluster() noexcept { return cluster_.get(); }

  /// The threads of actors that have a thread of their own.
  const std::shared_ptr<class own_threads>& own_threads() noexcept { return own_threads_; }

  void host_started();
  void host_ended();
  std::size_t hosts() const;

  /// Throws std::invalid_argument if an option is out of range or the name is taken.
  std::shared_ptr<service_state> add_service(serve_options options);
  /// Adds a service without metrics whose name may be in use: a replica hosted here for another
  /// process, or a copy of another process's service. `find_service` doesn't find it.
  std::shared_ptr<service_state> add_unnamed(serve_options options);
  /// Lets `find_service` find this copy from now on.
  void make_findable(const service_state& service);
  /// Removes the service because nobody asks for it any more.
  void remove_unnamed(const service_state& service);
  /// The number of services that have not been removed.
  std::size_t services() const;
  /// The live service of that name; null if there is none.
  std::shared_ptr<service_state> find_service(const std::string& name) const;
  void set_supervisor(const service_state& service, ref<inbox> supervisor);
  /// Asks the service's supervisor for another number of replicas. `tell` is called when the change
  /// has ended, with null or with the error.
  void scale(const std::shared_ptr<service_state>& service, std::size_t replicas,
             std::function<void(std::exception_ptr)> tell);
  bool stopping() const noexcept { return stopping_; }
  /// Closes the service, ends its actors and forgets it. Its counters stay while anybody holds the
  /// service, its gauges don't; afterwards the registry keeps the counts.
  void stop_service(service_state& service);

  /// Runs actors until `finished()`. A deterministic system runs them on this thread, any other
  /// waits for the pool. Throws std::logic_error if a deterministic system can't go on.
  void run_until(const std::function<bool()>& finished);
  /// Reports that something `run_until` waits for may have changed.
  void changed() { main_changed_.notify_all(); }

  std::mutex main_mutex;
  ref<inbox> main;              ///< The driver, while `run` runs.
  bool main_cancelled = false;  ///< A cancel came while nothing ran.

 private:
  struct entry {
    std::shared_ptr<service_state> state;
    ref<inbox> supervisor;
    std::shared_ptr<service_collector> collector;  ///< May be null.
    bool findable = false;
  };

  void simulate_threads();
  bool step_deterministic();
  std::unique_ptr<service_state> make_service(serve_options options);
  std::vector<std::shared_ptr<service_state>> all_services() const;
  std::vector<std::shared_ptr<service_state>> last_first() const;
  void stop_all(std::chrono::steady_clock::time_point limit);
  std::string unanswered() const;
  std::string hung(const std::vector<std::shared_ptr<service_state>>& among) const;

  system_options options_;
  std::unique_ptr<class clock> clock_;
  std::shared_ptr<cycle_watch> cycles_;
  caf::actor_system_config config_;
  std::unique_ptr<caf::actor_system> actors_;
  std::shared_ptr<class remote_metrics> remote_metrics_;
  std::shared_ptr<class hosted_replicas> hosted_replicas_;
  std::unique_ptr<site> processes_;
  std::unique_ptr<cluster_site> cluster_;
  std::unique_ptr<simulated_threads> virtual_threads_;
  std::unique_ptr<simulated_nodes> nodes_;  ///< Null unless they are simulated.
  std::unique_ptr<spare_threads> spares_;   ///< Null in a deterministic system.
  turn_order order_;                        ///< The order of turns in a deterministic system.
  std::optional<fault_source> faults_;
  mutable std::mutex mutex_;
  std::condition_variable main_changed_;   ///< Used with main_mutex.
  std::condition_variable hosts_changed_;  ///< Used with mutex_.
  std::size_t hosts_ = 0;                  ///< The actors that have started and not ended.
  std::map<std::size_t, entry> services_;  ///< Keyed by the service's number.
  std::size_t next_service_ = 0;
  const std::shared_ptr<class own_threads> own_threads_ = std::make_shared<class own_threads>();
  const std::shared_ptr<service_places> places_ = std::make_shared<service_places>();
  /// The number of actors for each name's key.
  std::unordered_map<std::uint64_t, std::uint64_t> named_;
  std::set<std::string> hung_;  ///< Some names of stopped services that have abandoned replicas.
  std::atomic<bool> stopping_{false};  ///< True once no service is added any more.
};

system_core& core_of(system& sys);

}  // namespace troupe::detail
