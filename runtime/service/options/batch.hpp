#pragma once

#include <cstddef>
#include <exception>
#include <iterator>
#include <utility>
#include <vector>

#include "runtime/base/outcome.hpp"
#include "runtime/base/recycled.hpp"

namespace troupe {

/// Several concurrent calls gathered into one. A batched endpoint takes a batch of arguments and
/// returns a batch of results, item by item in the same order. An item of a returned batch can be
/// an error, which only that item's caller gets.
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

  /// Returns item i. Throws the item's error if it is one.
  T& operator[](std::size_t i) { return items_[i].value(); }
  const T& operator[](std::size_t i) const { return items_[i].value(); }
  /// Returns item i as an outcome, which can be an error.
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
