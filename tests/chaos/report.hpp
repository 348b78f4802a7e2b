#pragma once
// What a run of kills has come to, as a table, as JSON, and against what is promised.

#include <nlohmann/json_fwd.hpp>

#include "tests/chaos/killer.hpp"
#include "tests/chaos/load.hpp"

namespace troupe::chaos {

struct limits {
  double noticed_ms = 50;  ///< Each loss, from the kill on.
  double back_ms = 5000;   ///< Each replica, until its successor answers.
  double orphans_s = 2;    ///< The last child, from the parent's death on.
};

struct findings {
  std::vector<kill_record> kills;
  request_count requests;  ///< Idempotent ones of all three services.
  std::int64_t retries = 0;
  episode_count sessions;
  std::int64_t updates = 0, stale = 0;
};

void print(const findings& f);
/// Counts, medians and maxima.
nlohmann::json to_json(const findings& f);
/// What is not as promised, a sentence each.
std::vector<std::string> breaches(const findings& f, const limits& promised);

}  // namespace troupe::chaos
