#pragma once
// Normalises observations and rewards by running statistics, as Stable-Baselines3's VecNormalize
// does. In the shapes, D is the number of floats in a row and N the number of rows.
//
// The statistics belong to the run and not to an environment: environments are replicated, and the
// statistics that a network was trained with must be in the checkpoint and in the model file beside
// its weights.
//
//   observations  Environments give raw observations. The collector of a rollout adds each step's
//                 rows to the statistics, then normalises the rows, then acts on them, so the
//                 stored rows are those that were acted on. The trainer receives what each rollout
//                 has added, and the joined statistics are part of the next weights (see
//                 algorithms/on_policy/rollout_normalizer.hpp and
//                 actors/environments/obs_scale.hpp). In off-policy algorithms the replay buffer
//                 owns the statistics. It stores raw rows and normalises them when they are drawn.
//   rewards       `discounted_returns` runs where the steps are taken and keeps one sum for each
//                 environment. A normalizer of width 1 with `centre` = false is updated with these
//                 sums and applied to the rewards.
//   evaluation    Only observations are normalised, by the statistics in the weights. Returns are
//                 reported unscaled.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace troupe {

/// Options of a normalizer. The defaults are Stable-Baselines3's for observations; for rewards
/// `centre` is false.
struct normalizer_options {
  double clip = 10;       ///< Results are clipped to [-clip, clip]; > 0.
  double epsilon = 1e-8;  ///< The number added to the variance; > 0.
  bool centre = true;     ///< Whether the mean is subtracted.
};

/// Count, mean and variance of each of D columns in double precision. Rows and other moments can be
/// added; they are joined by equation 2.1 of Chan, Golub and LeVeque 1983,
/// https://doi.org/10.1080/00031305.1983.10483115.
class running_moments {
 public:
  /// Makes moments without columns, to which nothing can be added.
  running_moments() = default;
  /// Makes moments of D = `width` columns and no rows.
  explicit running_moments(std::size_t width);
  /// Returns moments of mean 0 and variance 1 that have the weight of `count` rows.
  static running_moments unit(std::size_t width, double count);
  /// Returns the moments of `count` rows with this mean [D] and variance [D]. Throws
  /// std::invalid_argument if the two differ in length.
  static running_moments of(double count, std::span<const double> mean,
                            std::span<const double> variance);

  /// Adds rows [N, D]. Throws std::invalid_argument, and adds nothing, if the floats are no whole
  /// number of rows or a column is not finite.
  void add(std::span<const float> rows);
  void add(std::span<const double> rows);
  /// Adds the rows of `other`. Throws std::invalid_argument if it has another number of columns.
  void add(const running_moments& other);

  std::size_t width() const { return mean_.size(); }
  double count() const { return count_; }
  std::span<const double> mean() const { return mean_; }          ///< [D]
  std::span<const double> variance() const { return variance_; }  ///< [D], of the population

  /// Returns the exact state for a checkpoint.
  std::string state() const;
  /// Returns the moments that `state` has saved. Throws state_error.
  static running_moments of_state(std::string_view bytes);

  auto wire_members() { return std::tie(count_, mean_, variance_); }

 private:
  template <class T>
  void take_in(std::span<const T> rows);
  void join(double count, std::span<const double> mean, std::span<const double> variance);

  double count_ = 0;
  std::vector<double> mean_, variance_;              // [D]
  std::vector<double> batch_mean_, batch_variance_;  // [D] scratch memory of `add`
};

/// Scales rows to mean 0 and variance 1 by the moments of all rows so far. Before the first row the
/// mean is 0 and the variance 1, with the weight of 1e-4 rows, as in Stable-Baselines3. Only the
/// constructor, `state` and `set_state` allocate.
class running_normalizer {
 public:
  /// Throws std::invalid_argument for a width of 0, and for options outside of their ranges.
  explicit running_normalizer(std::size_t width, normalizer_options options = {});

  /// Adds rows [N, D] to the statistics. Does nothing while not training. Throws as
  /// running_moments::add.
  void update(std::span<const float> rows);
  void update(std::span<const double> rows);
  /// Adds rows whose moments are known.
  void update(const running_moments& rows);
  /// Replaces rows [N, D] by clip((row - mean) / sqrt(variance + epsilon)). Throws
  /// std::invalid_argument if the floats are no whole number of rows.
  void apply(std::span<float> rows) const;
  void apply(std::span<double> rows) const;

  void set_training(bool training) { training_ = training; }
  bool training() const { return training_; }

  std::size_t width() const { return moments_.width(); }
  double count() const { return moments_.count(); }                 ///< The number of rows + 1e-4.
  std::span<const double> mean() const { return moments_.mean(); }  ///< [D]
  std::span<const double> variance() const { return moments_.variance(); }  ///< [D]
  const running_moments& moments() const { return moments_; }
  const normalizer_options& options() const { return options_; }

  /// Returns the exact statistics, without the options and the training flag.
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
  std::vector<double> shift_, scale_;  // [D] `apply` subtracts `shift_` and divides by `scale_`
};

/// The discounted sum of each environment's rewards in its current episode. The variance of these
/// sums scales the rewards.
class discounted_returns {
 public:
  /// Throws std::invalid_argument for a gamma outside of [0, 1].
  discounted_returns(std::size_t environments, double gamma);

  /// Adds one step of all environments: each sum becomes gamma * sum + reward. `sums` returns these
  /// until the next step. The sum of an environment whose episode ended starts at 0 in the next
  /// step. Throws std::invalid_argument unless all arguments are [B].
  void step(std::span<const double> reward, std::span<const std::uint8_t> terminated,
            std::span<const std::uint8_t> truncated);
  /// Drops the sum of environment i, which begins another episode.
  void restart(std::size_t i);

  /// Returns the sums [B] after the last step.
  std::span<const double> sums() const { return sums_; }

  std::string state() const;
  /// Throws state_error if the bytes are not those of B environments.
  void set_state(std::string_view bytes);

 private:
  double gamma_;
  std::vector<double> sums_;           // [B]
  std::vector<std::uint8_t> restart_;  // [B] whether the next step begins an episode
};

}  // namespace troupe
