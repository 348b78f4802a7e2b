#pragma once
// The services of one system, by name and by number. Internal to runtime/.

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "runtime/metrics/registry.hpp"
#include "runtime/service/replica/replica_context.hpp"

namespace troupe::detail {

class cycle_watch;
class pool_collector;
class service_collector;

class service_context : public replica_context {
 public:
  metrics_registry& metrics() noexcept { return *metrics_; }

  /// Throws std::invalid_argument if an option is out of range or the name is taken.
  std::shared_ptr<service_state> add_service(serve_options options);
  /// Adds a service without metrics, whose name need not be its own: the service of a replica that
  /// is hosted here for another process, or the copy of another process's service. `find_service`
  /// doesn't find it.
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
  /// True once the system is told to end: no service is added any more.
  bool stopping() const noexcept { return stopping_; }
  /// Closes it, ends its actors, and forgets it. Its counts stay while anybody holds it, then the
  /// registry keeps them; its gauges go at once.
  void stop_service(service_state& service);
  /// Ends every service, the one that was added last first. The places of their replicas stay for
  /// successors. `tell` is called on any actor when all replicas have ended or `limit` is over.
  void stop_services(duration limit, std::function<void()> tell);

 protected:
  service_context(const actor_options& actors, const fault_plan& faults, duration cycle_check,
                  std::shared_ptr<metrics_registry> metrics);
  ~service_context();

  void stop_looking_for_cycles();
  /// From here on no service is added but those that other processes bring.
  void refuse_services();
  /// The last that was added comes first.
  std::vector<std::shared_ptr<service_state>> last_first() const;
  /// Lists services with calls that are not answered: ": counter (3 in flight, 1 waiting)".
  std::string unanswered() const;
  /// The names of the services with replicas that hold a thread of this process, also those that
  /// were abandoned or whose service was stopped. Only turns count that were seen for at least
  /// `seen_for`.
  std::set<std::string> hung(duration seen_for);

 private:
  struct entry {
    std::shared_ptr<service_state> state;
    ref<inbox> supervisor;
    std::shared_ptr<service_collector> collector;  ///< May be null.
    bool findable = false;
  };

  /// True for the services of `add_service` that were not stopped.
  bool is_named(const service_state& service) const;
  /// Takes the service out of the list; an empty entry if it is not there.
  entry forget(const service_state& service);
  void look_at_turns();
  std::unique_ptr<service_state> make_service(serve_options options);
  std::vector<std::shared_ptr<service_state>> all_services() const;

  const std::shared_ptr<metrics_registry> metrics_;
  const std::shared_ptr<cycle_watch> cycles_;
  mutable std::mutex mutex_;
  std::map<std::size_t, entry> services_;  ///< Keyed by the service's number.
  std::size_t next_service_ = 0;
  const std::shared_ptr<service_places> places_ = std::make_shared<service_places>();
  std::atomic<bool> stopping_{false};
  const std::shared_ptr<pool_collector> pool_collector_;  ///< Null in a deterministic system.
  const metric_counter pool_held_;
  bool is_held_ = false;  ///< True while each of the pool's own threads may be in a long turn.
};

}  // namespace troupe::detail
