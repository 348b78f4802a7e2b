#pragma once
// Small numbers by which callers find what they know of a service.

#include <cstddef>
#include <mutex>
#include <set>

namespace troupe::detail {

/// Gives services the places where callers keep what they know of them. Any thread.
class service_places {
 public:
  /// The lowest that nobody has: so callers' lists are as long as there are services at a time.
  std::size_t take();
  void give_back(std::size_t place);

 private:
  std::mutex mutex_;
  std::set<std::size_t> free_;  ///< Below taken_.
  std::size_t taken_ = 0;       ///< Places ever taken.
};

}  // namespace troupe::detail
