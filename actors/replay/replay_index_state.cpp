#include <fmt/format.h>

#include "actors/checkpoint/state.hpp"
#include "actors/replay/replay_index.hpp"

namespace troupe {
namespace {

constexpr auto number_max = rate_limiter::restored_max;  // and of sums

void require_countable(std::string_view name, std::int64_t number) {
  if (number >= 0 && number <= number_max) return;
  throw state_error(fmt::format("saved state: {}: expected numbers from 0 to {}, got {}", name,
                                number_max, number));
}

/// `sum` has been required before, or is 0.
void require_sum(std::string_view name, std::int64_t sum, std::int64_t number) {
  require_countable(name, number);
  if (number <= number_max - sum) return;
  throw state_error(
      fmt::format("saved state: {}: expected a sum of at most {}, got more", name, number_max));
}

template <class T>
std::vector<T> column(const state_reader& from, std::string_view name, std::size_t size) {
  auto values = from.get<std::vector<T>>(name);
  if (values.size() != size) {
    throw state_error(
        fmt::format("saved state: {}: expected {} values, got {}", name, size, values.size()));
  }
  return values;
}

}  // namespace

void replay_index::save(state_writer& to) const {
  const auto keys = this->keys();
  std::vector<double> priorities;
  std::vector<std::int64_t> versions, times_sampled, items, bytes;
  for (const auto key : keys) {
    const auto& entry = entries_.at(key);
    priorities.push_back(entry.priority);
    versions.push_back(entry.version);
    times_sampled.push_back(entry.times_sampled);
    items.push_back(entry.items);
    bytes.push_back(entry.bytes);
  }
  to.put("keys", keys);
  to.put("priorities", priorities);
  to.put("versions", versions);
  to.put("times_sampled", times_sampled);
  to.put("items", items);
  to.put("bytes", bytes);
  to.put("next_key", next_key_);
  to.put("highest_priority", highest_priority_);
  to.put("counts", std::vector<std::int64_t>{counts_.inserted, counts_.sampled, counts_.evicted,
                                             counts_.used_up, counts_.stale, counts_.version,
                                             counts_.staleness_max});
  to.put("staleness_sum", counts_.staleness_sum);
  sampler_->save(to, "sampler");
  remover_->save(to, "remover");
  limiter_.save(to);
}

void replay_index::restore(const state_reader& from) {
  const auto counts = column<std::int64_t>(from, "counts", 7);
  for (const auto count : counts) require_countable("counts", count);
  counts_ = {.inserted = counts[0],
             .sampled = counts[1],
             .evicted = counts[2],
             .used_up = counts[3],
             .stale = counts[4],
             .version = counts[5],
             .staleness_max = counts[6]};
  from.get("staleness_sum", counts_.staleness_sum);
  from.get("next_key", next_key_);
  if (next_key_ > number_max) {
    throw state_error(
        fmt::format("saved state: next_key: expected at most {}, got {}", number_max, next_key_));
  }
  from.get("highest_priority", highest_priority_);
  try {
    restore_entries(from);
  } catch (const state_error&) {
    throw;
  } catch (const std::exception& e) {  // a key twice, a priority that is none
    throw state_error(fmt::format("saved state: replay: {}", e.what()));
  }
  limiter_.restore(from);
  if (limiter_.size() != std::ssize(entries_)) {
    throw state_error(fmt::format("saved state: limiter: expected {} entries, got {}",
                                  entries_.size(), limiter_.size()));
  }
  // What this table's own options do not allow, they may be others than the saved ones', goes.
  drop_stale();
  for (const auto key : keys()) {
    if (!used_up(entries_.at(key))) continue;
    remove(key);
    ++counts_.used_up;
  }
  make_room(0, 0);
  stale_before_ = counts_.stale;
}

void replay_index::restore_entries(const state_reader& from) {
  const auto keys = from.get<std::vector<std::uint64_t>>("keys");
  const auto priorities = column<double>(from, "priorities", keys.size());
  const auto versions = column<std::int64_t>(from, "versions", keys.size());
  const auto times_sampled = column<std::int64_t>(from, "times_sampled", keys.size());
  const auto items = column<std::int64_t>(from, "items", keys.size());
  const auto bytes = column<std::int64_t>(from, "bytes", keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i] >= next_key_ || items[i] < 1 || versions[i] < -number_max ||
        versions[i] > number_max) {
      throw state_error(fmt::format(
          "saved state: replay: key {}: expected a key below {}, an item or more and a version "
          "between -{} and {}, got {} items and version {}",
          keys[i], next_key_, number_max, number_max, items[i], versions[i]));
    }
    require_sum("items", counts_.items, items[i]);
    require_sum("bytes", counts_.bytes, bytes[i]);
    require_sum("times_sampled", times_sampled_, times_sampled[i]);
    hold(keys[i], {.priority = priorities[i],
                   .version = versions[i],
                   .times_sampled = times_sampled[i],
                   .items = items[i],
                   .bytes = bytes[i]});
  }
  const auto priority_of = [this](std::uint64_t key) { return entries_.at(key).priority; };
  sampler_->restore(from, "sampler", priority_of);
  remover_->restore(from, "remover", priority_of);
  if (sampler_->size() != entries_.size() || remover_->size() != entries_.size() ||
      entries_.size() != keys.size()) {
    throw state_error(fmt::format(
        "saved state: replay: expected {} keys in the sampler and the remover, got {} and {}",
        keys.size(), sampler_->size(), remover_->size()));
  }
}

}  // namespace troupe
