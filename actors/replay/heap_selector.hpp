#pragma once

#include <map>
#include <unordered_map>
#include <utility>

#include "actors/replay/selector.hpp"

namespace troupe {

enum class heap_top { lowest, highest };

/// The key of the lowest or of the highest priority; of equal ones the key that came first. All in
/// O(log n).
class heap_selector final : public selector {
 public:
  explicit heap_selector(heap_top top) : sign_(top == heap_top::lowest ? 1 : -1) {}

  void erase(std::uint64_t key) override;
  std::size_t size() const override { return order_.size(); }

 private:
  using rank = std::pair<double, std::uint64_t>;  ///< sign * priority, then who came first.

  void do_insert(std::uint64_t key, double priority) override;
  void do_update(std::uint64_t key, double priority) override;
  selection do_select() override { return {order_.begin()->second, 1.0}; }
  std::vector<std::uint64_t> keys() const override;
  std::unordered_map<std::uint64_t, rank>::iterator find(std::uint64_t key);

  const double sign_;
  std::uint64_t came_ = 0;
  std::map<rank, std::uint64_t> order_;
  std::unordered_map<std::uint64_t, rank> ranks_;
};

}  // namespace troupe
