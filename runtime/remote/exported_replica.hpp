#pragma once

#include <map>
#include <memory>
#include <string>

#include "runtime/actor/inbox.hpp"
#include "runtime/service/role/role.hpp"
#include "runtime/service/state/service_state.hpp"

namespace troupe::detail {

/// A replica of this process for which the other side of a connection has a remote replica.
/// Internal to runtime/.
struct exported_replica {
  /// True if it was made for the other side. It then ends with the remote replica.
  bool made_here = false;
  std::string role_spec;  ///< Everything that it was made from, if it may outlive the controller.
  std::shared_ptr<service_state> service;
  ref<inbox> actor;
  std::shared_ptr<replica_slot> slot;
  bool serves = false;
  duration::rep seen_busy = 0;  ///< The busy_since of its slot at the last ping.
  std::map<const call_kind*, const void*> access;
};

}  // namespace troupe::detail
