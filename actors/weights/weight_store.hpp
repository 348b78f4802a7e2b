#pragma once
// The store of weights: trainers put versions into it, and policies and evaluators read them.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>

#include "actors/checkpoint/role_storage.hpp"
#include "actors/torch/tensor_codec.hpp"
#include "runtime/coroutine/condition.hpp"
#include "runtime/coroutine/task.hpp"

namespace troupe {

/// One version of a network's parameters. Nobody may write to `parameters` after `put`, because
/// copies of the weights within a process share the tensor.
struct weights {
  std::int64_t version = 0;  ///< The number of the version; later weights have a larger one.
  at::Tensor parameters;     ///< float32 [P], contiguous; P is the number of parameters
  std::string sha256;  ///< The hexadecimal SHA-256 of the parameters' bytes. `put` always sets it.
};

/// Returns weights with a copy of these parameters and of those behind them.
weights make_weights(std::int64_t version, std::span<const float> parameters,
                     std::span<const float> behind = {});
/// The parameters as numbers, which are valid as long as the weights.
std::span<const float> numbers_of(const weights& of);

/// Thrown for a version that is not kept, for weights that `put` refuses, and for a release without
/// a lease.
class weights_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The role that keeps weights: one copy of each of the newest versions and of the leased ones.
class weight_store {
 public:
  /// Holds the kept weights and their leases. Pass a storage to `serve` as an argument of the role
  /// to keep them when the replica restarts. Only one store may use a storage at a time, so a
  /// service with such an argument has one replica.
  class storage;

  /// `keep` is the number of newest versions that are kept, at least 1. `on` is the storage of the
  /// weights; null means that the store makes its own. Throws std::invalid_argument if `keep` is 0,
  /// and std::logic_error if another store uses the storage.
  explicit weight_store(std::size_t keep = 3, std::shared_ptr<storage> on = nullptr);

  /// Adds weights, whose version must be above all kept ones. Putting the newest version again with
  /// equal parameters changes nothing, so that a call whose answer was lost can be repeated. Throws
  /// weights_error for an older version, for the newest version with different parameters, for
  /// parameters that are not a contiguous float32 vector as long as those before, and for values
  /// that are not finite.
  void put(weights fresh);

  /// Returns a version. If `version` is not kept, throws weights_error, whose message lists the
  /// kept versions.
  weights get(std::int64_t version);
  /// Returns the newest version. It waits for the first one if there is none yet, until the call's
  /// deadline.
  task<weights> latest();
  /// Waits until a version of at least `version` exists, and returns the newest one. It has no time
  /// limit except the call's deadline.
  task<weights> wait_for(std::int64_t version);

  /// Keeps `version` until `release` was called for it as often as `lease`. A lease has no time
  /// limit. Throws weights_error if `version` is not kept.
  void lease(std::int64_t version);
  /// Ends one lease of `version`. Throws weights_error if `version` is not kept or not leased.
  void release(std::int64_t version);

  /// Returns the kept versions, leased ones included, in ascending order.
  std::vector<std::int64_t> versions() const;

 private:
  struct entry {
    weights kept;
    std::size_t leases = 0;
  };

  entry& find(std::int64_t version);
  void drop_old();

  std::size_t keep_;
  std::shared_ptr<storage> storage_;
  storage_claim claim_;
  std::map<std::int64_t, entry>& entries_;
  condition changed_;
};

class weight_store::storage : public role_storage {
  friend class weight_store;
  std::map<std::int64_t, entry> entries_;
};

}  // namespace troupe
