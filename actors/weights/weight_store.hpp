#pragma once
// The store of weights: trainers put versions into it, and policies and evaluators take them out.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>

#include "actors/checkpoint/role_storage.hpp"
#include "actors/torch/tensor_codec.hpp"
#include "runtime/coroutine/condition.hpp"
#include "runtime/coroutine/task.hpp"

namespace troupe {

/// One version of a network's parameters. Immutable: nobody writes to `parameters` once they are
/// shared, so handing them on inside a process copies a pointer.
struct weights {
  std::int64_t version = 0;
  at::Tensor parameters;  ///< float [P], contiguous
  std::string sha256;     ///< The SHA-256 of the parameters' bytes, which the store computes.
};

/// Thrown for a version that is not kept, and for weights that may not be put.
class weights_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The role that keeps weights: one copy of each of the newest versions and of the leased ones.
class weight_store {
 public:
  /// The kept weights. If it is given to `serve`, it outlives the replica: a restarted replica has
  /// everything that its predecessor had. Only one store may use it.
  class storage;

  /// `keep` is the number of newest versions that are kept, at least 1. `on` holds the weights;
  /// null means that the store makes its own.
  explicit weight_store(std::size_t keep = 3, std::shared_ptr<storage> on = nullptr);

  /// Adds a version that is newer than all others. Putting the newest version once more changes
  /// nothing, so that a call whose answer was lost can be repeated. Throws weights_error for an
  /// older version, for other weights of the newest version, for weights that are not float [P] of
  /// the size of the first version, and for values that are not finite.
  void put(weights fresh);

  /// Returns a version. Throws weights_error naming the kept versions if `version` is not kept.
  weights get(std::int64_t version);
  /// Returns the newest version. It waits for the first one if there is none yet.
  task<weights> latest();
  /// Waits until a version of at least `version` exists, and returns the newest one.
  task<weights> wait_for(std::int64_t version);

  /// Keeps a version until it was released as often as it was leased.
  void lease(std::int64_t version);
  void release(std::int64_t version);

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
