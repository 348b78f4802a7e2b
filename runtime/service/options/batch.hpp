#pragma once

#include <cstddef>
#include <exception>
#include <iterator>
#include <utility>
#include <vector>

#include "runtime/base/outcome.hpp"
#include "runtime/base/recycled.hpp"

namespace troupe {

/// Concurrent single calls as one: what a batched endpoint takes, and what it returns, item by item
/// in the same order. In a returned batch an item can be an error, which reaches that item's caller
/// alone.
template <class T>
class batch {
 public:
  batch() = default;
  explicit batch(std::vector<T> values) {
    items_.reserve(values.size());
    for (auto& value : values) items_.emplace_back(std::move(value));
  }

  std::size_t size() const noexcept { return items_.size(); }
  bool empty() const noexcept { return items_.empty(); }
  void reserve(std::size_t n) { items_.reserve(n); }

  void push_back(T value) { items_.emplace_back(std::move(value)); }
  void push_error(std::exception_ptr error) { items_.emplace_back(std::move(error)); }

  /// Item i; throws its error if it is one.
  T& operator[](std::size_t i) { return items_[i].value(); }
  const T& operator[](std::size_t i) const { return items_[i].value(); }
  /// Item i with its error, if it is one.
  outcome<T>& at(std::size_t i) { return items_.at(i); }

  class iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = T*;
    using reference = T&;

    iterator() = default;
    explicit iterator(outcome<T>* place) : place_(place) {}
    T& operator*() const { return place_->value(); }
    iterator& operator++() {
      ++place_;
      return *this;
    }
    iterator operator++(int) { return iterator(place_++); }
    bool operator==(const iterator&) const = default;

   private:
    outcome<T>* place_ = nullptr;
  };
  iterator begin() { return iterator(items_.data()); }
  iterator end() { return iterator(items_.data() + items_.size()); }

 private:
  std::vector<outcome<T>, detail::recycling_allocator<outcome<T>>> items_;
};

}  // namespace troupe
