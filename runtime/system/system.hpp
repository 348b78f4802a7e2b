#pragma once
// The actors of one process: a pool of threads, a clock, services by name, metrics.

#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "runtime/cluster/node_info.hpp"
#include "runtime/service/options/fault_plan.hpp"
#include "runtime/service/role/recipe.hpp"
#include "runtime/service/service.hpp"

namespace troupe {

class metrics_registry;
class trace;

struct system_options {
  std::size_t threads = 0;  ///< Of the pool; 0: as many as the machine has cores.
  /// Everything in virtual time, in an order drawn from `seed`, on the thread that calls `run`; but
  /// turns that may take virtual time, by a fault plan, have threads of their own. One runs at a
  /// time.
  bool deterministic = false;
  std::uint64_t seed = 0;
  /// What goes wrong on purpose. Only in a deterministic system.
  fault_plan faults;
  /// How long the destructor waits for actors and their threads to end. A thread that is stuck in a
  /// role's code can't be ended, so the process then leaves with exit code 70.
  duration stop_limit = std::chrono::seconds(10);
  /// Between two looks for services that wait for each other in a cycle with full queues. The calls
  /// in one end as `overloaded`, two to four times as long after it has closed, also where a
  /// timeout or another branch of `any` would have ended the wait later. 0: nobody looks.
  duration cycle_check = std::chrono::seconds(1);
  /// Where nodes join, HOST:PORT; port 0 is any free one. Empty: nowhere, so that nothing can be
  /// placed on a node.
  std::string listen = "";
  /// A directory with the certificates of this end of the cluster (`troupe certs`). Without one
  /// only loopback addresses are listened at.
  std::string certs = "";
  /// The file of the secret that without certificates both ends have to know, which is made where
  /// there is none. Empty: troupe/join.secret in XDG_STATE_HOME, else in ~/.local/state.
  std::string join_secret = "";
  /// Roles that another process places here run in a child process each.
  bool isolate = false;
  /// Where its metrics go; null: a registry of its own. Systems that follow one another may share
  /// one: counts go on from one to the next.
  std::shared_ptr<metrics_registry> metrics = nullptr;
  /// Where what its actors do is kept, for trace viewers; null: nowhere. Systems that follow one
  /// another may share one.
  std::shared_ptr<class trace> trace = nullptr;
};

class system;

namespace detail {
class system_core;
system_core& core_of(system& sys);
}  // namespace detail

class system {
 public:
  /// Throws std::invalid_argument if there are faults and the system is not deterministic.
  explicit system(system_options options = {});
  /// Stops every service, the latest first, and waits for its actors, at most for `stop_limit`.
  ~system();
  system(const system&) = delete;
  system& operator=(const system&) = delete;

  /// Starts a service whose replicas each hold `Role(args...)`, made in the replica. Returns when
  /// all serve. If Role has a member `task<> catch_up()`, a replica awaits it before it serves,
  /// also after a restart. Throws std::invalid_argument for options out of range, a name in use, or
  /// a role that is placed in another process and whose arguments or endpoints can't be encoded,
  /// and call_error of kind service_down if replicas keep dying at their start.
  template <class Role, class... A>
  task<service<Role>> serve(serve_options options, A... args) {
    auto factory = detail::make_factory<Role>(std::make_tuple(std::move(args)...));
    auto state = co_await open(std::move(options), std::move(factory));
    co_return service<Role>(std::move(state));
  }

  /// Ends a service: callers get service_down.
  template <class Role>
  void stop(const service<Role>& which) {
    close(which.state());
  }

  /// Changes how many replicas a service has, while it serves. Returns when that many serve and no
  /// other. New ones start and catch up first; throws call_error of kind replica_lost, and leaves
  /// the number as it was, if they keep dying at that. Those to be removed, the highest indices,
  /// get no new call and no new session, finish what they hold within `drain_timeout`, and end;
  /// what is left then ends as replica_lost (or is retried) or session_lost. One change after the
  /// other, in the order of asking; one that has begun goes on when nobody awaits it any more.
  /// Throws std::invalid_argument for 0, and call_error of kind service_down where the service is
  /// down or ends meanwhile.
  template <class Role>
  task<> scale(const service<Role>& which, std::size_t replicas) {
    which.state();  // Throws if it names none.
    return change_replicas(which.state_, replicas);
  }

  /// Runs `main` as an actor's coroutine and waits for its end. Throws what it throws. From a
  /// thread that is none of the system's.
  template <class T>
  T run(task<T> main) {
    std::optional<detail::value_or_monostate<T>> result;
    drive(detail::keep_result(std::move(main), result));
    if constexpr (!std::is_void_v<T>) return std::move(*result);
  }

  /// Asks what `run` runs to end: its coroutine is destroyed, and `run` throws call_error of kind
  /// cancelled. Where nothing runs, the next `run` throws that instead of starting. Any thread.
  void cancel();

  /// Returns when that many nodes are here. Throws std::logic_error where none can join.
  task<> wait_for_nodes(std::size_t count);
  /// Those that are here, by name.
  std::vector<node_info> nodes() const;
  /// Where nodes join; 0: nowhere.
  std::uint16_t port() const;

  metrics_registry& metrics();
  const system_options& options() const;
  /// Actors that were started and have not ended: main's, a service's supervisor, the replicas.
  std::size_t actors() const;

 private:
  friend detail::system_core& detail::core_of(system& sys);
  task<std::shared_ptr<detail::service_state>> open(
      serve_options options, std::shared_ptr<const detail::role_factory> factory);
  void close(detail::service_state& service);
  task<> change_replicas(std::shared_ptr<detail::service_state> service, std::size_t replicas);
  void drive(detail::branch main);

  std::unique_ptr<detail::system_core> core_;
};

}  // namespace troupe
