#pragma once

#include "actors/replay/key_list.hpp"
#include "actors/replay/selector.hpp"

namespace troupe {

/// Each key with the same probability, drawn with replacement. All in O(1).
class uniform_selector final : public selector {
 public:
  explicit uniform_selector(std::uint64_t seed) : selector(seed) {}

  void erase(std::uint64_t key) override { keys_.erase(key); }
  std::size_t size() const override { return keys_.size(); }

 private:
  void do_insert(std::uint64_t key, double priority) override;
  void do_update(std::uint64_t key, double priority) override;
  selection do_select() override;
  std::vector<std::uint64_t> keys() const override { return keys_.keys(); }

  key_list keys_;
};

}  // namespace troupe
