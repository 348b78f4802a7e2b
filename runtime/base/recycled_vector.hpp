#pragma once
// A vector whose memory is recycled. Messages that carry arrays with every call use it.

#include <vector>

#include "runtime/base/recycled.hpp"

namespace troupe {

/// A vector for messages. Its memory is recycled, so calls that carry it allocate nothing in steady
/// state. It converts from and to std::vector by copying the items.
template <class T>
class recycled_vector : public std::vector<T, detail::recycling_allocator<T>> {
  using base = std::vector<T, detail::recycling_allocator<T>>;

 public:
  using base::base;
  recycled_vector() = default;
  recycled_vector(const std::vector<T>& items) : base(items.begin(), items.end()) {}

  operator std::vector<T>() const { return {this->begin(), this->end()}; }

  friend bool operator==(const recycled_vector& a, const recycled_vector& b) {
    return static_cast<const base&>(a) == static_cast<const base&>(b);
  }
  friend bool operator==(const recycled_vector& a, const std::vector<T>& b) {
    return a == recycled_vector(b);
  }
};

}  // namespace troupe
