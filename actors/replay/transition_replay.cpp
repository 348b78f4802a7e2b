#include "actors/replay/transition_replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "actors/checkpoint/state_codec.hpp"
#include "actors/environments/obs_scale.hpp"
#include "runtime/base/log.hpp"

namespace troupe {

transition_replay::contents::contents(const transition_replay_options& options)
    : ring(options.widths, options.ring), random(options.seed) {
  if (options.prioritised) priorities.emplace(*options.prioritised, options.ring.capacity);
  if (options.normalize_obs) obs.emplace(options.widths.obs);
  if (obs && options.obs_statistics.width() > 0) obs->set_state(options.obs_statistics.state());
  if (options.normalize_reward) reward.emplace(1, normalizer_options{.centre = false});
}

transition_replay::transition_replay(const transition_replay_options& options,
                                     std::shared_ptr<storage> on)
    : options_(options),
      storage_(on ? std::move(on) : std::make_shared<storage>()),
      claim_(*storage_, "transition_replay"),
      held_(storage_->contents_ ? *storage_->contents_ : storage_->contents_.emplace(options)),
      admission_(1, options.max_staleness) {
  // A restarted replay doesn't know how many collections were admitted, only how many were
  // inserted.
  const auto waiting = held_.due.size() - std::min(held_.due.size(), needed() - 1);
  admission_.restore(held_.version + static_cast<std::int64_t>(waiting));
}

task<bool> transition_replay::admit() {
  while (!closed_ && !admission_.open(held_.version)) co_await changed_.wait();
  if (closed_) co_return false;
  admission_.begin();
  co_return true;
}

void transition_replay::close() {
  closed_ = true;
  changed_.notify_all();
}

void transition_replay::learn_statistics(const collected_transitions& made) {
  try {
    if (held_.obs) held_.obs->update(made.rows.obs);
    if (held_.reward) held_.reward->update(made.discounted);
  } catch (const std::invalid_argument& e) {  // No gradient step is taken on such rows either.
    log::warn("transitions were left out of the normalisation statistics", {{"error", e.what()}});
  }
}

void transition_replay::insert(collected_transitions made) {
  if (!held_.known.add(made.id)) {
    ++held_.counts.repeated;
    return;
  }
  held_.ring.insert(made.rows);
  if (held_.priorities) {
    held_.priorities->insert(static_cast<std::int64_t>(made.rows.size()));
    held_.priorities->drop_before(held_.ring.oldest());
  }
  tell_if_full();
  learn_statistics(made);
  ++held_.counts.inserted;
  made.rows = {};
  made.discounted = {};
  held_.due.push_back(std::move(made));
  changed_.notify_all();
}

/// Says once that the memory is full before the capacity is reached, which happens with images.
void transition_replay::tell_if_full() {
  const auto& ring = held_.ring;
  if (told_full_ || ring.size() >= std::min(ring.inserted(), options_.ring.capacity)) return;
  told_full_ = true;
  log::info("replay.max_bytes is reached: the replay drops its oldest transitions",
            {{"transitions", ring.size()},
             {"capacity", options_.ring.capacity},
             {"max_bytes", options_.ring.max_bytes}});
}

std::size_t transition_replay::needed() const {
  return held_.counts.sampled == 0 ? static_cast<std::size_t>(options_.warm_up) + 1 : 1;
}

task<> transition_replay::wait_until_satisfied() {
  while (held_.due.size() < needed()) co_await changed_.wait();
}

task<std::vector<collected_transitions>> transition_replay::sample() {
  if (held_.due.size() < needed()) {
    try {
      co_await with_timeout(wait_until_satisfied(), options_.patience);
    } catch (const call_error& e) {
      if (e.kind() != error_kind::deadline_exceeded) throw;
      throw replay_starved(fmt::format(
          "transition_replay: an update of weights of version {} waited {}: {} of {} collections "
          "are there, {} transitions are held",
          held_.version, detail::to_text(options_.patience), held_.due.size(), needed(),
          held_.ring.size()));
    }
  }
  held_.handed_out = needed();
  const auto end = held_.due.begin() + static_cast<std::ptrdiff_t>(held_.handed_out);
  co_return std::vector<collected_transitions>(held_.due.begin(), end);
}

void transition_replay::trained(std::int64_t version) {
  if (held_.handed_out > 0 && version > held_.version) {
    const auto end = held_.due.begin() + static_cast<std::ptrdiff_t>(held_.handed_out);
    const auto staleness = held_.version - std::prev(end)->version;
    held_.counts.staleness_max = std::max(held_.counts.staleness_max, staleness);
    held_.counts.staleness_sum += static_cast<double>(staleness);
    ++held_.counts.sampled;
    held_.due.erase(held_.due.begin(), end);
    held_.handed_out = 0;
  }
  held_.version = version;
  admission_.catch_up(version);
  changed_.notify_all();
}

transition_rows transition_replay::draw(transition_rows into, std::size_t count,
                                        double progress_remaining) {
  if (held_.priorities) {
    held_.priorities->draw(count, progress_remaining, held_.random, into.number, into.weight);
    held_.ring.gather(into.number, into);
  } else {
    held_.ring.sample(count, held_.random, into);
  }
  if (held_.obs) {
    held_.obs->apply(into.obs);
    held_.obs->apply(into.next_obs);
  }
  if (held_.reward) held_.reward->apply(into.reward);
  return into;
}

void transition_replay::update_priorities(std::vector<std::int64_t> numbers,
                                          std::vector<float> td_errors) {
  if (held_.priorities) held_.priorities->update(numbers, td_errors);
}

std::int64_t transition_replay::version() const { return held_.version; }

std::vector<float> transition_replay::obs_scale() const {
  if (!held_.obs) return {};
  std::vector<float> scale(2 * held_.obs->width());
  detail::write_obs_scale(held_.obs->mean(), held_.obs->variance(), scale.data());
  return scale;
}

replay_counts transition_replay::counts() const {
  auto now = held_.counts;
  now.held = static_cast<std::size_t>(held_.ring.size());
  now.bytes = held_.ring.bytes();
  return now;
}

std::string transition_replay::save() const {
  state_writer to;
  held_.ring.save(to);
  to.put("random", state_bytes(held_.random.state()));
  to.put("begun", admission_.begun());
  to.put("version", held_.version);
  to.put("collections", held_.counts.inserted);
  to.put("sampled", held_.counts.sampled);
  to.put("staleness_max", held_.counts.staleness_max);
  to.put("staleness_sum", held_.counts.staleness_sum);
  if (held_.priorities) held_.priorities->save(to);
  if (held_.obs) to.put("obs_statistics", held_.obs->state());
  if (held_.reward) to.put("reward_statistics", held_.reward->state());
  std::vector<std::string> due;
  for (const auto& made : held_.due) {
    std::vector<std::int64_t> ends;
    std::vector<double> returns, agent_returns;
    for (const auto& e : made.episodes) {
      ends.insert(ends.end(), {e.step, e.length});
      returns.push_back(e.episode_return);
      agent_returns.insert(agent_returns.end(), e.agent_returns.begin(), e.agent_returns.end());
    }
    state_writer one;
    one.put("steps", made.steps);
    one.put("version", made.version);
    one.put("ends", ends);
    one.put("returns", returns);
    if (options_.widths.agents > 0) one.put("agent_returns", agent_returns);
    due.push_back(one.bytes());
  }
  to.put("due", due);
  return to.bytes();
}

void transition_replay::restore(std::string bytes) {
  const state_reader from(bytes);
  held_.ring.restore(from);
  held_.random.set_state(state_of<action_random::state_type>(from.get<std::string>("random")));
  admission_.restore(from.get<std::int64_t>("begun"));
  from.get("version", held_.version);
  from.get("collections", held_.counts.inserted);
  from.get("sampled", held_.counts.sampled);
  from.get("staleness_max", held_.counts.staleness_max);
  from.get("staleness_sum", held_.counts.staleness_sum);
  if (held_.priorities) {
    held_.priorities->restore(from);
    held_.priorities->drop_before(held_.ring.oldest());
  }
  if (held_.obs) held_.obs->set_state(from.get<std::string>("obs_statistics"));
  if (held_.reward) held_.reward->set_state(from.get<std::string>("reward_statistics"));
  held_.due.clear();
  held_.handed_out = 0;
  for (const auto& each : from.get<std::vector<std::string>>("due")) {
    const state_reader one(each);
    collected_transitions made;
    one.get("steps", made.steps);
    one.get("version", made.version);
    const auto ends = one.get<std::vector<std::int64_t>>("ends");
    const auto returns = one.get<std::vector<double>>("returns");
    if (ends.size() != 2 * returns.size()) {
      throw state_error("saved transitions: expected an end for each of " +
                        std::to_string(returns.size()) + " episodes");
    }
    const auto agents = options_.widths.agents;
    std::vector<double> agent_returns;
    if (one.has("agent_returns")) one.get("agent_returns", agent_returns);
    if (agent_returns.size() != agents * returns.size()) {
      throw state_error(
          fmt::format("saved transitions: expected returns of {} agents in {} "
                      "episodes, got {} numbers",
                      agents, returns.size(), agent_returns.size()));
    }
    for (std::size_t i = 0; i < returns.size(); ++i) {
      const auto first = agent_returns.begin() + static_cast<std::ptrdiff_t>(i * agents);
      made.episodes.push_back(
          {.step = ends[2 * i],
           .episode_return = returns[i],
           .length = ends[2 * i + 1],
           .agent_returns = {first, first + static_cast<std::ptrdiff_t>(agents)}});
    }
    held_.due.push_back(std::move(made));
  }
}

}  // namespace troupe
