#pragma once
// Internal to this folder: the state that all connections of one server share. Only the server's
// thread uses it, except for the members that are marked.

#include <sys/resource.h>

#include <algorithm>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <chrono>
#include <list>
#include <memory>
#include <optional>
#include <utility>

#include "actors/openenv/server/byte_budget.hpp"
#include "actors/openenv/server/http_api.hpp"
#include "actors/openenv/server/named_sessions.hpp"
#include "actors/openenv/server/origin_check.hpp"
#include "actors/openenv/server/pace.hpp"
#include "actors/openenv/server/server.hpp"
#include "actors/openenv/server/server_metrics.hpp"
#include "actors/openenv/server/step_threads.hpp"
#include "runtime/net/own_hosts.hpp"

namespace troupe::openenv_server {

using steady = std::chrono::steady_clock;
/// A socket whose executor is not type-erased.
using tcp_socket =
    boost::asio::basic_stream_socket<boost::asio::ip::tcp, boost::asio::io_context::executor_type>;

/// The interface of a connection to the server that owns it.
class guest {
 public:
  virtual ~guest() = default;
  /// Called from time to time: closes the connection if it has waited for too long.
  virtual void look_after(steady::time_point now) = 0;
  /// Returns whether the connection waits for a request that has not come as a whole.
  virtual bool awaits_client() const { return false; }
  /// Returns how many bytes of messages `yield_bytes` would give back.
  virtual std::size_t yieldable_bytes() const { return 0; }
  /// Ends the connection because it holds most of the memory for messages, which others need.
  virtual void yield_bytes() {}
  /// Called when the server shuts down.
  virtual void send_away() = 0;
};

/// The shared state of a server.
struct hub {
  hub(environment_maker make_one, server_options wanted, metrics_registry& registry)
      : make(std::move(make_one)),
        options(std::move(wanted)),
        origins(options.allowed_origins),
        hosts(options.address, names_of(options, origins), "--allow-host"),
        api(make),
        metrics(registry),
        steps(options.inline_steps),
        memory(options.memory_bytes_max) {
    workers.emplace(options.threads, options.hang_timeout);
  }

  /// Stops the workers. Nothing may run on the server's thread any more. Tasks that wait for a
  /// worker are destroyed before the sockets that they hold.
  void end_workers() {
    workers->stop();
    steps = pace();
    workers.reset();
  }

  /// Calls `work`, which must not throw, and then calls `then` on the server's thread. Where
  /// environments may be stepped inline and are fast, it calls `work` directly, otherwise on a
  /// worker. See pace.hpp.
  template <class Work, class Then>
  void run(Work work, Then then) {
    if (steps.is_fast()) {
      note(timed(work));
      then();
      return;
    }
    // `then` has a place of its own, because moving a function copies what it has captured as
    // const. A worker with such a copy could be the last to hold a session, and would destroy it.
    auto kept = std::make_unique<Then>(std::move(then));
    workers->post([this, work = std::move(work), then = std::move(kept)]() mutable {
      const auto spent = timed(work);
      boost::asio::post(io, [this, spent, then = std::move(then)] {
        note(spent);
        (*then)();
      });
    });
  }

  void take_slot() {
    metrics.sessions.set(static_cast<double>(++sessions));
    metrics.sessions_opened.increment();
  }
  void free_slot() { metrics.sessions.set(static_cast<double>(--sessions)); }

  /// Lets a client hold that many bytes. If memory is short, those who hold more of it yield, the
  /// largest first. Returns false, and changes nothing, if it stays short.
  bool hold(held_bytes& mine, std::size_t bytes) {
    while (!mine.set(bytes)) {
      const auto largest = std::ranges::max_element(guests, {}, &guest::yieldable_bytes);
      if (largest == guests.end() || (*largest)->yieldable_bytes() <= bytes) {
        metrics.memory_refusals.increment();
        return false;
      }
      (*largest)->yield_bytes();
      metrics.memory_refusals.increment();
    }
    show_memory();
    return true;
  }
  /// Shows the bytes that are held. It is called where bytes are given back, too.
  void show_memory() {
    metrics.memory.set(static_cast<double>(memory.held()));
    metrics.memory_most.set(static_cast<double>(memory.most_held()));
  }

  /// Destroys a conversation, which may take time. Null is allowed.
  void discard(std::unique_ptr<conversation> talk) {
    if (talk && !steps.is_fast() && workers)
      workers->post([ending = std::move(talk)]() mutable { ending.reset(); });
  }

  const environment_maker make;  ///< Any thread may use it.
  const server_options options;
  const origin_check origins;
  const troupe::detail::own_hosts hosts;
  const http_api api;  ///< Any thread may use it.
  const server_metrics metrics;
  pace steps;
  byte_budget memory;        ///< What the messages of all clients take.
  std::list<guest*> guests;  ///< In the order in which they began to wait.
  /// The open sessions, also those that HTTP has made; never above options.sessions_max.
  std::size_t sessions = 0;
  std::size_t connections = 0;  ///< The connections that are no sessions, or not yet.
  std::size_t refusals = 0;     ///< The connections that are being refused; not in the above.
  bool is_draining = false;
  named_sessions named{*this};
  boost::asio::io_context io{1};
  std::optional<step_threads> workers;

 private:
  static std::vector<std::string> names_of(const server_options& options,
                                           const origin_check& origins) {
    auto names = origins.hosts();
    names.insert(names.end(), options.allowed_hosts.begin(), options.allowed_hosts.end());
    return names;
  }

  struct time_spent {
    steady::duration time;
    bool was_preempted;
  };

  /// Returns whether this thread was preempted since its last call of this function. That is true
  /// once too often if the preemption was before the environment ran.
  static bool was_preempted() {
    thread_local long before = 0;
    rusage used{};
    getrusage(RUSAGE_THREAD, &used);
    return std::exchange(before, used.ru_nivcsw) != used.ru_nivcsw;
  }

  template <class Work>
  static time_spent timed(Work& work) {
    const auto begun = steady::now();
    work();
    const auto time = steady::now() - begun;
    return {time, time > pace::slow && was_preempted()};
  }

  void note(const time_spent& spent) { steps.took(spent.time, spent.was_preempted); }
};

/// Keeps a guest in the hub's list as long as this object lives.
class guest_place {
 public:
  guest_place(hub& of, guest* who) : hub_(of), at_(of.guests.insert(of.guests.end(), who)) {}
  ~guest_place() { hub_.guests.erase(at_); }
  guest_place(const guest_place&) = delete;

  /// The guest begins to wait anew, so all others have waited longer.
  void move_to_end() { hub_.guests.splice(hub_.guests.end(), hub_.guests, at_); }

 private:
  hub& hub_;
  std::list<guest*>::iterator at_;
};

/// Counts a connection in a member of the hub until it is released, at the latest in the
/// destructor.
class counted_in {
 public:
  explicit counted_in(std::size_t& count) : count_(&count) { ++count; }
  ~counted_in() { release(); }
  counted_in(const counted_in&) = delete;

  void release() {
    if (count_) --*std::exchange(count_, nullptr);
  }

 private:
  std::size_t* count_;
};

}  // namespace troupe::openenv_server
