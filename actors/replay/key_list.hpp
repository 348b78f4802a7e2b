#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace troupe {

/// Keys at dense places 0 .. size - 1. Erasing one moves the last into its place, so that a place
/// can be drawn at random in constant time.
class key_list {
 public:
  /// Throws std::invalid_argument, without any change, if the key is in the list.
  void add(std::uint64_t key);
  /// The place that became free, and to which the last key has moved if there was another. Throws
  /// std::out_of_range if the key is not in the list.
  std::size_t erase(std::uint64_t key);
  /// Throws std::out_of_range if the key is not in the list.
  std::size_t place(std::uint64_t key) const;

  std::uint64_t at(std::size_t place) const { return keys_[place]; }
  std::size_t size() const noexcept { return keys_.size(); }
  /// In the order of their places.
  const std::vector<std::uint64_t>& keys() const noexcept { return keys_; }

 private:
  std::vector<std::uint64_t> keys_;
  std::unordered_map<std::uint64_t, std::size_t> places_;
};

}  // namespace troupe
