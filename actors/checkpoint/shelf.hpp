#pragma once

#include <atomic>
#include <stdexcept>
#include <string>

namespace troupe {

/// A base of what a role keeps outside of itself: given to `serve`, it outlives the replica, and
/// one that is restarted has all that the one before it had.
class shelf_base {
  friend class shelf_claim;
  std::atomic<bool> claimed_{false};
};

/// Of a role, from its beginning to its end: nobody else uses its shelf. A replica that was
/// abandoned, as an endpoint of it hangs, still writes to the shelf when that goes on: its
/// successor can't start before it has ended, and is tried again and again until then.
class shelf_claim {
 public:
  /// Throws std::logic_error naming the role where another has the shelf.
  shelf_claim(shelf_base& of, const std::string& role) : of_(of) {
    if (of_.claimed_.exchange(true)) {
      throw std::logic_error(role + ": expected a shelf that no other replica has; one that was " +
                             "abandoned has it until the endpoint that hangs returns");
    }
  }
  ~shelf_claim() { of_.claimed_ = false; }
  shelf_claim(const shelf_claim&) = delete;

 private:
  shelf_base& of_;
};

}  // namespace troupe
