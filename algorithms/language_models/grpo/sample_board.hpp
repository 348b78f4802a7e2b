#pragma once
// The samples of an update on the status page.

#include <cstdint>
#include <string>
#include <vector>

#include "algorithms/language_models/grpo/answer_group.hpp"

namespace troupe {

/// Returns a board of the status page (runtime/metrics/status_page.html), a JSON object: the best
/// and the worst answer of the first group that has answers, turn by turn, and the distributions of
/// rewards, lengths and staleness over all groups, with the numbers of dropped answers by reason.
/// `version` is that of the weights that the update began with. Long texts are cut.
std::string sample_board(const std::vector<answer_group>& groups, std::int64_t update,
                         std::int64_t version);

}  // namespace troupe
