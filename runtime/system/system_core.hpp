#pragma once
// What the hosts of a system share. Internal to runtime/.

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
#include "runtime/service/state/service_state.hpp"
#include "runtime/system/system.hpp"

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
  /// What processes count that run replicas for this one, and replicas that run here for others.
  const std::shared_ptr<class remote_metrics>& remote_metrics() noexcept { return remote_metrics_; }
  class hosted_replicas& hosted_replicas() noexcept { return *hosted_replicas_; }
  /// Null if nothing is traced.
  class trace* trace() noexcept { return options_.trace.get(); }
  const system_options& options() const noexcept { return options_; }
  bool deterministic() const noexcept { return options_.deterministic; }
  /// Of the random numbers of a new actor. In a deterministic system actors of one name have
  /// different keys.
  std::uint64_t key_of(std::string_view name);
  /// Null if nothing goes wrong on purpose.
  fault_source* faults() noexcept { return faults_ ? &*faults_ : nullptr; }
  /// In a deterministic system: time passes during this turn. Others have theirs meanwhile if it
  /// can pause.
  void spend(duration time);
  /// Of a deterministic system in which turns may take time; otherwise null.
  simulated_threads* threads_in_virtual_time() noexcept { return virtual_threads_.get(); }
  /// A replica may be busy for long while others go on: in virtual time no turn takes time, unless
  /// that is simulated.
  bool turns_take_time() const noexcept { return !deterministic() || virtual_threads_; }

  /// A thread of the pool is stuck in a role's code: another takes its place until it is back. In a
  /// deterministic system: one of these, unless that is null.
  void thread_hangs(simulated_pool* in);
  void thread_came_back(simulated_pool* in);
  /// Starts the thread for hosts whose turns are reserved, if there is none. Not in a deterministic
  /// system.
  void reserve_thread();

  /// Where replicas live that are placed elsewhere.
  site& site_of(const placement& where);
  /// Of a deterministic system: from the first call on, replicas placed on nodes live on these, and
  /// turns may take time. Before any service is served.
  simulated_nodes& simulate_nodes();
  /// Null where no node can join.
  cluster_site* cluster() noexcept { return cluster_.get(); }

  /// Those that actors have of their own.
  const std::shared_ptr<class own_threads>& own_threads() noexcept { return own_threads_; }

  void host_started();
  void host_ended();
  std::size_t hosts() const;

  /// Throws std::invalid_argument if an option is out of range or the name is taken.
  std::shared_ptr<service_state> add_service(serve_options options);
  /// One without metrics, whose name need not be its own: what a replica is hosted under for
  /// another process, or the copy of another process's. `find_service` doesn't find it.
  std::shared_ptr<service_state> add_unnamed(serve_options options);
  /// `find_service` finds this copy from here on.
  void make_findable(const service_state& service);
  /// Nobody asks for it any more.
  void remove_unnamed(const service_state& service);
  /// Those that have not been removed.
  std::size_t services() const;
  /// The live service of that name; null if there is none.
  std::shared_ptr<service_state> find_service(const std::string& name) const;
  void set_supervisor(const service_state& service, ref<inbox> supervisor);
  /// Asks its supervisor for another number of replicas; `tell` hears of the end of that.
  void scale(const std::shared_ptr<service_state>& service, std::size_t replicas,
             std::function<void(std::exception_ptr)> tell);
  bool stopping() const noexcept { return stopping_; }
  /// Closes it, ends its actors, and forgets it. Its metrics stay while anybody holds it, but for
  /// gauges; then what it counted is kept by the registry.
  void stop_service(service_state& service);

  /// Runs actors until `finished()`: in a deterministic system here and now, else it waits for the
  /// pool. Throws std::logic_error if a deterministic system can't go on.
  void run_until(const std::function<bool()>& finished);
  /// Says that something `run_until` waits for may have changed.
  void changed() { main_changed_.notify_all(); }

  std::mutex main_mutex;
  ref<inbox> main;              ///< The driver, while `run` runs.
  bool main_cancelled = false;  ///< By a cancel that found nothing running.

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
  turn_order order_;                        ///< Of a deterministic system.
  std::optional<fault_source> faults_;
  mutable std::mutex mutex_;
  std::condition_variable main_changed_;   ///< With main_mutex.
  std::condition_variable hosts_changed_;  ///< With mutex_.
  std::size_t hosts_ = 0;                  ///< Actors started and not ended.
  std::map<std::size_t, entry> services_;  ///< By number.
  std::size_t next_service_ = 0;
  const std::shared_ptr<class own_threads> own_threads_ = std::make_shared<class own_threads>();
  const std::shared_ptr<service_places> places_ = std::make_shared<service_places>();
  std::unordered_map<std::uint64_t, std::uint64_t> named_;  ///< How many actors of each name's key.
  std::set<std::string> hung_;  ///< Stopped services that have abandoned replicas, some of them.
  std::atomic<bool> stopping_{false};  ///< No service is added any more.
};

system_core& core_of(system& sys);

}  // namespace troupe::detail
