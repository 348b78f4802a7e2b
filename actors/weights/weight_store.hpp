#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>

#include "actors/checkpoint/shelf.hpp"
#include "actors/torch/tensor_codec.hpp"
#include "runtime/coroutine/condition.hpp"
#include "runtime/coroutine/task.hpp"

namespace troupe {

/// One version of a network's parameters. Immutable: nobody writes to `parameters` once they are
/// shared, so handing them on inside a process copies a pointer.
struct weights {
  std::int64_t version = 0;
  at::Tensor parameters;  ///< float [P], contiguous
  std::string sha256;     ///< Of the parameters' bytes; filled in by the store.
};

/// A version that is not kept, or one that may not be put.
class weights_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The role that keeps weights: every version once, the newest few and those on lease.
class weight_store {
 public:
  /// What is kept. Given to `serve`, it outlives the replica: one that is restarted has all that
  /// the one before it had. For one store.
  class shelf;

  /// `keep`: how many of the newest versions stay; at least 1. `on`: null: a shelf of its own.
  explicit weight_store(std::size_t keep = 3, std::shared_ptr<shelf> on = nullptr);

  /// Keeps a newer version than any before; the newest once more changes nothing, so that a call
  /// whose answer was lost can be repeated. Throws weights_error for an older one, for other
  /// weights of the same version, for weights that are not float [P] of the size of the first
  /// version, and for values that are not finite.
  void put(weights fresh);

  /// Throws weights_error naming the versions that are kept, if `version` isn't.
  weights get(std::int64_t version);
  /// Waits for the first version, if there is none yet.
  task<weights> latest();
  /// Waits until there is a version that is at least `version`, and returns the newest.
  task<weights> wait_for(std::int64_t version);

  /// Keeps a version until it has been released as often as it was leased.
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
  std::shared_ptr<shelf> shelf_;
  shelf_claim claim_;
  std::map<std::int64_t, entry>& entries_;
  condition changed_;
};

class weight_store::shelf : public shelf_base {
  friend class weight_store;
  std::map<std::int64_t, entry> entries_;
};

}  // namespace troupe
