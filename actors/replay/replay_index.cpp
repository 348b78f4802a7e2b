#include "actors/replay/replay_index.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "actors/derived_seed.hpp"

namespace troupe {
namespace {

void expect(bool holds, std::string_view option, std::string_view expected, std::int64_t got) {
  if (holds) return;
  throw std::invalid_argument(
      fmt::format("replay: {}: expected {}, got {}", option, expected, got));
}

const replay_table_options& checked(const replay_table_options& o) {
  expect(o.max_items >= 1, "max_items", "a number >= 1", o.max_items);
  expect(o.max_bytes >= 1, "max_bytes", "a number >= 1", o.max_bytes);
  expect(o.max_times_sampled >= 0, "max_times_sampled", "a number >= 0", o.max_times_sampled);
  expect(o.max_staleness.value_or(0) >= 0, "max_staleness", "a number >= 0",
         o.max_staleness.value_or(0));
  expect(o.limiter.min_size_to_sample <= o.max_items, "max_items",
         fmt::format("at least min_size_to_sample ({})", o.limiter.min_size_to_sample),
         o.max_items);
  return o;
}

}  // namespace

replay_index::replay_index(const replay_table_options& options)
    : options_(checked(options)),
      sampler_(make_selector(options.sampler, derived_seed(options.seed, "sampler"))),
      remover_(make_selector(options.remover, derived_seed(options.seed, "remover"))),
      limiter_(options.limiter) {}

std::optional<std::uint64_t> replay_index::insert(const replay_entry& entry) {
  check(entry);
  if (!may_insert()) throw std::logic_error("replay: insert: " + limiter_.describe());
  ++counts_.inserted;
  if (too_stale(entry.version)) {
    ++counts_.stale;
    return std::nullopt;
  }
  const auto seen = highest_priority_ > 0 ? highest_priority_ : 1;
  const auto priority = entry.priority.value_or(seen);
  highest_priority_ = std::max(highest_priority_, priority);
  make_room(entry.items, entry.bytes);
  const auto key = next_key_++;
  hold(
      key,
      {.priority = priority, .version = entry.version, .items = entry.items, .bytes = entry.bytes});
  sampler_->insert(key, priority);
  remover_->insert(key, priority);
  limiter_.inserted();
  return key;
}

void replay_index::check(const replay_entry& entry) const {
  if (entry.priority) check_priority(*entry.priority);
  expect(entry.items >= 1, "items of an entry", "a number >= 1", entry.items);
  expect(entry.bytes >= 0, "bytes of an entry", "a number >= 0", entry.bytes);
  expect(entry.items <= options_.max_items, "items of an entry",
         fmt::format("at most max_items ({})", options_.max_items), entry.items);
  expect(entry.bytes <= options_.max_bytes, "bytes of an entry",
         fmt::format("at most max_bytes ({})", options_.max_bytes), entry.bytes);
}

void replay_index::check_sample(std::int64_t count) const {
  expect(count >= 1, "sample", "at least 1 entry", count);
  if (may_sample(count)) return;
  if (!limiter_.fits(count)) {
    throw std::invalid_argument(fmt::format(
        "replay: sample: expected no more entries than fit between the rate limiter's bounds, got "
        "{} ({})",
        count, limiter_.describe()));
  }
  if (options_.max_times_sampled > 0) {
    expect((count - 1) / options_.max_times_sampled < options_.max_items, "sample",
           fmt::format("at most max_items * max_times_sampled ({} * {}) entries",
                       options_.max_items, options_.max_times_sampled),
           count);
  }
}

bool replay_index::may_sample(std::int64_t count) const {
  return limiter_.may_sample(count) && uses_left() >= count;
}

std::string replay_index::shortage(std::int64_t count) const {
  if (may_sample(count)) return "nothing is short";
  const auto held = std::ssize(entries_);
  const auto least = options_.limiter.min_size_to_sample;
  const auto lost = counts_.stale - stale_before_;
  if (held == 0 && lost > 0 && options_.max_staleness) {
    return fmt::format(
        "all too stale: none of the {} entries since the last sample was of version {} or later "
        "(max_staleness {})",
        lost, counts_.version - *options_.max_staleness, *options_.max_staleness);
  }
  if (held < least || uses_left() < count) {
    return fmt::format(
        "too few entries: {} are held, min_size_to_sample is {}{}; {} have come, {} "
        "were too stale",
        held, least,
        options_.max_times_sampled == 0
            ? ""
            : fmt::format(", {} samples are left of max_times_sampled {}", uses_left(),
                          options_.max_times_sampled),
        counts_.inserted, counts_.stale);
  }
  return fmt::format("the rate limiter waits for inserts: {}", limiter_.describe());
}

std::vector<sample_info> replay_index::sample(std::int64_t count) {
  check_sample(count);
  if (!may_sample(count)) throw std::logic_error("replay: sample: " + shortage(count));
  std::vector<sample_info> samples;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto [key, probability] = sampler_->select();
    auto& entry = entries_.at(key);
    ++entry.times_sampled;
    ++times_sampled_;
    samples.push_back({.key = key,
                       .probability = probability,
                       .table_size = std::ssize(entries_),
                       .priority = entry.priority,
                       .times_sampled = entry.times_sampled,
                       .version = entry.version});
    limiter_.sampled();
    ++counts_.sampled;
    const auto staleness = std::max<std::int64_t>(0, counts_.version - entry.version);
    counts_.staleness_max = std::max(counts_.staleness_max, staleness);
    counts_.staleness_sum += static_cast<double>(staleness);
    if (used_up(entry)) {
      remove(key);
      ++counts_.used_up;
    }
  }
  stale_before_ = counts_.stale;
  return samples;
}

