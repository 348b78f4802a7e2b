#pragma once

#include <fmt/format.h>

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "actors/checkpoint/state.hpp"
#include "actors/replay/item_id.hpp"
#include "actors/replay/replay_index.hpp"

namespace troupe {

/// What a table must be told of its items.
template <class Item>
struct replay_codec {
  /// Of a checkpoint: without them `save` and `restore` throw std::logic_error.
  std::function<std::string(const Item&)> encode;
  std::function<Item(const std::string&)> decode;
  std::function<std::int64_t(const Item&)> bytes;  ///< Held by an item; null: sizeof(Item).
};

/// What goes in: an item, or a group whose items are inserted, sampled and removed together.
template <class Item>
struct replay_group {
  std::vector<Item> items;
  std::optional<double> priority = {};  ///< As replay_entry's.
  std::int64_t version = 0;             ///< The oldest weights that made any part of it.
  item_id id = {};
};

/// What comes out: the whole group, shared with the table and unchangeable.
template <class Item>
struct replay_sample {
  std::shared_ptr<const std::vector<Item>> items;
  sample_info info;
};

/// Items and the order in which they come and go: Reverb's table (Cassirer et al. 2021,
/// https://arxiv.org/abs/2102.04736), with groups, bounds in bytes and a bound on staleness. Plain
/// data for one actor; it waits for nothing and says what may not be. See replay_index for when
/// what throws.
template <class Item>
class replay_table {
 public:
  explicit replay_table(const replay_table_options& options, replay_codec<Item> codec = {})
      : options_(options), codec_(std::move(codec)), index_(options) {}

  bool may_insert() const { return index_.may_insert(); }
  /// The group's key; none if it is too stale already.
  std::optional<std::uint64_t> insert(replay_group<Item> group) {
    const auto key = index_.insert({.priority = group.priority,
                                    .version = group.version,
                                    .items = std::ssize(group.items),
                                    .bytes = bytes_of(group.items)});
    erase_removed();
    if (key) groups_.emplace(*key, share(std::move(group.items)));
    return key;
  }

  void check_sample(std::int64_t count) const { index_.check_sample(count); }
  bool may_sample(std::int64_t count) const { return index_.may_sample(count); }
  std::string shortage(std::int64_t count) const { return index_.shortage(count); }
  /// `count` groups.
  std::vector<replay_sample<Item>> sample(std::int64_t count) {
    std::vector<replay_sample<Item>> samples;
    for (const auto& info : index_.sample(count)) {
      samples.push_back({.items = groups_.at(info.key), .info = info});
    }
    erase_removed();
    return samples;
  }

  std::int64_t update_priorities(std::span<const priority_update> updates) {
    return index_.update_priorities(updates);
  }
  void advance(std::int64_t version) {
    index_.advance(version);
    erase_removed();
  }
  replay_table_counts counts() const { return index_.counts(); }

  void save(state_writer& to) const {
    if (!codec_.encode) throw std::logic_error("replay: save: expected a codec's encode");
    std::vector<std::string> encoded;
    for (const auto key : index_.keys()) {
      for (const auto& item : *groups_.at(key)) encoded.push_back(codec_.encode(item));
    }
    index_.save(to);
    to.put("encoded", encoded);
  }

  /// Replaces all there is. Throws state_error, and what `decode` throws; nothing is then changed.
  void restore(const state_reader& from) {
    if (!codec_.decode) throw std::logic_error("replay: restore: expected a codec's decode");
    replay_index index(options_);
    index.restore(from);
    auto groups = decode_groups(from);
    for (const auto key : index.take_removed()) groups.erase(key);
    index_ = std::move(index);
    groups_ = std::move(groups);
  }

 private:
  using shared_group = std::shared_ptr<const std::vector<Item>>;
  using group_map = std::unordered_map<std::uint64_t, shared_group>;

  static shared_group share(std::vector<Item> items) {
    return std::make_shared<const std::vector<Item>>(std::move(items));
  }

  std::int64_t bytes_of(const std::vector<Item>& items) const {
    if (!codec_.bytes) return std::ssize(items) * static_cast<std::int64_t>(sizeof(Item));
    std::int64_t sum = 0;
    for (const auto& item : items) sum += codec_.bytes(item);
    return sum;
  }

  void erase_removed() {
    for (const auto key : index_.take_removed()) groups_.erase(key);
  }

  /// What index_.restore has checked: as many sizes as keys, all of them >= 1.
  group_map decode_groups(const state_reader& from) const {
    const auto keys = from.get<std::vector<std::uint64_t>>("keys");
    const auto sizes = from.get<std::vector<std::int64_t>>("items");
    const auto encoded = from.get<std::vector<std::string>>("encoded");
    auto rest = std::ssize(encoded);
    for (const auto size : sizes) rest = size <= rest ? rest - size : -1;
    if (rest != 0) {
      throw state_error(
          fmt::format("saved state: encoded: {} items do not fit the groups", encoded.size()));
    }
    group_map groups;
    auto next = encoded.begin();
    for (std::size_t i = 0; i < keys.size(); ++i) {
      std::vector<Item> items;
      for (std::int64_t j = 0; j < sizes[i]; ++j) items.push_back(codec_.decode(*next++));
      groups.emplace(keys[i], share(std::move(items)));
    }
    return groups;
  }

  replay_table_options options_;
  replay_codec<Item> codec_;
  replay_index index_;
  group_map groups_;
};

}  // namespace troupe
