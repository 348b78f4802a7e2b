#include "actors/environments/running_normalizer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "actors/checkpoint/state_codec.hpp"

namespace troupe {

namespace {

void check_rows(std::size_t size, std::size_t width) {
  if (width == 0 || size % width != 0)
    throw std::invalid_argument(
        fmt::format("normalizer: expected rows of {} numbers, got {} in all", width, size));
}

}  // namespace

running_moments::running_moments(std::size_t width)
    : mean_(width, 0.0), variance_(width, 0.0), batch_mean_(width), batch_variance_(width) {}

running_moments running_moments::unit(std::size_t width, double count) {
  running_moments made(width);
  made.count_ = count;
  made.variance_.assign(width, 1.0);
  return made;
}

running_moments running_moments::of(double count, std::span<const double> mean,
                                    std::span<const double> variance) {
  if (mean.size() != variance.size()) {
    throw std::invalid_argument(
        fmt::format("normalizer: expected a variance for each of {} means, got {}", mean.size(),
                    variance.size()));
  }
  running_moments made(mean.size());
  made.count_ = count;
  made.mean_.assign(mean.begin(), mean.end());
  made.variance_.assign(variance.begin(), variance.end());
  return made;
}

void running_moments::add(std::span<const float> rows) { take_in(rows); }
void running_moments::add(std::span<const double> rows) { take_in(rows); }

void running_moments::add(const running_moments& other) {
  if (other.width() != width())
    throw std::invalid_argument(
        fmt::format("normalizer: expected moments of {} columns, got {}", width(), other.width()));
  join(other.count_, other.mean_, other.variance_);
}

template <class T>
void running_moments::take_in(std::span<const T> rows) {
  const std::size_t width = mean_.size();
  check_rows(rows.size(), width);
  if (rows.empty()) return;
  const auto n = static_cast<double>(rows.size() / width);
  batch_mean_.assign(width, 0.0);
  for (std::size_t at = 0; at < rows.size(); at += width)
    for (std::size_t d = 0; d < width; ++d) batch_mean_[d] += double{rows[at + d]};
  for (std::size_t d = 0; d < width; ++d) {
    batch_mean_[d] /= n;
    if (!std::isfinite(batch_mean_[d]))
      throw std::invalid_argument(fmt::format(
          "normalizer: expected finite rows, got {} as the mean of column {}", batch_mean_[d], d));
  }
  batch_variance_.assign(width, 0.0);
  for (std::size_t at = 0; at < rows.size(); at += width)
    for (std::size_t d = 0; d < width; ++d) {
      const double off = double{rows[at + d]} - batch_mean_[d];
      batch_variance_[d] += off * off;
    }
  for (auto& squares : batch_variance_) squares /= n;
  join(n, batch_mean_, batch_variance_);
}

// M2 = M2_a + M2_b + delta^2 * n_a * n_b / (n_a + n_b), and variance = M2 / n.
void running_moments::join(double count, std::span<const double> mean,
                           std::span<const double> variance) {
  if (count == 0) return;
  const double total = count_ + count;
  for (std::size_t d = 0; d < mean_.size(); ++d) {
    const double delta = mean[d] - mean_[d];
    const double sum_of_squares =
        variance_[d] * count_ + variance[d] * count + delta * delta * count_ * count / total;
    mean_[d] += delta * count / total;
    variance_[d] = sum_of_squares / total;
  }
  count_ = total;
}

std::string running_moments::state() const { return state_bytes(*this); }

running_moments running_moments::of_state(std::string_view bytes) {
  auto made = state_of<running_moments>(bytes);
  if (made.mean_.size() != made.variance_.size())
    throw state_error(fmt::format("normalizer: expected a variance for each of {} means, got {}",
                                  made.mean_.size(), made.variance_.size()));
  return made;
}

running_normalizer::running_normalizer(std::size_t width, normalizer_options options)
    : options_(options),
      moments_(running_moments::unit(width, 1e-4)),
      shift_(width),
      scale_(width) {
  if (width == 0) throw std::invalid_argument("normalizer: expected a width >= 1, got 0");
  if (!(options.clip > 0))
    throw std::invalid_argument(
        fmt::format("normalizer: expected a clip > 0, got {}", options.clip));
  if (!(options.epsilon > 0))
    throw std::invalid_argument(
        fmt::format("normalizer: expected an epsilon > 0, got {}", options.epsilon));
  set_scale();
}

void running_normalizer::update(std::span<const float> rows) { take_in(rows); }
void running_normalizer::update(std::span<const double> rows) { take_in(rows); }
void running_normalizer::update(const running_moments& rows) { take_in(rows); }
void running_normalizer::apply(std::span<float> rows) const { normalize(rows); }
void running_normalizer::apply(std::span<double> rows) const { normalize(rows); }

template <class Rows>
void running_normalizer::take_in(const Rows& rows) {
  if (!training_) return;
  moments_.add(rows);
  set_scale();
}

template <class T>
void running_normalizer::normalize(std::span<T> rows) const {
  const std::size_t width = moments_.width();
  check_rows(rows.size(), width);
  for (std::size_t at = 0; at < rows.size(); at += width)
    for (std::size_t d = 0; d < width; ++d) {
      const double scaled = (double{rows[at + d]} - shift_[d]) / scale_[d];
      rows[at + d] = static_cast<T>(std::clamp(scaled, -options_.clip, options_.clip));
    }
}

void running_normalizer::set_scale() {
  for (std::size_t d = 0; d < moments_.width(); ++d) {
    shift_[d] = options_.centre ? moments_.mean()[d] : 0.0;
    scale_[d] = std::sqrt(moments_.variance()[d] + options_.epsilon);
  }
}

std::string running_normalizer::state() const { return moments_.state(); }

void running_normalizer::set_state(std::string_view bytes) {
  auto moments = running_moments::of_state(bytes);
  if (moments.width() != width())
    throw state_error(fmt::format("normalizer: expected statistics of {} columns, got those of {}",
                                  width(), moments.width()));
  moments_ = std::move(moments);
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

namespace {

struct discounted_state {
  std::vector<double> sums;
  std::vector<std::uint8_t> restart;
};

}  // namespace

std::string discounted_returns::state() const {
  return state_bytes(discounted_state{sums_, restart_});
}

void discounted_returns::set_state(std::string_view bytes) {
  auto [sums, restart] = state_of<discounted_state>(bytes);
  if (sums.size() != sums_.size() || restart.size() != sums_.size())
    throw state_error(
        fmt::format("discounted returns: expected the state of {} environments, got that of {}",
                    sums_.size(), sums.size()));
  sums_ = std::move(sums);
  restart_ = std::move(restart);
}

}  // namespace troupe
