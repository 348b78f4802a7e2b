#include "actors/trainer/weight_decay.hpp"

namespace troupe {

void add_undecayed(std::vector<parameter_range>& ranges, std::size_t first, std::size_t count,
                   std::size_t dimensions) {
  if (dimensions < 2) ranges.push_back({first, count});
}

std::vector<parameter_range> undecayed_in(const tensor_layout& layout, std::size_t count,
                                          decayed_parameters of) {
  std::vector<parameter_range> ranges;
  if (of == decayed_parameters::all) return ranges;
  for (const auto& place : layout.tensors) {
    const auto first = static_cast<std::size_t>(place.offset);
    if (first >= count) continue;  // statistics of observations, which no optimiser changes
    // With state-dependent exploration log_std is a matrix, too.
    const auto dimensions = place.name == "log_std" ? 1 : place.sizes.size();
    add_undecayed(ranges, first, static_cast<std::size_t>(place.count()), dimensions);
  }
  return ranges;
}

}  // namespace troupe
