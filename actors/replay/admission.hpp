#pragma once
// Admission control of asynchronous training. The replays use it.

#include <algorithm>
#include <cstdint>
#include <stdexcept>

namespace troupe {

/// Keeps asynchronous training on fresh data: an item may begin only if it will be fresh enough
/// when it is trained on (Fu et al. 2025, "AReaL", https://arxiv.org/abs/2505.24298, section 5.1,
/// equation 3).
///
/// Item k is trained on in update k / batch, hence by weights of version k / batch. It may begin
/// once
///     version >= k / batch - max_staleness.
/// So an item that is trained on in its turn is never too old. An item that others have overtaken
/// may be.
class admission {
 public:
  /// `batch` is the number of items of one update, at least 1. `max_staleness` is the number of
  /// versions that an item may be behind the weights that it trains, at least 0. Throws
  /// std::invalid_argument.
  admission(std::int64_t batch, std::int64_t max_staleness)
      : batch_(batch), max_staleness_(max_staleness) {
    if (batch < 1) throw std::invalid_argument("admission: batch: expected a number > 0");
    if (max_staleness < 0) {
      throw std::invalid_argument("admission: max_staleness: expected a number >= 0");
    }
  }

  /// Returns true if another item may begin while the weights have this version. Versions count
  /// updates, from 0.
  bool open(std::int64_t version) const noexcept {
    return version >= begun_ / batch_ - max_staleness_;
  }
  /// Counts an item that begins.
  void begin() noexcept { ++begun_; }
  /// Frees the place of an item that had begun and was lost.
  void lose() noexcept { --begun_; }
  /// Says that weights of `version` are in use. The items of all earlier updates then count as
  /// begun, even if this counter did not see them begin.
  void catch_up(std::int64_t version) noexcept { begun_ = std::max(begun_, version * batch_); }

  std::int64_t begun() const noexcept { return begun_; }
  void restore(std::int64_t begun) noexcept { begun_ = begun; }

 private:
  std::int64_t batch_;
  std::int64_t max_staleness_;
  std::int64_t begun_ = 0;
};

}  // namespace troupe
