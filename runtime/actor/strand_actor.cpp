#include "runtime/actor/strand_actor.hpp"

#include "runtime/actor/actor_context.hpp"

namespace troupe::detail {

strand_actor::strand_actor(caf::actor_config& config, actor_context& system, std::string_view name,
                           turns by)
    : caf::event_based_actor(config),
      key_(system.key_of(name)),
      turn_draws_(key_, "turns"),
      turns_(by),
      pool_(system.threads_in_virtual_time() ? system.threads_in_virtual_time()->of_new_actor()
                                             : nullptr) {}

bool is_assured(caf::resumable* job) {
  const auto* actor = dynamic_cast<const strand_actor*>(job);
  return actor && actor->is_assured();
}

}  // namespace troupe::detail
