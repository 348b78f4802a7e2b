#pragma once
// Small numbers by which callers find what they know of a service.

#include <cstddef>
#include <mutex>
#include <set>

namespace troupe::detail {

/// Numbers services so that callers can keep their views of them in a list. May be used on any
/// thread.
class service_places {
 public:
  /// Returns the lowest number that is not in use, so that callers' lists stay short.
  std::size_t take();
  void give_back(std::size_t place);

 private:
  std::mutex mutex_;
  std::set<std::size_t> free_;  ///< The free numbers below taken_.
  std::size_t taken_ = 0;       ///< The number of places ever taken.
};

}  // namespace troupe::detail
