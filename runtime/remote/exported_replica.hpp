#pragma once

#include <map>
#include <memory>
#include <string>

#include "runtime/actor/inbox.hpp"
#include "runtime/service/role/role.hpp"
#include "runtime/service/state/service_state.hpp"

namespace troupe::detail {

/// A replica of this process that the other side of a connection has a stand-in for. Internal to
/// runtime/.
struct exported_replica {
  bool made_here = false;  ///< For the other side: it ends with the stand-in.
  std::string recipe;      ///< All that it was made from, where it may outlive the controller.
  std::shared_ptr<service_state> service;
  ref<inbox> actor;
  std::shared_ptr<replica_slot> slot;
  bool serves = false;
  duration::rep seen_busy = 0;  ///< Its slot's busy_since when it was asked for last.
  std::map<const call_kind*, const void*> access;
};

}  // namespace troupe::detail
