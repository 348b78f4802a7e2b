#pragma once
// A system runs the actors of one process. It has a pool of threads, a clock, services with names
// of their own, and metrics. Every program makes one, directly or with troupe::run (run.hpp).

#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "runtime/cluster/node_info.hpp"
#include "runtime/service/options/fault_plan.hpp"
#include "runtime/service/role/role_constructor.hpp"
#include "runtime/service/service.hpp"

namespace troupe {

class metrics_registry;
class trace;

/// The options of a system. All have a default.
struct system_options {
  /// The number of threads of the pool; 0 means one per core. A deterministic system ignores it.
  std::size_t threads = 0;
  /// If true, everything runs in virtual time, in an order drawn from `seed`, on the thread that
  /// calls `run`. If a fault plan lets turns (the runs of one actor without a pause) take virtual
  /// time, each such turn runs on its own thread, one thread at a time.
  bool deterministic = false;
  /// The seed of the actors' random numbers, of injected faults and, in a deterministic system, of
  /// the order of turns. 0 is a seed like any other.
  std::uint64_t seed = 0;
  /// The faults to inject. Only a deterministic system can have faults.
  fault_plan faults = {};
  /// The longest time that the destructor waits for actors and their threads to end. A thread that
  /// is stuck in a role's code can't be ended, so the process then exits with code 70.
  duration stop_limit = std::chrono::seconds(10);
  /// The interval, >= 0, between two searches for services that wait for each other in a cycle with
  /// full queues. The calls in such a cycle end as `overloaded` between 2 and 4 intervals after the
  /// cycle has formed, even if a timeout or another branch of `any` would have ended the wait
  /// later. A search is put off, at most ten times, while a process has not answered which of its
  /// calls wait. 0 means no search.
  duration cycle_check = std::chrono::seconds(1);
  /// The time, > 0, after which a turn is long: the metric troupe_replicas_in_long_turn counts its
  /// replica, and the log names the services of such turns if they hold every thread of the pool.
  /// The log also names a service if sessions of it are awaited and none has begun or ended for
  /// this time. The system looks twice a second. A deterministic system ignores it.
  duration long_turn = std::chrono::seconds(10);
  /// The address where nodes join, HOST:PORT; port 0 means any free port. If it is empty, no node
  /// can join and nothing can be placed on a node. It must be empty in a deterministic system.
  std::string listen = "";
  /// The directory with the certificates of this process (`troupe certs` makes them). If it is
  /// empty, `listen` must be a loopback address.
  std::string certs = "";
  /// The file with the secret that the system and its nodes must know if there are no certificates.
  /// The file is made if it doesn't exist. Empty means troupe/join.secret in $XDG_STATE_HOME, or in
  /// ~/.local/state if that is unset.
  std::string join_secret = "";
  /// The bound, in bytes and > 0, of the calls that replicas in one other process, or on one node,
  /// have under way at services of this system: their arguments, as they were sent. A further call
  /// ends as `overloaded`. One call of any size is always taken.
  std::size_t peer_bytes_max = std::size_t{256} << 20;
  /// If true, each replica that another process places on this system runs in its own child
  /// process.
  bool isolate = false;
  /// The registry of the system's metrics; null means a new one. Systems that run one after another
  /// may share a registry, whose counts then add up over these systems.
  std::shared_ptr<metrics_registry> metrics = nullptr;
  /// The trace that keeps what the actors do, for trace viewers; null means no trace. Systems that
  /// run one after another may share a trace.
  std::shared_ptr<class trace> trace = nullptr;
};

class system;

namespace detail {
class system_core;
system_core& core_of(system& sys);
}  // namespace detail

/// One system of actors in this process. Destroying it ends the services that were not stopped
/// before. Its coroutines begin when they are awaited.
class system {
 public:
  /// Throws std::invalid_argument if an option is out of range, if a deterministic system has an
  /// address in `listen`, if there are faults and the system isn't deterministic, and if `listen`
  /// is no HOST:PORT or needs certificates. Throws std::runtime_error if the system can't listen
  /// for nodes, a file of its certificates or join secret is unusable, or its threads can't be
  /// made.
  explicit system(system_options options = {});
  /// Stops every service, the one started last first, and waits for the actors, at most for
  /// `stop_limit`.
  ~system();
  system(const system&) = delete;
  system& operator=(const system&) = delete;

