#pragma once
// What decides when an actor has its turns. Internal to runtime/.

#include <caf/event_based_actor.hpp>
#include <cstdint>
#include <memory>
#include <string_view>

#include "runtime/actor/draws.hpp"
#include "runtime/coroutine/strand.hpp"

namespace troupe::detail {

class actor_context;
struct simulated_pool;

/// A CAF actor with a strand, as the threads know it that run its turns.
class strand_actor : public caf::event_based_actor, public strand {
 public:
  /// The threads that run the turns of a host.
  enum class turns {
    pooled,   ///< The threads of the pool, or one of its own where it is spawned as detached.
    assured,  ///< The threads of the pool, and the reserve where these take no turn for long.
    reserved  ///< The threads of the pool before other turns, and the reserve where all are busy.
  };

  /// Its random numbers depend on `name`, which no actor of another kind or service has.
  strand_actor(caf::actor_config& config, actor_context& system, std::string_view name, turns by);

  /// Draws the next random number that decides when this host gets its turn.
  std::uint64_t draw_turn() noexcept { return turn_draws_.next(); }
  bool is_reserved() const noexcept { return turns_ == turns::reserved; }
  /// True if it has turns while other actors hold every thread of the pool.
  bool is_assured() const noexcept { return turns_ != turns::pooled; }
  /// The threads that the actors of a simulated process share; null if their number is not limited.
  const std::shared_ptr<simulated_pool>& pool() const noexcept { return pool_; }
  /// True if a turn may take time, also where time is virtual.
  virtual bool may_pause() const noexcept { return false; }

 protected:
  /// Returns this host's stream of random numbers for `purpose`.
  draws draws_for(std::string_view purpose) const noexcept { return {key_, purpose}; }

 private:
  const std::uint64_t key_;  ///< The key of its random numbers.
  draws turn_draws_;
  const turns turns_;
  const std::shared_ptr<simulated_pool> pool_;
};

/// True for an actor whose turns are assured or reserved.
bool is_assured(caf::resumable* job);

}  // namespace troupe::detail
