#pragma once

#include <list>
#include <unordered_map>

#include "actors/replay/selector.hpp"

namespace troupe {

enum class arrival { first, last };

/// The key that came first (FIFO) or last (LIFO) of those that are there. All in O(1).
class arrival_selector final : public selector {
 public:
  explicit arrival_selector(arrival which) : which_(which) {}

  void erase(std::uint64_t key) override;
  std::size_t size() const override { return order_.size(); }

 private:
  void do_insert(std::uint64_t key, double priority) override;
  void do_update(std::uint64_t key, double priority) override;
  selection do_select() override;
  std::vector<std::uint64_t> keys() const override { return {order_.begin(), order_.end()}; }
  std::list<std::uint64_t>::iterator find(std::uint64_t key) const;

  const arrival which_;
  std::list<std::uint64_t> order_;  ///< First come first.
  std::unordered_map<std::uint64_t, std::list<std::uint64_t>::iterator> places_;
};

}  // namespace troupe
