#pragma once

#include "actors/replay/key_list.hpp"
#include "actors/replay/selector.hpp"
#include "actors/replay/sum_tree.hpp"

namespace troupe {

/// A key with probability P(i) = p_i^alpha / sum_k p_k^alpha, drawn with replacement: Schaul et al.
/// 2016, https://arxiv.org/abs/1511.05952, equation 1. Priority 0 is never drawn, also where alpha
/// is 0; if all are 0 the draw is uniform, as Reverb does. All in O(log n).
class prioritised_selector final : public selector {
 public:
  /// Throws std::invalid_argument if the exponent is negative, infinite or no number.
  prioritised_selector(double exponent, std::uint64_t seed);

  void erase(std::uint64_t key) override;
  std::size_t size() const override { return keys_.size(); }

 private:
  void do_insert(std::uint64_t key, double priority) override;
  void do_update(std::uint64_t key, double priority) override;
  selection do_select() override;
  std::vector<std::uint64_t> keys() const override { return keys_.keys(); }
  double weight_of(double priority) const;

  const double exponent_;
  key_list keys_;
  sum_tree weights_;  ///< priority^exponent at each key's place.
};

}  // namespace troupe
