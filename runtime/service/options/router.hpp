#pragma once
// Which replica gets a call. The caller decides, on its own snapshot of the replica table.

#include <cstddef>
#include <cstdint>
#include <memory>

namespace troupe {

/// What a router sees: the live replicas of one service, in a stable order.
class replica_view {
 public:
  /// At least 1.
  virtual std::size_t size() const = 0;
  /// Calls sent to replica i and not answered yet, by everybody.
  virtual std::size_t pending(std::size_t i) const = 0;
  /// Sessions open on replica i.
  virtual std::size_t sessions(std::size_t i) const = 0;
  /// Stays the same for one replica across restarts.
  virtual std::size_t index(std::size_t i) const = 0;
  /// In this process? Routers by locality prefer those.
  virtual bool local(std::size_t) const { return true; }
  /// 32 random bits; seeded in a deterministic system.
  virtual std::uint32_t random() = 0;

 protected:
  ~replica_view() = default;
};

/// A strategy. One object serves every caller of a service, on any thread: keep no unguarded state.
class router {
 public:
  virtual ~router() = default;
  /// A number below view.size(). `key` is the caller's `call_options::key`.
  virtual std::size_t pick(replica_view& view, std::uint64_t key) = 0;
};

namespace routing {

/// In turn. The turn is shared by all callers.
std::shared_ptr<router> round_robin();
/// The less loaded of two drawn at random (Mitzenmacher 2001, "The power of two choices"). The
/// default.
std::shared_ptr<router> power_of_two();
/// The one with the fewest pending calls, the first of equals.
std::shared_ptr<router> least_loaded();
/// By the caller's key: the same key goes to the same replica, and few keys move when replicas
/// change (rendezvous hashing, Thaler and Ravishankar 1998).
std::shared_ptr<router> consistent_hash();
/// The less loaded of two local replicas; others only where none is local.
std::shared_ptr<router> locality();

}  // namespace routing
}  // namespace troupe
