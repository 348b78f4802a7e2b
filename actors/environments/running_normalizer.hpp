#pragma once
// Observations and rewards brought to one scale by statistics of all that was seen, as
// Stable-Baselines3's VecNormalize does. D: floats of a row, N: rows.
//
// The statistics belong to the run, not to an environment: environments are replicated, and what a
// network was trained on must be in the checkpoint and the model file beside its weights.
//
//   observations  Environments give raw ones. Who collects a rollout adds each step's rows to the
//                 statistics, then normalises the rows, then acts on them: what is stored is what
//                 was acted on. What each rollout has added goes to whoever trains, and the joined
//                 statistics are part of the next weights (see
//                 algorithms/on_policy/rollout_normalizer.hpp and obs_scale.hpp).
//                 Off-policy the replay has the statistics, stores raw rows and normalises them
//                 when they are drawn.
//   rewards       `discounted_returns` stands where the steps are taken, one sum for each
//                 environment; a normalizer of width 1 that doesn't centre is updated with its sums
//                 and applied to the rewards.
//   evaluation    Observations alone, by the statistics in the weights: returns are reported
//                 unscaled.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace troupe {

/// Stable-Baselines3's defaults for observations; for rewards `centre` is false.
struct normalizer_options {
  double clip = 10;       ///< Results lie in [-clip, clip]; > 0.
  double epsilon = 1e-8;  ///< Added to the variance; > 0.
  bool centre = true;     ///< Subtract the mean.
};

/// Count, mean and variance of each of D columns, in double precision: of rows, and of other
/// moments, which are joined by Chan, Golub and LeVeque 1983,
/// https://doi.org/10.1080/00031305.1983.10483115, equation 2.1.
class running_moments {
 public:
  /// Of no columns: nothing can be added to it.
  running_moments() = default;
  /// Of no rows yet.
  explicit running_moments(std::size_t width);
  /// Mean 0 and variance 1, with the weight of `count` rows.
  static running_moments unit(std::size_t width, double count);

  /// Takes in rows [N, D]. Throws std::invalid_argument, and takes in nothing, if these are no
  /// whole rows or a column is not finite.
  void add(std::span<const float> rows);
  void add(std::span<const double> rows);
  /// Takes in the rows of `other`. Throws std::invalid_argument if it has other columns.
  void add(const running_moments& other);

  std::size_t width() const { return mean_.size(); }
  double count() const { return count_; }
  std::span<const double> mean() const { return mean_; }          ///< [D]
  std::span<const double> variance() const { return variance_; }  ///< [D] of the population

  /// Exactly.
  std::string state() const;
  /// What `state` has given. Throws state_error.
  static running_moments of_state(std::string_view bytes);

  auto wire_members() { return std::tie(count_, mean_, variance_); }

 private:
  template <class T>
  void take_in(std::span<const T> rows);
  void join(double count, std::span<const double> mean, std::span<const double> variance);

  double count_ = 0;
  std::vector<double> mean_, variance_;              // [D]
  std::vector<double> batch_mean_, batch_variance_;  // [D] while rows are added
};

/// Rows brought to mean 0 and variance 1 by the moments of all rows so far. Before the first row
/// the mean is 0 and the variance 1, with the weight of 1e-4 rows, as in Stable-Baselines3. No call
/// but the constructor, `state` and `set_state` allocates.
class running_normalizer {
 public:
  /// Throws std::invalid_argument for a width of 0, and for options outside of their ranges.
  explicit running_normalizer(std::size_t width, normalizer_options options = {});

  /// Takes in rows [N, D]; without effect while not training. Throws as running_moments::add.
  void update(std::span<const float> rows);
  void update(std::span<const double> rows);
  /// The same with rows of which the moments are known.
  void update(const running_moments& rows);
  /// rows [N, D] -> clip((row - mean) / sqrt(variance + epsilon)), in place. Throws
  /// std::invalid_argument if these are no whole rows.
  void apply(std::span<float> rows) const;
  void apply(std::span<double> rows) const;

  void set_training(bool training) { training_ = training; }
  bool training() const { return training_; }

  std::size_t width() const { return moments_.width(); }
  double count() const { return moments_.count(); }                 ///< Rows so far, and 1e-4.
  std::span<const double> mean() const { return moments_.mean(); }  ///< [D]
  std::span<const double> variance() const { return moments_.variance(); }  ///< [D]
  const running_moments& moments() const { return moments_; }
  const normalizer_options& options() const { return options_; }

  /// The statistics, exactly; neither options nor the training flag.
  std::string state() const;
  /// Throws state_error if the bytes are not the statistics of D columns.
  void set_state(std::string_view bytes);

 private:
  template <class Rows>
  void take_in(const Rows& rows);
  template <class T>
  void normalize(std::span<T> rows) const;
  void set_scale();

  normalizer_options options_;
  bool training_ = true;
  running_moments moments_;
  std::vector<double> shift_, scale_;  // [D] what `apply` subtracts and divides by
};

/// The discounted sum of each environment's rewards in its episode under way, of which the variance
/// scales rewards.
class discounted_returns {
 public:
  /// Throws std::invalid_argument for a gamma outside of [0, 1].
  discounted_returns(std::size_t environments, double gamma);

  /// One step of all environments: sums become gamma * sum + reward, and are what `sums` gives
  /// until the next step. Where an episode ended the next sum begins at 0. Throws
  /// std::invalid_argument unless all are [B].
  void step(std::span<const double> reward, std::span<const std::uint8_t> terminated,
            std::span<const std::uint8_t> truncated);
  /// Environment i begins another episode: what it had gathered is dropped.
  void restart(std::size_t i);

  /// [B] after the last step.
  std::span<const double> sums() const { return sums_; }

  std::string state() const;
  /// Throws state_error if the bytes are not those of B environments.
  void set_state(std::string_view bytes);

 private:
  double gamma_;
  std::vector<double> sums_;           // [B]
  std::vector<std::uint8_t> restart_;  // [B] the next step begins an episode
};

}  // namespace troupe
