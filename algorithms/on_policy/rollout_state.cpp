#include "algorithms/on_policy/rollout_state.hpp"

#include "actors/checkpoint/state.hpp"

namespace troupe {

namespace {

/// Calls `each(name, column)` for every column of plain numbers.
template <class Rollout, class Each>
void for_each_column(Rollout& r, const Each& each) {
  each("obs", r.obs);
  each("discrete", r.discrete);
  each("continuous", r.continuous);
  each("log_prob", r.log_prob);
  each("value", r.value);
  each("reward", r.reward);
  each("terminated", r.terminated);
  each("truncated", r.truncated);
  each("valid", r.valid);
  each("final_obs", r.final_obs);
  each("final_value", r.final_value);
  each("bootstrap_obs", r.bootstrap_obs);
  each("bootstrap_value", r.bootstrap_value);
  each("steps", r.steps);
  each("environments", r.environments);
  each("version", r.version);
  each("last_version", r.last_version);
}

}  // namespace

std::string to_bytes(const rollout& r) {
  state_writer to;
  for_each_column(r, [&](const char* name, const auto& column) { to.put(name, column); });
  std::vector<std::int64_t> cuts, ends;
  for (const auto& cut : r.cuts) cuts.insert(cuts.end(), {cut.step, cut.index});
  std::vector<double> returns;
  for (const auto& e : r.episodes) {
    ends.insert(ends.end(), {e.step, e.length, e.environment});
    returns.push_back(e.episode_return);
  }
  to.put("cuts", cuts);
  to.put("episode_ends", ends);
  to.put("episode_returns", returns);
  to.put("seen", to_bytes(r.seen));
  return to.bytes();
}

rollout rollout_of(const std::string& bytes) {
  const state_reader from(bytes);
  rollout r;
  for_each_column(r, [&](const char* name, auto& column) { from.get(name, column); });
  const auto cuts = from.get<std::vector<std::int64_t>>("cuts");
  for (std::size_t i = 0; i + 1 < cuts.size(); i += 2) r.cuts.push_back({cuts[i], cuts[i + 1]});
  const auto ends = from.get<std::vector<std::int64_t>>("episode_ends");
  const auto returns = from.get<std::vector<double>>("episode_returns");
  if (ends.size() != 3 * returns.size()) {
    throw state_error("saved rollout: expected an end for each of its " +
                      std::to_string(returns.size()) + " episodes");
  }
  for (std::size_t i = 0; i < returns.size(); ++i) {
    r.episodes.push_back({ends[3 * i], returns[i], ends[3 * i + 1], ends[3 * i + 2]});
  }
  if (from.has("seen")) r.seen = seen_statistics_of(from.get<std::string>("seen"));
  return r;
}

std::string to_bytes(const replay_state<rollout>& state) {
  std::vector<std::string> items;
  for (const auto& item : state.items) items.push_back(to_bytes(item));
  state_writer to;
  to.put("items", items);
  to.put("begun", state.begun);
  to.put("version", state.version);
  to.put("inserted", state.counts.inserted);
  to.put("sampled", state.counts.sampled);
  to.put("stale", state.counts.stale);
  to.put("stale_length", state.counts.stale_length);
  to.put("staleness_max", state.counts.staleness_max);
  to.put("staleness_sum", state.counts.staleness_sum);
  return to.bytes();
}

replay_state<rollout> replay_state_of(const std::string& bytes) {
  const state_reader from(bytes);
  replay_state<rollout> state;
  for (const auto& item : from.get<std::vector<std::string>>("items")) {
    state.items.push_back(rollout_of(item));
  }
  from.get("begun", state.begun);
  from.get("version", state.version);
  from.get("inserted", state.counts.inserted);
  from.get("sampled", state.counts.sampled);
  from.get("stale", state.counts.stale);
  if (from.has("stale_length")) from.get("stale_length", state.counts.stale_length);
  from.get("staleness_max", state.counts.staleness_max);
  from.get("staleness_sum", state.counts.staleness_sum);
  return state;
}

}  // namespace troupe
