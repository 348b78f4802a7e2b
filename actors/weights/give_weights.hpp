#pragma once
// The distribution of new weights to the replicas of a role.

#include "actors/weights/weight_store.hpp"
#include "runtime/service/service.hpp"

namespace troupe {

/// Calls Update(fresh) on every replica, by control messages, which never queue behind work. A
/// replica that dies meanwhile takes its weights from the store when it is restarted. `at_once` is
/// the number of replicas that take the weights at the same time; 0 means all. With 1, the other
/// replicas serve calls while one copies the weights.
template <auto Update, class Role>
task<> give_weights(service<Role> to, weights fresh, std::size_t at_once = 0) {
  const auto everyone = to.with({.priority = priority::control, .at_once = at_once});
  const auto settled = co_await everyone.template fanout_settled<Update>(fresh);
  for (const auto& one : settled) {
    if (!one.ok() && !is_kind(one.error(), error_kind::replica_lost))
      std::rethrow_exception(one.error());
  }
}

}  // namespace troupe
