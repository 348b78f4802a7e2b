#pragma once
// Prioritised replay: which transitions of a ring are drawn, and their importance weights.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "actors/random/action_random.hpp"
#include "actors/replay/sum_tree.hpp"

namespace troupe {

class state_reader;
class state_writer;

/// Options of prioritised replay (Schaul et al. 2016, https://arxiv.org/abs/1511.05952) in its
/// proportional form. The defaults are those of its table 3 for that form, with beta as in its
/// section 3.4.
struct priority_options {
  double alpha = 0.6;  ///< The exponent of priorities; 0 means uniform draws.
  /// The exponent of importance weights at the start; 1 means full correction.
  double beta = 0.4;
  double beta_end = 1.0;  ///< The exponent at the end of training, which is reached linearly.
  double eps = 1e-6;      ///< Added to |TD error|, so that every transition can be drawn again.
};

/// Returns the importance weights that correct for non-uniform draws: w_i = (N P(i))^-beta / max_j
/// w_j, where N = `size` is the number of transitions and P(i) the probability of draw i (Schaul et
/// al. 2016, section 3.4). There is one weight in (0, 1] for each draw; beta 0 gives ones, beta 1
/// corrects in full. Throws std::invalid_argument if beta is not within 0 .. 1, or if a probability
/// or the size is not above 0.
std::vector<double> importance_weights(std::span<const double> probabilities, std::int64_t size,
                                       double beta);

/// Draws transitions of a ring in proportion to priority^alpha. A transition is named by its number
/// in the order of arrival, 0, 1, ... The ring keeps it at this number modulo its capacity, as long
/// as it is one of the newest `capacity`. All operations take O(log capacity). Only one actor may
/// use it.
class transition_priorities {
 public:
  /// Throws std::invalid_argument naming an option out of range. REQUIRES: capacity > 0.
  transition_priorities(const priority_options& options, std::int64_t capacity);

  /// Adds `count` new transitions with the highest priority seen so far, or 1 before any update
  /// (algorithm 1, line 6).
  void insert(std::int64_t count);

  /// Forgets the transitions before this number, which the ring has dropped although it was not
  /// full.
  void drop_before(std::int64_t number);

  /// Draws `count` numbers with replacement, one from each of `count` equal parts of the sum of
  /// priorities (appendix B.2.1), and their importance weights (N P(i))^-beta divided by the
  /// largest of them. While `progress_remaining` falls from 1 to 0 over the training, beta goes
  /// from its start to its end. REQUIRES: something has been inserted.
  void draw(std::size_t count, double progress_remaining, action_random& random,
            std::vector<std::int64_t>& numbers, std::vector<float>& weights);

  /// Sets the priorities of these transitions to |td_error| + eps. Transitions that are no longer
  /// held and errors that are not finite are ignored. Throws std::invalid_argument unless there is
  /// one error for each number.
  void update(std::span<const std::int64_t> numbers, std::span<const float> td_errors);

  std::int64_t size() const noexcept;
  /// Returns priority^alpha of a transition; 0 if it is not held.
  double priority_weight(std::int64_t number) const;

  /// Saves everything except the options and the capacity.
  void save(state_writer& to) const;
  /// Restores a state of `save`. Throws state_error.
  void restore(const state_reader& from);

 private:
  bool holds(std::int64_t number) const noexcept;
  std::size_t place(std::int64_t number) const noexcept;

  priority_options options_;
  std::int64_t capacity_;
  std::int64_t inserted_ = 0;
  std::int64_t first_ = 0;  ///< The number of the oldest transition that is held.
  double highest_ = 1.0;
  sum_tree weights_;  ///< priority^alpha at each place of the ring.
  /// The probabilities of the last draw; kept to reuse the memory.
  std::vector<double> probabilities_;
};

}  // namespace troupe
