#pragma once
// What a run of kills has come to, as a table, as JSON, and against what is promised.

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tests/chaos/counts.hpp"
#include "tests/chaos/kill_record.hpp"
#include "tests/chaos/process_figures.hpp"

namespace troupe::chaos {

struct limits {
  double noticed_ms = 50;      ///< Each loss, from the kill on.
  double back_ms = 5000;       ///< What each took along, until it serves again.
  double orphans_s = 2;        ///< The last child, from the parent's death on.
  double memory_growth = .05;  ///< Of the controller of nodes, of its resident memory.
};

/// What is known besides where nodes are killed.
struct node_findings {
  request_count work;             ///< Calls that are not idempotent.
  process_figures before, after;  ///< The controller's, under load.
  std::size_t failed_to_end = 0;  ///< Nodes that were told to.
};

struct findings {
  std::vector<kill_record> kills;
  request_count requests;  ///< Idempotent ones of all services.
  std::int64_t retries = 0;
  episode_count sessions;
  std::int64_t updates = 0, stale = 0;
  bool load_ended = true;  ///< In time, when it was to.
  std::optional<node_findings> nodes;
};

void print(const findings& f);
/// Counts, medians and maxima.
nlohmann::json to_json(const findings& f);
/// What is not as promised, a sentence each.
std::vector<std::string> breaches(const findings& f, const limits& promised);

}  // namespace troupe::chaos
