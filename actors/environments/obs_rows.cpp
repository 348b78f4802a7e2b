#include "actors/environments/obs_rows.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace troupe::detail {
namespace {

// The number of spare floats behind the last row, for an environment that writes past its end.
constexpr std::size_t margin = 64;

}  // namespace

obs_rows::obs_rows(std::size_t count, std::size_t width, recycled_vector<float> reused)
    : count_(count), width_(width), floats_(std::move(reused)) {
  floats_.assign(count * width + margin, unwritten);
}

std::pair<env_failure_reason, std::string> obs_rows::fault(std::size_t i) const {
  const float* row = floats_.data() + i * width_;
  const auto missing = std::find_if(row, row + width_, is_unwritten) - row;
  if (static_cast<std::size_t>(missing) != width_)
    return {env_failure_reason::shape,
            fmt::format("expected an observation of {} floats, got none for element {}", width_,
                        missing)};
  if (!is_unwritten(row[width_]))
    return {env_failure_reason::shape,
            fmt::format("expected an observation of {} floats, got more", width_)};
  const auto bad = std::find_if(row, row + width_, [](float f) { return !std::isfinite(f); });
  return {env_failure_reason::nonfinite,
          fmt::format("expected a finite observation, got {} as element {}", *bad, bad - row)};
}

void obs_rows::clear(std::size_t i) {
  const auto end = i * width_ + (is_unwritten(floats_[(i + 1) * width_]) ? width_ : floats_.size());
  std::fill(floats_.begin() + static_cast<std::ptrdiff_t>(i * width_),
            floats_.begin() + static_cast<std::ptrdiff_t>(std::min(end, floats_.size())),
            unwritten);
}

recycled_vector<float> obs_rows::take() && {
  floats_.resize(count_ * width_);
  return std::move(floats_);
}

}  // namespace troupe::detail
