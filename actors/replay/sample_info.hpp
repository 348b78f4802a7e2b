#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace troupe {

/// What is known of one entry when it is sampled.
struct sample_info {
  std::uint64_t key = 0;        ///< Names the entry, in `update_priorities` for instance.
  double probability = 0;       ///< With which this entry was chosen.
  std::int64_t table_size = 0;  ///< Entries there to choose among.
  double priority = 0;
  std::int64_t times_sampled = 0;  ///< This time included.
  std::int64_t version = 0;        ///< The oldest weights that made any part of it.
};

/// What corrects for sampling out of proportion: w_i = (N P(i))^-beta / max_j w_j, N the table's
/// size, P(i) the probability. Schaul et al. 2016, https://arxiv.org/abs/1511.05952, section 3.4.
/// One weight in (0, 1] for each sample; beta 0 gives ones, 1 corrects in full. Throws
/// std::invalid_argument if beta is not within 0 .. 1 or a probability or a size is not above 0.
std::vector<double> importance_weights(std::span<const sample_info> samples, double beta);

}  // namespace troupe
