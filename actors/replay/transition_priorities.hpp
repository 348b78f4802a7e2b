#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "actors/random/action_random.hpp"
#include "actors/replay/sum_tree.hpp"

namespace troupe {

class state_reader;
class state_writer;

/// Prioritised replay: Schaul et al. 2016, https://arxiv.org/abs/1511.05952, in its proportional
/// form. Defaults are those of its table 3 for that form, with beta as in its section 3.4.
struct priority_options {
  double alpha = 0.6;     ///< exponent of priorities; 0: uniform
  double beta = 0.4;      ///< exponent of importance weights at the start; 1: full correction
  double beta_end = 1.0;  ///< the same at the end, reached linearly
  double eps = 1e-6;      ///< added to |TD error|, so that none is never drawn again
};

/// What corrects for draws out of proportion: w_i = (N P(i))^-beta / max_j w_j, N = `size`, the
/// number of those that were drawn from, P(i) the probability of draw i. Schaul et al. 2016,
/// section 3.4. One weight in (0, 1] for each draw; beta 0 gives ones, 1 corrects in full. Throws
/// std::invalid_argument if beta is not within 0 .. 1, or a probability or the size not above 0.
std::vector<double> importance_weights(std::span<const double> probabilities, std::int64_t size,
                                       double beta);

/// Which transitions of a ring are drawn, in proportion to priority^alpha. A transition is named by
/// its number in the order of arrival, 0, 1, ...; the ring keeps it at that modulo its capacity, as
/// long as it is one of the newest `capacity`. All in O(log capacity). For one actor.
class transition_priorities {
 public:
  /// Throws std::invalid_argument naming an option out of range. REQUIRES: capacity > 0.
  transition_priorities(const priority_options& options, std::int64_t capacity);

  /// `count` transitions arrive: with the highest priority seen so far, 1 before any (algorithm 1,
  /// line 6).
  void insert(std::int64_t count);

  /// Draws `count` numbers with replacement, one from each of `count` equal parts of the sum of
  /// priorities (appendix B.2.1), and their importance weights (N P(i))^-beta divided by the
  /// largest of them. `progress_remaining` falls from 1 to 0 over the training, beta goes from
  /// its start to its end. REQUIRES: something has been inserted.
  void draw(std::size_t count, double progress_remaining, action_random& random,
            std::vector<std::int64_t>& numbers, std::vector<float>& weights);

  /// |td_error| + eps are the priorities of these from now on. Passes over those that are no longer
  /// held, and over errors that are not finite. Throws std::invalid_argument unless there is an
  /// error for each.
  void update(std::span<const std::int64_t> numbers, std::span<const float> td_errors);

  std::int64_t size() const noexcept;
  /// 0 where none is held.
  double priority_weight(std::int64_t number) const;

  /// Everything but options and capacity.
  void save(state_writer& to) const;
  /// Continues where `save` was. Throws state_error.
  void restore(const state_reader& from);

 private:
  bool holds(std::int64_t number) const noexcept;
  std::size_t place(std::int64_t number) const noexcept;

  priority_options options_;
  std::int64_t capacity_;
  std::int64_t inserted_ = 0;
  double highest_ = 1.0;
  sum_tree weights_;                   ///< priority^alpha at each place of the ring
  std::vector<double> probabilities_;  ///< Of the last draw; memory that is kept.
};

}  // namespace troupe
