#pragma once
// State that outlives the replica of a role, such as the items of a replay.

#include <atomic>
#include <stdexcept>
#include <string>

namespace troupe {

/// The base of state that a role keeps outside of itself. It is given to `serve` and outlives the
/// replica, so that a restarted replica has the state of its predecessor.
class role_storage {
  friend class storage_claim;
  std::atomic<bool> claimed_{false};
};

/// A role holds it from its constructor to its destructor, so that no other role uses its storage.
/// A replica that was abandoned because its endpoint hangs would still write to the storage once
/// the endpoint continues. So its successor can't start before it has ended, and is tried again
/// until then.
class storage_claim {
 public:
  /// Throws std::logic_error naming the role if another one has the storage.
  storage_claim(role_storage& of, const std::string& role) : of_(of) {
    if (of_.claimed_.exchange(true)) {
      throw std::logic_error(role + ": expected storage that no other replica has; one that was " +
                             "abandoned has it until the endpoint that hangs returns");
    }
  }
  ~storage_claim() { of_.claimed_ = false; }
  storage_claim(const storage_claim&) = delete;

 private:
  role_storage& of_;
};

}  // namespace troupe
