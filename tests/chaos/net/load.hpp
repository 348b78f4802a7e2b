#pragma once
// The clients of a run with faults. They are coroutines of the controller's program.

#include <map>
#include <string>

#include "tests/chaos/net/roles.hpp"

namespace troupe::chaos {

struct net_load {
  net_roles to;
  int life = 1;  ///< The number of this controller among those of the run, from 1.
  bool ending = false;
  std::int64_t calls = 0;         ///< Begun so far, for the names of further ones.
  std::int64_t version = 0;       ///< The newest that was published or tried.
  std::int64_t acknowledged = 0;  ///< The newest that every replica has taken.
  /// By kind: when the last call that was answered began.
  std::map<std::string, double> answered;
};

/// The newest version that an earlier controller has published; 0 if there was none.
std::int64_t read_version();

/// Starts the clients, `callers` of each kind. They go on until the load ends.
void start_net_load(group& g, net_load& l, int callers);

}  // namespace troupe::chaos
