#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>

namespace troupe {

/// Counts what keeps asynchronous training on fresh data: experience is begun only if it will be
/// fresh enough when its turn to be trained on comes (Fu et al. 2025, "AReaL",
/// https://arxiv.org/abs/2505.24298, section 5.1, equation 3).
///
/// Item k is trained on in update k / batch, hence by weights of version k / batch; it may begin
/// once
///     version >= k / batch - max_staleness.
/// So an item that is trained on in its turn is never too old; one that others have overtaken may
/// be.
class admission {
 public:
  admission(std::int64_t batch, std::int64_t max_staleness)
      : batch_(batch), max_staleness_(max_staleness) {
    if (batch < 1) throw std::invalid_argument("admission: batch: expected a number > 0");
    if (max_staleness < 0) {
      throw std::invalid_argument("admission: max_staleness: expected a number >= 0");
    }
  }

  /// May another item begin, given the weights' version? Versions count from 0, one an update.
  bool open(std::int64_t version) const noexcept {
    return version >= begun_ / batch_ - max_staleness_;
  }
  /// An item begins.
  void begin() noexcept { ++begun_; }
  /// An item that had begun was lost, so its place is free.
  void lose() noexcept { --begun_; }
  /// Weights of `version` are in use, so the items of all updates before it have had their turn:
  /// also where this counter was not there to see them begin.
  void catch_up(std::int64_t version) noexcept { begun_ = std::max(begun_, version * batch_); }

  std::int64_t begun() const noexcept { return begun_; }
  void restore(std::int64_t begun) noexcept { begun_ = begun; }

 private:
  std::int64_t batch_;
  std::int64_t max_staleness_;
  std::int64_t begun_ = 0;
};

}  // namespace troupe
