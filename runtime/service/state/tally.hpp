#pragma once
// Counts that one thread writes and any thread reads.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace troupe::detail {

/// Histogram bounds in seconds, for durations and waits of calls.
inline constexpr std::array<double, 16> duration_bounds = {
    1e-6, 5e-6, 2.5e-5, 1e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 1e-2, 2.5e-2, .1, .25, .5, 1, 5, 30};
/// Histogram bounds in calls, for batches.
inline constexpr std::array<double, 10> batch_bounds = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512};

/// Counts that one thread writes and any thread reads, with plain stores and no locked instruction.
template <std::size_t N>
struct tally {
  std::array<std::atomic<std::uint64_t>, N + 1> buckets{};
  std::atomic<double> sum{0};

  void add(double value, const std::array<double, N>& bounds) noexcept {
    std::size_t i = 0;
    while (i < N && value > bounds[i]) ++i;
    buckets[i].store(buckets[i].load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    sum.store(sum.load(std::memory_order_relaxed) + value, std::memory_order_relaxed);
  }
  void add(const tally& other) noexcept {
    for (std::size_t i = 0; i <= N; ++i) buckets[i] += other.buckets[i].load();
    sum.store(sum.load() + other.sum.load());
  }
};

/// The counts of one endpoint at one replica.
struct endpoint_tally {
  tally<duration_bounds.size()> duration;
  tally<duration_bounds.size()> queue_wait;
  std::atomic<std::uint64_t> threw{0};
};

inline constexpr std::size_t max_endpoints =
    16;  ///< Told apart in metrics; the last row is "other".

}  // namespace troupe::detail
