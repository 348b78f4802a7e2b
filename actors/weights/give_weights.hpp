#pragma once

#include "actors/weights/weight_store.hpp"
#include "runtime/service/service.hpp"

namespace troupe {

/// Calls Update(fresh) on every replica; control messages, so they never queue behind work. A
/// replica that dies meanwhile takes its weights from the store when it is restarted.
template <auto Update, class Role>
task<> give_weights(service<Role> to, weights fresh) {
  const auto everyone = to.with({.priority = priority::control});
  const auto settled = co_await everyone.template fanout_settled<Update>(fresh);
  for (const auto& one : settled) {
    if (!one.ok() && !is_kind(one.error(), error_kind::replica_lost))
      std::rethrow_exception(one.error());
  }
}

}  // namespace troupe
