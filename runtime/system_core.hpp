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
#include <vector>

#include "runtime/actor/clock.hpp"
#include "runtime/actor/spare_threads.hpp"
#include "runtime/metrics/registry.hpp"
#include "runtime/service/state.hpp"
#include "runtime/system.hpp"

namespace troupe::detail {

class cluster_site;
class hosted_replicas;
class remote_metrics;
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
  std::uint64_t next_seed();
  /// Null if nothing goes wrong on purpose.
  fault_source* faults() noexcept { return faults_ ? &*faults_ : nullptr; }
  /// In a deterministic system: time passes during this turn.
  void spend(duration time) { static_cast<virtual_clock&>(*clock_).spend(time); }

  /// A thread of the pool is stuck in a role's code: another takes its place until it is back. Not
  /// in a deterministic system.
  void thread_hangs();
  void thread_came_back();

  /// Where replicas live that are placed elsewhere.
  site& site_of(const placement& where);
  /// Null where no node can join.
  cluster_site* cluster() noexcept { return cluster_.get(); }

  void host_started();
  void host_ended();
  std::size_t hosts() const;

  /// Throws std::invalid_argument if an option is out of range or the name is taken.
  std::shared_ptr<service_state> add_service(serve_options options);
  /// One without metrics, whose name need not be its own: what a replica is hosted under for
  /// another process; or, `findable`, the copy of another process's.
  std::shared_ptr<service_state> add_unnamed(serve_options options, bool findable);
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
  /// Closes it and ends its actors.
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
    std::shared_ptr<const prometheus::Collectable> collector;  ///< May be null.
    bool findable = false;
  };

  bool step_deterministic();
  std::vector<std::shared_ptr<service_state>> last_first() const;
  void stop_all();
  std::string unanswered() const;
  std::string hung() const;

  system_options options_;
  std::unique_ptr<class clock> clock_;
  caf::actor_system_config config_;
  std::unique_ptr<caf::actor_system> actors_;
  std::shared_ptr<class remote_metrics> remote_metrics_;
  std::shared_ptr<class hosted_replicas> hosted_replicas_;
  std::unique_ptr<site> processes_;
  std::unique_ptr<cluster_site> cluster_;
  std::unique_ptr<spare_threads> spares_;  ///< Null in a deterministic system.
  std::uint64_t seed_;
  std::uint64_t order_;  ///< Draws who runs next in a deterministic system.
  std::optional<fault_source> faults_;
  mutable std::mutex mutex_;
  std::condition_variable main_changed_;   ///< With main_mutex.
  std::condition_variable hosts_changed_;  ///< With mutex_.
  std::size_t hosts_ = 0;                  ///< Actors started and not ended.
  std::map<std::size_t, entry> services_;  ///< By number.
  std::size_t next_service_ = 0;
  std::atomic<bool> stopping_{false};  ///< No service is added any more.
};

system_core& core_of(system& sys);

}  // namespace troupe::detail
