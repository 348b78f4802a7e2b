#pragma once
// Finds services of this process whose calls wait for each other in a circle, and ends the calls
// that wait in it. Their replicas may be in other processes. Internal to runtime/.

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runtime/actor/clock.hpp"
#include "runtime/service/replica/replica.hpp"
#include "runtime/service/supervision/wait_graph.hpp"

namespace troupe::detail {

/// Looks a few times, on the clock's thread, after a call had to wait: replicas that hold calls are
/// asked for them, in turns of their own. A cycle of calls that have waited since the look before
/// is reported, and its calls end as overloaded. Any thread.
class cycle_watch final : public wait_observer, public std::enable_shared_from_this<cycle_watch> {
 public:
  using service_list = std::vector<std::shared_ptr<service_state>>;
  /// `pause` is the time between two searches; 0 means no search. `services` returns all services
  /// of the process.
  cycle_watch(class clock& clock, duration pause, std::function<service_list()> services);
  ~cycle_watch();

  void call_waits() override {
    if (looks_left_.load(std::memory_order_seq_cst) < looks) look_again();
  }
  /// Ends the searches. After that, the clock may be destroyed.
  void close();

 private:
  struct answer {
    std::shared_ptr<replica_slot> slot;
    std::size_t service;
    replica_waits waits;
    bool late = false;  ///< True if a search has been made without it.
  };
  using answers = std::map<std::uint64_t, answer>;  ///< Keyed by the replica's serial.
  /// The identity of a wait, for comparison between two searches.
  using wait_id = std::pair<const void*, std::uint64_t>;
  /// A call or a session that an endpoint awaits. It is held, so that no other gets its address
  /// while addresses are compared.
  struct wait {
    awaited_call call;
    ref<inbox> caller;
    // One of these is set.
    std::shared_ptr<ticket> ticket_in_queue = {};  ///< The call waits for room.
    std::shared_ptr<session_request> session = {};
    std::shared_ptr<replica_slot> elsewhere = {};  ///< Work of it waits for room in its process.
    ref<call_base> sent = {};                      ///< Any other call.
    bool told_to_end = false;
    wait_id id() const noexcept;
    bool begun() const noexcept { return call.where == awaited_call::stage::in_endpoint; }
    void end(const std::string& members) const;
  };
  /// Finds the replica whose work made a call, by the mailbox and the slice.
  class makers;

  /// The number of searches after the last note: the first asks the replicas, the second sees which
  /// calls wait, and the third sees which still do.
  static constexpr int looks = 3;
  /// So many times a search is put off for answers that have not come. Two searches in a row must
  /// see the same wait, which they could not if the answers about it came to every other one. A
  /// replica in a long turn does not answer, and puts off one search.
  static constexpr int delays_max = 10;

  void told(const replica_slot& slot, replica_waits waits);
  void look_again();
  void look_later();
  void look();
  /// Says whether the search is to be put off. REQUIRES: the mutex is held.
  bool waits_for_answers();
  void ask(const service_list& services);
  static std::vector<wait> waits_of(const service_list& services, const answers& told);
  static void report(const service_list& services, const answers& told,
                     const std::vector<wait>& standing, std::set<wait_id>& told_to_end);

  class clock& clock_;
  const duration pause_;
  std::atomic<int> looks_left_;
  std::mutex mutex_;
  std::function<service_list()> services_;  ///< Null once closed.
  bool looks_later_ = false;                ///< True while the clock is set to ring.
  int delays_ = 0;                          ///< How often the next search has been put off.
  answers asked_;                           ///< The answers that have not come.
  answers answers_;                         ///< The answers since the last search.
  std::vector<wait> before_;                ///< The calls that waited at the last search.
};

}  // namespace troupe::detail