std::int64_t replay_index::update_priorities(std::span<const priority_update> updates) {
  for (const auto& update : updates) check_priority(update.priority);
  std::int64_t found = 0;
  for (const auto& update : updates) {
    const auto entry = entries_.find(update.key);
    if (entry == entries_.end()) continue;
    entry->second.priority = update.priority;
    highest_priority_ = std::max(highest_priority_, update.priority);
    sampler_->update(update.key, update.priority);
    remover_->update(update.key, update.priority);
    ++found;
  }
  return found;
}

void replay_index::advance(std::int64_t version) {
  counts_.version = std::max(counts_.version, version);
  drop_stale();
}

replay_table_counts replay_index::counts() const {
  auto now = counts_;
  now.held = std::ssize(entries_);
  return now;
}

std::vector<std::uint64_t> replay_index::keys() const {
  std::vector<std::uint64_t> keys;
  keys.reserve(entries_.size());
  for (const auto& [key, entry] : entries_) keys.push_back(key);
  std::ranges::sort(keys);
  return keys;
}

std::int64_t replay_index::uses_left() const {
  if (options_.max_times_sampled == 0) return rate_limiter::without_end;
  return options_.max_times_sampled * std::ssize(entries_) - times_sampled_;
}

bool replay_index::too_stale(std::int64_t version) const {
  return options_.max_staleness && counts_.version - version > *options_.max_staleness;
}

bool replay_index::used_up(const held_entry& entry) const {
  return options_.max_times_sampled > 0 && entry.times_sampled >= options_.max_times_sampled;
}

void replay_index::hold(std::uint64_t key, const held_entry& entry) {
  entries_.emplace(key, entry);
  if (options_.max_staleness) by_version_.emplace(entry.version, key);
  counts_.items += entry.items;
  counts_.bytes += entry.bytes;
  times_sampled_ += entry.times_sampled;
}

void replay_index::make_room(std::int64_t items, std::int64_t bytes) {
  // Written as differences: max_bytes may be the largest number there is.
  while (counts_.items > options_.max_items - items || counts_.bytes > options_.max_bytes - bytes) {
    remove(remover_->select().key);
    ++counts_.evicted;
  }
}

void replay_index::remove(std::uint64_t key) {
  const auto found = entries_.find(key);
  const auto& entry = found->second;
  sampler_->erase(key);
  remover_->erase(key);
  limiter_.removed();
  by_version_.erase({entry.version, key});
  counts_.items -= entry.items;
  counts_.bytes -= entry.bytes;
  times_sampled_ -= entry.times_sampled;
  entries_.erase(found);
  removed_.push_back(key);
}

void replay_index::drop_stale() {
  while (!by_version_.empty() && too_stale(by_version_.begin()->first)) {
    remove(by_version_.begin()->second);
    ++counts_.stale;
  }
}

}  // namespace troupe
