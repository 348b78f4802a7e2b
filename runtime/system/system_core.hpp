#pragma once
// The parts of a system and the order in which they end. Internal to runtime/.

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "runtime/remote/remote_context.hpp"
#include "runtime/system/system.hpp"

namespace troupe::detail {

class cluster_slot_provider;
class simulated_nodes;
class slot_provider;

class system_core final : public remote_context {
 public:
  /// Throws std::invalid_argument if an option is out of range.
  explicit system_core(system_options options);
  ~system_core();

  const system_options& options() const noexcept { return options_; }

  replica_provider& slot_provider_of(const placement& where) override;
  /// In a deterministic system: from the first call on, replicas placed on nodes live on these, and
  /// turns may take time. To be called before any service is served.
  simulated_nodes& simulate_nodes();
  /// In a deterministic system: the actors of this process, of which none has begun yet, share so
  /// many threads. Turns may take time from here on.
  void limit_threads(std::size_t threads);
  /// Null if no node can join.
  cluster_slot_provider* cluster() noexcept { return cluster_.get(); }

  /// Runs actors until `finished()`: a deterministic system runs them here and now, another one
  /// waits for the pool. Throws std::logic_error if a deterministic system can't go on.
  void run_until(const std::function<bool()>& finished);
  /// Reports that something `run_until` waits for may have changed.
  void changed() { main_changed_.notify_all(); }

  std::mutex main_mutex;
  ref<inbox> main;              ///< The driver's mailbox, while `run` runs.
  bool main_cancelled = false;  ///< Set by a cancel that found nothing running.

 private:
  /// In the list of all systems of this process from its constructor to its destructor.
  class listed {
   public:
    explicit listed(system_core& self);
    ~listed();
    listed(const listed&) = delete;

   private:
    system_core& self_;
  };
  friend std::string hung_services(duration seen_for);

  void stop_all(std::chrono::steady_clock::time_point limit);

  const system_options options_;
  std::unique_ptr<slot_provider> processes_;
  std::unique_ptr<cluster_slot_provider> cluster_;
  std::unique_ptr<simulated_nodes> nodes_;  ///< Null unless nodes are simulated.
  std::condition_variable main_changed_;    ///< Used with main_mutex.
  const listed listed_{*this};
};

system_core& core_of(system& sys);

/// The services of all systems of this process whose replicas hold a thread here, such as "env,
/// policy", or "none". Only turns count that an earlier call, or the watch of the pool, saw
/// `seen_for` ago. Any thread.
std::string hung_services(duration seen_for);

}  // namespace troupe::detail
