#include "actors/env/running_normalizer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "actors/checkpoint/state.hpp"

namespace troupe {

running_normalizer::running_normalizer(std::size_t width, normalizer_options options)
    : options_(options),
      mean_(width, 0.0),
      variance_(width, 1.0),
      shift_(width),
      scale_(width),
      batch_mean_(width),
      batch_variance_(width) {
  if (width == 0) throw std::invalid_argument("normalizer: expected a width >= 1, got 0");
  if (!(options.clip > 0))
    throw std::invalid_argument(
        fmt::format("normalizer: expected a clip > 0, got {}", options.clip));
  if (!(options.epsilon > 0))
    throw std::invalid_argument(
        fmt::format("normalizer: expected an epsilon > 0, got {}", options.epsilon));
  set_scale();
}

void running_normalizer::update(std::span<const float> rows) {
  lone_rank alone;
  take_in(rows, alone);
}
void running_normalizer::update(std::span<const double> rows) {
  lone_rank alone;
  take_in(rows, alone);
}
void running_normalizer::update(std::span<const float> rows, collective& ranks) {
  take_in(rows, ranks);
}
void running_normalizer::update(std::span<const double> rows, collective& ranks) {
  take_in(rows, ranks);
}
void running_normalizer::apply(std::span<float> rows) const { normalize(rows); }
void running_normalizer::apply(std::span<double> rows) const { normalize(rows); }

template <class T>
void running_normalizer::take_in(std::span<const T> rows, collective& ranks) {
  check_rows(rows.size());
  if (!training_) return;
  const std::size_t width = mean_.size();
  auto n = static_cast<double>(rows.size() / width);
  ranks.sum(std::span<double>(&n, 1));
  if (n == 0) return;

  std::fill(batch_mean_.begin(), batch_mean_.end(), 0.0);
  for (std::size_t at = 0; at < rows.size(); at += width)
    for (std::size_t d = 0; d < width; ++d) batch_mean_[d] += double{rows[at + d]};
  ranks.sum(std::span<double>(batch_mean_));
  for (std::size_t d = 0; d < width; ++d) {
    batch_mean_[d] /= n;
    if (!std::isfinite(batch_mean_[d]))
      throw std::invalid_argument(fmt::format(
          "normalizer: expected finite rows, got {} as the mean of column {}", batch_mean_[d], d));
  }
  std::fill(batch_variance_.begin(), batch_variance_.end(), 0.0);
  for (std::size_t at = 0; at < rows.size(); at += width)
    for (std::size_t d = 0; d < width; ++d) {
      const double off = double{rows[at + d]} - batch_mean_[d];
      batch_variance_[d] += off * off;
    }
  ranks.sum(std::span<double>(batch_variance_));

  // M2 = M2_a + M2_b + delta^2 * n_a * n_b / (n_a + n_b), and variance = M2 / n.
  const double total = count_ + n;
  for (std::size_t d = 0; d < width; ++d) {
    const double delta = batch_mean_[d] - mean_[d];
    const double sum_of_squares =
        variance_[d] * count_ + batch_variance_[d] + delta * delta * count_ * n / total;
    mean_[d] += delta * n / total;
    variance_[d] = sum_of_squares / total;
  }
  count_ = total;
  set_scale();
}

template <class T>
void running_normalizer::normalize(std::span<T> rows) const {
  check_rows(rows.size());
  const std::size_t width = mean_.size();
  for (std::size_t at = 0; at < rows.size(); at += width)
    for (std::size_t d = 0; d < width; ++d) {
      const double scaled = (double{rows[at + d]} - shift_[d]) / scale_[d];
      rows[at + d] = static_cast<T>(std::clamp(scaled, -options_.clip, options_.clip));
    }
}

void running_normalizer::check_rows(std::size_t size) const {
  if (size % mean_.size() != 0)
    throw std::invalid_argument(
        fmt::format("normalizer: expected rows of {} numbers, got {} in all", mean_.size(), size));
}

void running_normalizer::set_scale() {
  for (std::size_t d = 0; d < mean_.size(); ++d) {
    shift_[d] = options_.centre ? mean_[d] : 0.0;
    scale_[d] = std::sqrt(variance_[d] + options_.epsilon);
  }
}

std::string running_normalizer::state() const {
  state_writer to;
  to.put("count", count_);
  to.put("mean", mean_);
  to.put("variance", variance_);
  return to.bytes();
}

void running_normalizer::set_state(std::string_view bytes) {
  const state_reader from(bytes);
  auto mean = from.get<std::vector<double>>("mean");
  auto variance = from.get<std::vector<double>>("variance");
  const auto count = from.get<double>("count");
  if (mean.size() != mean_.size() || variance.size() != mean_.size())
    throw state_error(fmt::format("normalizer: expected statistics of {} columns, got those of {}",
                                  mean_.size(), mean.size()));
  mean_ = std::move(mean);
  variance_ = std::move(variance);
  count_ = count;
  set_scale();
}

discounted_returns::discounted_returns(std::size_t environments, double gamma)
    : gamma_(gamma), sums_(environments, 0.0), restart_(environments, 1) {
  if (!(gamma >= 0 && gamma <= 1))
    throw std::invalid_argument(
        fmt::format("discounted returns: expected a gamma in [0, 1], got {}", gamma));
}

void discounted_returns::step(std::span<const double> reward,
                              std::span<const std::uint8_t> terminated,
                              std::span<const std::uint8_t> truncated) {
  if (reward.size() != sums_.size() || terminated.size() != sums_.size() ||
      truncated.size() != sums_.size())
    throw std::invalid_argument(fmt::format(
        "discounted returns: expected a step of {} environments, got {} rewards, {} and "
        "{} flags",
        sums_.size(), reward.size(), terminated.size(), truncated.size()));
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    sums_[i] = restart_[i] ? reward[i] : gamma_ * sums_[i] + reward[i];
    restart_[i] = terminated[i] || truncated[i];
  }
}

void discounted_returns::restart(std::size_t i) { restart_[i] = 1; }

std::string discounted_returns::state() const {
  state_writer to;
  to.put("sums", sums_);
  to.put("restart", restart_);
  return to.bytes();
}

void discounted_returns::set_state(std::string_view bytes) {
  const state_reader from(bytes);
  auto sums = from.get<std::vector<double>>("sums");
  auto restart = from.get<std::vector<std::uint8_t>>("restart");
  if (sums.size() != sums_.size() || restart.size() != sums_.size())
    throw state_error(
        fmt::format("discounted returns: expected the state of {} environments, got that of {}",
                    sums_.size(), sums.size()));
  sums_ = std::move(sums);
  restart_ = std::move(restart);
}

}  // namespace troupe
