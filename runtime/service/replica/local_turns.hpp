#pragma once
// Finds the replicas whose role's code holds a thread of this process. Internal to runtime/.

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/service/state/service_state.hpp"

namespace troupe::detail {

/// The replicas whose roles live in this process, each until its actor has ended. It may have been
/// abandoned, or its service stopped, long before. Any thread.
class local_turns {
 public:
  /// A replica that is in a turn.
  struct turn {
    std::uint64_t serial;  ///< See replica_slot::serial.
    std::size_t service;   ///< See service_state::number.
    std::string name;      ///< The service's name.
    std::size_t replica;
    bool own_thread;    ///< True if it holds no thread of the pool.
    bool abandoned;     ///< True if everybody goes on without it.
    duration seen_for;  ///< The time since an earlier look saw this turn; 0 if none did.
  };

  void add(const service_state& service, const replica_slot& slot, bool own_thread);
  /// Looks at all replicas and returns those that are in a turn.
  std::vector<turn> look(time_point now);
  /// Notes that the log has named this replica. Returns false if it had done so before.
  bool note_logged(std::uint64_t serial);

 private:
  struct replica {
    std::uint64_t serial;
    std::size_t service;
    std::string name;
    std::size_t index;
    bool own_thread;
    std::shared_ptr<const replica_turns> turns;
    turn_sighting seen = {};
    bool logged = false;
  };

  std::mutex mutex_;
  std::vector<replica> replicas_;
};

}  // namespace troupe::detail
