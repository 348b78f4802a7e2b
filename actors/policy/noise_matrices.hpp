#pragma once
// The noise matrices that the policy role uses with use_sde.

#include <cstdint>
#include <deque>
#include <vector>

#include "actors/random/action_random.hpp"

namespace troupe::detail {

/// The matrices of standard normals that belong to seeds, for state_dependent_noise. They are drawn
/// when they are first needed and kept for a while, because a rollout asks for the same ones step
/// by step. A matrix that was forgotten is drawn again with the same numbers.
class noise_matrices {
 public:
  /// `size` is the count of numbers in one matrix.
  explicit noise_matrices(std::size_t size) : size_(size) {}

  /// Appends pointers to the first `rows` matrices of `seed`, [size] each. They stay valid until
  /// the next call of `forget`.
  void append(std::uint64_t seed, int rows, std::vector<const float*>& to) {
    const float* matrix = of(seed, static_cast<std::size_t>(rows) * size_).data();
    for (int row = 0; row < rows; ++row, matrix += size_) to.push_back(matrix);
  }

  /// Forgets the oldest matrices until at most `seeds_max` seeds and `numbers_max` numbers are
  /// left.
  void forget() {
    while (kept_.size() > seeds_max || numbers_ > numbers_max) {
      numbers_ -= kept_.front().normals.size();
      kept_.pop_front();
    }
  }

 private:
  static constexpr std::size_t seeds_max = 64;
  static constexpr std::size_t numbers_max = std::size_t{1} << 22;  // 16 MiB

  struct drawn {
    std::uint64_t seed = 0;
    std::vector<float> normals;
  };

  const std::vector<float>& of(std::uint64_t seed, std::size_t count) {
    for (auto one = kept_.rbegin(); one != kept_.rend(); ++one) {
      if (one->seed == seed && one->normals.size() >= count) return one->normals;
    }
    auto& fresh = kept_.emplace_back(seed, std::vector<float>(count)).normals;
    action_random(seed).fill_normal(fresh);
    numbers_ += count;
    return fresh;
  }

  std::size_t size_;
  std::size_t numbers_ = 0;
  std::deque<drawn> kept_;  // the newest last
};

}  // namespace troupe::detail
