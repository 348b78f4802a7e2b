#include "actors/torch/torch.hpp"

#include "algorithms/learner/data_parallel.hpp"

#include <functional>
#include <vector>

#include <fmt/format.h>

namespace troupe::detail {
namespace {

/// A hash of the state below 2^48, which a double holds exactly, so that a sum with zeros is exact.
double fingerprint(const std::string& state) {
  return static_cast<double>(std::hash<std::string>()(state) >> 16);
}

}  // namespace

void require_same_state(collective& ranks, const std::string& learner, const std::string& state) {
  std::vector<double> prints(ranks.world(), 0.0);
  prints[ranks.rank()] = fingerprint(state);
  ranks.sum(std::span<double>(prints));
  for (std::size_t rank = 1; rank < prints.size(); ++rank) {
    if (prints[rank] == prints[0]) continue;
    throw collective_error(
        fmt::format("{}: rank {} of {} has another optimiser or generator than rank 0; expected "
                    "learners made with the same seed and options, or restored from the same state",
                    learner, rank, ranks.world()));
  }
}

}  // namespace troupe::detail