  /// Starts a service. Each replica makes its own Role from a copy of `args`. Returns when all
  /// replicas serve; it waits without a time limit for a node that has room. If Role has a member
  /// `task<> catch_up()`, a replica awaits it before it serves, also after a restart.
  ///
  /// Throws std::invalid_argument for options out of range, for a name in use, for a placement that
  /// this system can't have, and for a role in another process whose arguments or endpoints can't
  /// be encoded. Throws call_error of kind service_down if replicas die at their start more often
  /// than serve_options::max_restarts, or exceed serve_options::start_timeout twice.
  template <class Role, class... A>
  task<service<Role>> serve(serve_options options, A... args) {
    auto factory = detail::make_factory<Role>(std::make_tuple(std::move(args)...));
    auto state = co_await open(std::move(options), std::move(factory));
    co_return service<Role>(std::move(state));
  }

  /// Ends a service. Calls under way and later ones end as service_down. Returns without waiting
  /// for the replicas' end. Has no effect on a service that has ended.
  template <class Role>
  void stop(const service<Role>& which) {
    close(which.state());
  }

  /// Ends every service, to serve others of the same names in this system. Returns when the
  /// replicas have ended, at the latest after system_options::stop_limit. Their places stay: a
  /// child process takes the next replica of the same index in a service of the same name, if there
  /// is one within ten seconds, and nodes stay joined. The roles themselves end; what they keep for
  /// their successors is described in runtime/service/successor.hpp.
  task<> stop_all();

  /// Changes the number of replicas while the service serves. Returns when exactly that many serve
  /// and the removed ones have ended or were given up. With autoscaling the load may change the
  /// number again.
  ///
  /// New replicas start and catch up before they serve. If they keep dying while they start, or
  /// exceed serve_options::start_timeout, it throws call_error of kind replica_lost and the number
  /// stays as it was.
  ///
  /// The replicas with the highest indices are removed: they get no new call and no new session,
  /// have serve_options::drain_timeout to finish their calls and sessions, and end. Calls that are
  /// still running then end as replica_lost, or are retried if they are idempotent. Sessions that
  /// are still open end as session_lost.
  ///
  /// Changes run one after another, in the order in which they are awaited. A change goes on even
  /// if the coroutine that awaits it is cancelled. A later change to fewer replicas ends a growth
  /// that is under way, which then throws call_error of kind cancelled. Throws
  /// std::invalid_argument for 0 replicas, and call_error of kind service_down if the service is
  /// down or ends meanwhile.
  template <class Role>
  task<> scale(const service<Role>& which, std::size_t replicas) {
    which.state();  // Throws if the handle names no service.
    return change_replicas(which.state_, replicas);
  }

  /// Runs `main` as an actor's coroutine, waits for its end and returns its value. Throws what
  /// `main` throws, and std::logic_error if another `run` is under way, or if the system is
  /// deterministic and no actor can go on. Call it from a thread outside the system.
  template <class T>
  T run(task<T> main) {
    std::optional<detail::value_or_monostate<T>> result;
    drive(detail::keep_result(std::move(main), result));
    if constexpr (!std::is_void_v<T>) return std::move(*result);
  }

  /// Cancels the coroutine of `run`: it is destroyed, and `run` throws call_error of kind
  /// cancelled. If no `run` is under way, the next one throws this error instead of starting. May
  /// be called on any thread.
  void cancel();

  /// Waits until `count` nodes have joined and not left, without a time limit. Throws
  /// std::logic_error if the system doesn't listen for nodes.
  task<> wait_for_nodes(std::size_t count);
  /// The nodes that have joined and not left, ordered by name.
  std::vector<node_info> nodes() const;
  /// The port where nodes join; 0 if the system doesn't listen for nodes.
  std::uint16_t port() const;

  /// The registry of the system's metrics.
  metrics_registry& metrics();
  /// The options that the system was made with.
  const system_options& options() const;
  /// The number of actors that were started and have not ended: the coroutine of `run`, the
  /// services' supervisors and the replicas.
  std::size_t actors() const;

 private:
  friend detail::system_core& detail::core_of(system& sys);
  task<std::shared_ptr<detail::service_state>> open(
      serve_options options, std::shared_ptr<const detail::role_factory> factory);
  void close(detail::service_state& service);
  task<> change_replicas(std::shared_ptr<detail::service_state> service, std::size_t replicas);
  void drive(detail::child_task main);

  std::unique_ptr<detail::system_core> core_;
};

}  // namespace troupe
