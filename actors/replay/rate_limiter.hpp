#pragma once

#include <cstdint>
#include <limits>
#include <string>

namespace troupe {

class state_reader;
class state_writer;

/// How often entries are sampled for each one inserted, and by how far either side may run ahead.
/// After Reverb's rate limiter (Cassirer et al. 2021, https://arxiv.org/abs/2102.04736,
/// section 3.3). Counts entries: a group counts as one.
struct rate_limiter_options {
  double samples_per_insert = 1;
  std::int64_t min_size_to_sample = 1;  ///< Below it nothing is sampled and inserts are free.
  /// Bounds of diff = inserts * samples_per_insert - samples: a sample may not take it below
  /// min_diff, an insert not above max_diff.
  double min_diff = -std::numeric_limits<double>::infinity();
  double max_diff = std::numeric_limits<double>::infinity();

  bool operator==(const rate_limiter_options&) const = default;

  /// Samples wait for `size` entries; nothing else is limited.
  static rate_limiter_options min_size(std::int64_t size);
  /// diff stays within `error_buffer` of min_size * samples_per_insert. Throws
  /// std::invalid_argument if that is too narrow for a whole insert and a whole sample:
  /// error_buffer < max(1, samples_per_insert).
  static rate_limiter_options sample_to_insert_ratio(double samples_per_insert,
                                                     std::int64_t min_size, double error_buffer);
  /// The same with both bounds given. Throws std::invalid_argument if they are less than
  /// 2 max(1, samples_per_insert) apart or min_size * samples_per_insert is not between them.
  static rate_limiter_options sample_to_insert_ratio(double samples_per_insert,
                                                     std::int64_t min_size, double min_diff,
                                                     double max_diff);
  /// For a table whose entries are sampled once: inserts wait while `size` entries are there. With
  /// a LIFO sampler it is a stack.
  static rate_limiter_options queue(std::int64_t size);
};

/// Counts inserts and samples and says which may go on. Decides nothing else: who must wait waits
/// elsewhere.
class rate_limiter {
 public:
  static constexpr auto without_end = std::numeric_limits<std::int64_t>::max();
  /// Of any count that a saved state may have: nobody counts so far, and what comes later has room.
  static constexpr auto restored_max = std::int64_t{1} << 62;

  /// Throws std::invalid_argument naming the option.
  explicit rate_limiter(const rate_limiter_options& options);

  /// Whether `count` samples may be taken: enough entries are there, and diff - count >= min_diff.
  bool may_sample(std::int64_t count = 1) const;
  /// Whether one entry may be inserted: no more than min_size_to_sample would be there, or
  /// diff + samples_per_insert <= max_diff. `available`: the samples that the entries there can
  /// still give. Where that is less than diff it counts instead: entries that went unsampled, too
  /// stale, would otherwise hold up inserts for ever.
  bool may_insert(std::int64_t available = without_end) const;
  /// Whether `count` samples fit between the bounds. If not, there is no waiting for them.
  bool fits(std::int64_t count) const;

  void inserted() noexcept { ++inserts_; }
  void sampled() noexcept { ++samples_; }
  void removed() noexcept { ++deletes_; }

  std::int64_t size() const noexcept { return inserts_ - deletes_; }
  double diff() const noexcept;
  const rate_limiter_options& options() const noexcept { return options_; }
  /// "10 inserts * 2 samples_per_insert - 18 samples = 2, min_diff 0, max_diff 8".
  std::string describe() const;

  /// Under names that begin with "limiter".
  void save(state_writer& to) const;
  /// Continues where `save` was. If the options are others than then, the old counts could forbid
  /// both inserts and samples for ever: counting begins anew with the entries that are there, and
  /// diff as far within its bounds as samples alone can bring it. Throws state_error.
  void restore(const state_reader& from);

 private:
  rate_limiter_options options_;
  std::int64_t inserts_ = 0;
  std::int64_t samples_ = 0;
  std::int64_t deletes_ = 0;
};

}  // namespace troupe
