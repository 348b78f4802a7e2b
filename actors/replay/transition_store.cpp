#include "actors/replay/transition_store.hpp"

#include <fmt/format.h>

#include <utility>

#include "actors/checkpoint/state.hpp"
#include "actors/replay/replay_starved.hpp"

namespace troupe {

transition_store::transition_store(const transition_store_options& options)
    : options_(options),
      ring_(options.widths, options.ring),
      random_(options.seed),
      admission_(1, options.max_staleness) {}

task<bool> transition_store::admit() {
  while (!closed_ && !admission_.open(version_)) co_await changed_.wait();
  if (closed_) co_return false;
  admission_.begin();
  co_return true;
}

void transition_store::close() {
  closed_ = true;
  changed_.notify_all();
}

void transition_store::insert(collected_transitions made) {
  ring_.insert(made.rows);
  made.rows = {};
  due_.push_back(std::move(made));
  changed_.notify_all();
}

std::size_t transition_store::needed() const {
  return counts_.collections == 0 ? static_cast<std::size_t>(options_.warm_up) + 1 : 1;
}

task<> transition_store::wait_until_satisfied() {
  while (due_.size() < needed()) co_await changed_.wait();
}

task<std::vector<collected_transitions>> transition_store::sample() {
  if (due_.size() < needed()) {
    try {
      co_await with_timeout(wait_until_satisfied(), options_.patience);
    } catch (const call_error& e) {
      if (e.kind() != error_kind::deadline_exceeded) throw;
      throw replay_starved(fmt::format(
          "transition_store: an update of weights of version {} waited {}: {} of {} collections "
          "are there, {} transitions are held",
          version_, detail::to_text(options_.patience), due_.size(), needed(), ring_.size()));
    }
  }
  const auto n = needed();
  std::vector<collected_transitions> next;
  for (std::size_t i = 0; i < n; ++i) {
    next.push_back(std::move(due_.front()));
    due_.pop_front();
  }
  const auto staleness = version_ - next.back().version;
  counts_.staleness_max = std::max(counts_.staleness_max, staleness);
  counts_.staleness_sum += static_cast<double>(staleness);
  ++counts_.collections;
  co_return next;
}

void transition_store::trained(std::int64_t version) {
  version_ = version;
  admission_.catch_up(version);
  changed_.notify_all();
}

transition_rows transition_store::draw(transition_rows into, std::size_t count) {
  ring_.sample(count, random_, into);
  return into;
}

transition_store_counts transition_store::counts() const {
  auto now = counts_;
  now.held = ring_.size();
  now.bytes = static_cast<std::int64_t>(ring_.bytes());
  return now;
}

std::string transition_store::save() const {
  state_writer to;
  ring_.save(to);
  put_random(to, "random", random_);
  to.put("begun", admission_.begun());
  to.put("version", version_);
  to.put("collections", counts_.collections);
  to.put("staleness_max", counts_.staleness_max);
  to.put("staleness_sum", counts_.staleness_sum);
  std::vector<std::string> due;
  for (const auto& made : due_) {
    std::vector<std::int64_t> ends;
    std::vector<double> returns;
    for (const auto& e : made.episodes) {
      ends.insert(ends.end(), {e.step, e.length});
      returns.push_back(e.episode_return);
    }
    state_writer one;
    one.put("steps", made.steps);
    one.put("version", made.version);
    one.put("ends", ends);
    one.put("returns", returns);
    due.push_back(one.bytes());
  }
  to.put("due", due);
  return to.bytes();
}

void transition_store::restore(std::string bytes) {
  const state_reader from(bytes);
  ring_.restore(from);
  random_ = get_action_random(from, "random");
  admission_.restore(from.get<std::int64_t>("begun"));
  from.get("version", version_);
  from.get("collections", counts_.collections);
  from.get("staleness_max", counts_.staleness_max);
  from.get("staleness_sum", counts_.staleness_sum);
  due_.clear();
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
    for (std::size_t i = 0; i < returns.size(); ++i) {
      made.episodes.push_back({ends[2 * i], returns[i], ends[2 * i + 1]});
    }
    due_.push_back(std::move(made));
  }
}

}  // namespace troupe
