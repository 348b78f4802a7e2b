#include "actors/recorder/evaluation_history.hpp"

#include <algorithm>
#include <limits>

namespace troupe {

void add_evaluation(std::vector<curve_evaluation>& all, const curve_evaluation& evaluation,
                    std::size_t most) {
  all.push_back(evaluation);
  if (all.size() <= most) return;
  const auto best = std::ranges::max_element(all, {}, &curve_evaluation::mean);
  auto dropped = all.end();
  double closest = std::numeric_limits<double>::infinity();
  for (auto at = all.begin() + 1; at + 1 != all.end(); ++at) {
    const double apart = (at + 1)->step - (at - 1)->step;
    if (at == best || apart >= closest) continue;
    dropped = at;
    closest = apart;
  }
  all.erase(dropped);
}

}  // namespace troupe
