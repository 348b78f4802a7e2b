#include "actors/replay/rate_limiter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "actors/checkpoint/state.hpp"

namespace troupe {
namespace {

void check(const rate_limiter_options& o) {
  if (!(o.samples_per_insert > 0 && std::isfinite(o.samples_per_insert))) {
    throw std::invalid_argument(
        fmt::format("rate limiter: samples_per_insert: expected a finite number > 0, got {}",
                    o.samples_per_insert));
  }
  if (o.min_size_to_sample < 1) {
    throw std::invalid_argument(fmt::format(
        "rate limiter: min_size_to_sample: expected a number >= 1, got {}", o.min_size_to_sample));
  }
  if (!(o.min_diff <= o.max_diff)) {
    throw std::invalid_argument(fmt::format(
        "rate limiter: max_diff: expected at least min_diff ({}), got {}", o.min_diff, o.max_diff));
  }
}

}  // namespace

rate_limiter_options rate_limiter_options::min_size(std::int64_t size) {
  const rate_limiter_options made{.min_size_to_sample = size};
  check(made);
  return made;
}

rate_limiter_options rate_limiter_options::sample_to_insert_ratio(double samples_per_insert,
                                                                  std::int64_t min_size,
                                                                  double error_buffer) {
  const auto least = std::max(1.0, samples_per_insert);
  if (!(error_buffer >= least)) {
    throw std::invalid_argument(fmt::format(
        "rate limiter: error_buffer: expected at least max(1, samples_per_insert) = {}, got {}",
        least, error_buffer));
  }
  const auto centre = static_cast<double>(min_size) * samples_per_insert;
  return sample_to_insert_ratio(samples_per_insert, min_size, centre - error_buffer,
                                centre + error_buffer);
}

rate_limiter_options rate_limiter_options::sample_to_insert_ratio(double samples_per_insert,
                                                                  std::int64_t min_size,
                                                                  double min_diff,
                                                                  double max_diff) {
  const rate_limiter_options made{.samples_per_insert = samples_per_insert,
                                  .min_size_to_sample = min_size,
                                  .min_diff = min_diff,
                                  .max_diff = max_diff};
  check(made);
  const auto least = 2 * std::max(1.0, samples_per_insert);
  if (!(max_diff - min_diff >= least)) {
    throw std::invalid_argument(
        fmt::format("rate limiter: max_diff - min_diff: expected at least "
                    "2 max(1, samples_per_insert) = {}, got {}",
                    least, max_diff - min_diff));
  }
  const auto centre = static_cast<double>(min_size) * samples_per_insert;
  if (!(min_diff <= centre && centre <= max_diff)) {
    throw std::invalid_argument(
        fmt::format("rate limiter: min_diff, max_diff: expected min_size * samples_per_insert = {} "
                    "between them, got {} and {}",
                    centre, min_diff, max_diff));
  }
  return made;
}

rate_limiter_options rate_limiter_options::queue(std::int64_t size) {
  if (size < 1) {
    throw std::invalid_argument(
        fmt::format("rate limiter: queue size: expected a number >= 1, got {}", size));
  }
  return {.min_diff = 0, .max_diff = static_cast<double>(size)};
}

rate_limiter::rate_limiter(const rate_limiter_options& options) : options_(options) {
  check(options);
}

bool rate_limiter::may_sample(std::int64_t count) const {
  return size() >= options_.min_size_to_sample &&
         diff() - static_cast<double>(count) >= options_.min_diff;
}

bool rate_limiter::may_insert(std::int64_t available) const {
  if (size() + 1 <= options_.min_size_to_sample) return true;
  const auto outstanding =
      available == without_end ? diff() : std::min(diff(), static_cast<double>(available));
  return outstanding + options_.samples_per_insert <= options_.max_diff;
}

bool rate_limiter::fits(std::int64_t count) const {
  const auto free = static_cast<double>(options_.min_size_to_sample) * options_.samples_per_insert;
  return static_cast<double>(count) <= std::max(options_.max_diff, free) - options_.min_diff;
}

double rate_limiter::diff() const noexcept {
  return static_cast<double>(inserts_) * options_.samples_per_insert -
         static_cast<double>(samples_);
}

std::string rate_limiter::describe() const {
  return fmt::format(
      "{} inserts * {} samples_per_insert - {} samples = {}, min_diff {}, max_diff {}", inserts_,
      options_.samples_per_insert, samples_, diff(), options_.min_diff, options_.max_diff);
}

void rate_limiter::save(state_writer& to) const {
  to.put("limiter_options", std::vector<double>{options_.samples_per_insert,
                                                static_cast<double>(options_.min_size_to_sample),
                                                options_.min_diff, options_.max_diff});
  to.put("limiter_inserts", inserts_);
  to.put("limiter_samples", samples_);
  to.put("limiter_deletes", deletes_);
}

void rate_limiter::restore(const state_reader& from) {
  const auto inserts = from.get<std::int64_t>("limiter_inserts");
  const auto samples = from.get<std::int64_t>("limiter_samples");
  const auto deletes = from.get<std::int64_t>("limiter_deletes");
  const auto before = from.get<std::vector<double>>("limiter_options");
  const bool is_countable = inserts <= restored_max && samples <= restored_max;
  if (before.size() != 4 || samples < 0 || deletes < 0 || deletes > inserts || !is_countable) {
    throw state_error(fmt::format(
        "saved state: limiter: expected 4 options, inserts >= deletes >= 0 and at most {} of each, "
        "got {} options, {} inserts, {} deletes and {} samples",
        restored_max, before.size(), inserts, deletes, samples));
  }
  const std::vector<double> now{options_.samples_per_insert,
                                static_cast<double>(options_.min_size_to_sample), options_.min_diff,
                                options_.max_diff};
  inserts_ = inserts;
  samples_ = samples;
  deletes_ = deletes;
  if (before == now) return;
  inserts_ -= deletes;
  deletes_ = samples_ = 0;
  if (diff() > options_.max_diff) {
    const auto above = std::ceil(diff() - options_.max_diff);
    samples_ = static_cast<std::int64_t>(std::min(above, static_cast<double>(restored_max)));
  }
}

}  // namespace troupe
