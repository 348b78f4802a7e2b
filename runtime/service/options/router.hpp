#pragma once
// Routers choose the replica that gets a call. The caller runs the router on its own snapshot of
// the replica table. Set `serve_options::router` to one of `routing`, or to a class of your own.

#include <cstddef>
#include <cstdint>
#include <memory>

namespace troupe {

/// The live replicas of one service as a router sees them, in a stable order.
class replica_view {
 public:
  /// The number of replicas, at least 1.
  virtual std::size_t size() const = 0;
  /// The number of calls that all callers have sent to replica i and that are not answered yet.
  virtual std::size_t pending(std::size_t i) const = 0;
  /// The number of sessions that are open on replica i.
  virtual std::size_t sessions(std::size_t i) const = 0;
  /// The replica's index, which stays the same across its restarts.
  virtual std::size_t index(std::size_t i) const = 0;
  /// True if replica i runs in this process. Routers by locality prefer such replicas.
  virtual bool local(std::size_t) const { return true; }
  /// 32 random bits. A deterministic system draws them from its seed.
  virtual std::uint32_t random() = 0;

 protected:
  ~replica_view() = default;
};

/// A routing strategy. One object serves every caller of a service on any thread, so it must not
/// keep unguarded state.
class router {
 public:
  virtual ~router() = default;
  /// Returns the position of the chosen replica, below view.size(). `key` is the caller's
  /// `call_options::key`.
  virtual std::size_t pick(replica_view& view, std::uint64_t key) = 0;
};

namespace routing {

/// Takes the replicas in turn. All callers share the turn.
std::shared_ptr<router> round_robin();
/// Draws two replicas at random and takes the less loaded one (Mitzenmacher 2001, "The power of two
/// choices"). This is the default.
std::shared_ptr<router> power_of_two();
/// Takes the replica with the fewest pending calls, and the first of those that are equal.
std::shared_ptr<router> least_loaded();
/// Sends calls with the same `call_options::key` to the same replica; few keys move when replicas
/// change (rendezvous hashing, Thaler and Ravishankar 1998).
std::shared_ptr<router> consistent_hash();
/// Takes the less loaded of two local replicas, and other replicas only if none is local.
std::shared_ptr<router> locality();

}  // namespace routing
}  // namespace troupe
