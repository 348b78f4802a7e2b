#pragma once
// The replay of the on-policy algorithms, GRPO included: a queue of items that are trained on once.

#include <fmt/format.h>

#include <concepts>
#include <cstdint>
#include <deque>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "actors/checkpoint/role_storage.hpp"
#include "actors/replay/admission.hpp"
#include "actors/replay/item_id.hpp"
#include "actors/replay/replay.hpp"
#include "runtime/coroutine/combine.hpp"
#include "runtime/coroutine/condition.hpp"
#include "runtime/wire/codec.hpp"

namespace troupe {

/// The options of a replay_queue.
struct replay_options {
  std::int64_t batch = 1;  ///< The number of items in one sample, at least 1.
  /// The largest difference between the version of the weights in use and an item's version, at
  /// least 0. An item with a larger difference is dropped.
  std::int64_t max_staleness = 0;
  /// The largest number of items that are held, at least `batch`; `insert` waits above it.
  std::size_t capacity = 1024;
  /// The largest total size of the held items in bytes; `insert` waits above it. The size of an
  /// item is its encoded size, or sizeof(Item) if Item can't be encoded. Up to `batch` items are
  /// accepted whatever their size.
  std::size_t max_bytes = std::size_t{1} << 30;
  /// The longest time that `sample` waits before it throws replay_starved.
  duration patience = std::chrono::minutes(10);
};

/// An item with a length, in a unit of its own, such as steps or tokens. Longer items take longer
/// to make, so dropping stale ones biases training towards short items.
/// replay_counts::stale_length, the sum of the dropped items' lengths, shows this bias.
template <class Item>
concept has_length = requires(const Item& item) {
  { item.length() } -> std::convertible_to<double>;
};

/// The state of a replay_queue in a checkpoint.
template <class Item>
struct replay_state {
  std::vector<Item> items;   ///< The held items, oldest first.
  std::int64_t begun = 0;    ///< The number of items admitted, without those given back or stale.
  std::int64_t version = 0;  ///< The version of the weights in use.
  replay_counts counts;      ///< The counts since the start of the run.
};

/// The replay between rollouts and an on-policy trainer (see replay.hpp). Items are sampled first
/// in, first out, each of them once, and none that is staler than allowed. Item has a member
/// `version`, the version of the oldest weights that made any part of it. If Item has a member
/// `item_id id` that a producer set, inserting the same id twice keeps one item, so `insert` may be
/// listed in serve_options::idempotent. A checkpoint doesn't contain the ids.
template <class Item>
class replay_queue {
 public:
  using item_type = Item;

  /// Holds the items and counts of a queue. Pass a storage to `serve` as an argument of the role to
  /// keep them when the replica restarts. The number of admitted items is then set from the version
  /// and the number of held items. Only one queue may use a storage at a time, so a service with
  /// such an argument has one replica.
  class storage;

  /// `on` is the storage of the items; null means that the queue makes its own. Throws
  /// std::invalid_argument for a batch below 1, a max_staleness below 0 and a capacity below the
  /// batch, and std::logic_error if another queue uses the storage.
  explicit replay_queue(replay_options options, std::shared_ptr<storage> on = nullptr)
      : options_(options),
        storage_(on ? std::move(on) : std::make_shared<storage>()),
        claim_(*storage_, "replay"),
        items_(storage_->items_),
        version_(storage_->version_),
        counts_(storage_->counts_),
        admission_(options.batch, options.max_staleness) {
    if (options.capacity < static_cast<std::size_t>(options.batch)) {
      throw std::invalid_argument(
          fmt::format("replay: capacity: expected at least batch ({}), got {}", options.batch,
                      options.capacity));
    }
    admission_.restore(version_ * options.batch + std::ssize(items_));
  }

  /// Waits until an item that is begun now will not be too stale when it is sampled in its turn,
  /// counts it as admitted and returns true. Returns false once the queue is closed.
  task<bool> admit() {
    while (!closed_ && !admission_.open(version_)) co_await changed_.wait();
    if (closed_) co_return false;
    admission_.begin();
    co_return true;
  }
  /// Closes the queue for good: no item is admitted any more. Items that were admitted may still be
  /// inserted, even beyond the capacity, so that a loop can let its episodes end. A waiting
  /// `sample` goes on waiting.
  void close() {
    closed_ = true;
    changed_.notify_all();
  }
  /// Gives an admission back: an admitted item will not be inserted, so another one may be admitted
  /// in its place.
  void abandon() {
    admission_.lose();
    changed_.notify_all();
  }

  /// Inserts an item, and waits while the queue is full, without a time limit of its own. An item
  /// that is too stale is dropped, and so is one that was inserted before. If the item's version is
  /// above `version()`, it becomes the version of the weights in use. The item doesn't need to be
  /// admitted.
  task<> insert(Item item) {
    const auto bytes = bytes_of(item);
    while (!closed_ && !has_room(bytes)) co_await changed_.wait();
    if constexpr (numbered<Item>) {
      if (!storage_->known_.add(item.id)) {
        ++counts_.repeated;
        co_return;
      }
    }
    // A replay that was restarted may not know the version yet.
    version_ = std::max(version_, item.version);
    items_.push_back({std::move(item), bytes});
    counts_.bytes += bytes;
    ++counts_.inserted;
    drop_stale();  // Others may have overtaken the item.
    changed_.notify_all();
  }

  /// Waits for the next `batch` items and returns them, oldest first. Throws replay_starved if it
  /// has waited `patience` without enough items. The time starts again if another sample takes the
  /// items or they become too stale.
  task<std::vector<Item>> sample() {
    // It waits again if another sample took the items, or if they have become stale meanwhile.
    while (!satisfied()) co_await wait_patiently();
    co_return take();
  }

  /// Returns the next `batch` items, oldest first, without waiting; returns an empty vector if
  /// fewer are held.
  std::vector<Item> take() {
    std::vector<Item> batch;
    if (!satisfied()) return batch;
    for (std::int64_t i = 0; i < options_.batch; ++i) {
      auto& next = items_.front();
      const auto staleness = version_ - next.item.version;
      counts_.staleness_max = std::max(counts_.staleness_max, staleness);
      counts_.staleness_sum += static_cast<double>(staleness);
      counts_.bytes -= next.bytes;
      batch.push_back(std::move(next.item));
      items_.pop_front();
    }
    counts_.sampled += options_.batch;
    changed_.notify_all();
    return batch;
  }

  /// Sets the version of the weights in use, drops the items that are too stale for it, and may
  /// admit new ones. `version` must not fall.
  void trained(std::int64_t version) {
    version_ = version;
    admission_.catch_up(version);
    drop_stale();
    changed_.notify_all();
  }

  /// The version of the weights in use.
  std::int64_t version() const { return version_; }

  /// Returns the state for a checkpoint.
  replay_state<Item> save() const {
    replay_state<Item> state{{}, admission_.begun(), version_, counts_};
    for (const auto& each : items_) state.items.push_back(each.item);
    return state;
  }
  /// Restores a state that `save` returned. Call it before any other endpoint.
  void restore(replay_state<Item> state) {
    admission_.restore(state.begun);
    version_ = state.version;
    counts_ = state.counts;
    counts_.bytes = 0;
    items_.clear();
    for (auto& item : state.items) {
      const auto bytes = bytes_of(item);
      items_.push_back({std::move(item), bytes});
      counts_.bytes += bytes;
    }
  }

  /// The number of items in one sample: replay_options::batch.
  std::int64_t sample_size() const { return options_.batch; }
  /// The number of items that a sample lacks; 0 if enough are held.
  std::size_t missing() const {
    return static_cast<std::size_t>(options_.batch) -
           std::min(items_.size(), static_cast<std::size_t>(options_.batch));
  }

  /// The counts since the start, or since the start of the run if a state was restored.
  replay_counts counts() const {
    auto now = counts_;
    now.held = items_.size();
    return now;
  }

 private:
  struct place {
    Item item;
    std::size_t bytes;
  };

  static std::size_t bytes_of(const Item& item) {
    if constexpr (encodable<Item>) {
      return wire_size(item);
    } else {
      return sizeof(Item);
    }
  }
  bool has_room(std::size_t bytes) const {
    return !satisfied() ||
           (items_.size() < options_.capacity && counts_.bytes + bytes <= options_.max_bytes);
  }
  bool satisfied() const { return items_.size() >= static_cast<std::size_t>(options_.batch); }

  task<> wait_patiently() {
    try {
      co_await with_timeout(wait_until_satisfied(), options_.patience);
    } catch (const call_error&) {
      throw replay_starved(
          fmt::format("replay: a sample of {} items for weights of version {} waited {}: {} are "
                      "held, {} have come, {} were too stale (max_staleness {})",
                      options_.batch, version_, detail::to_text(options_.patience), items_.size(),
                      counts_.inserted, counts_.stale, options_.max_staleness));
    }
  }

  task<> wait_until_satisfied() {
    while (!satisfied()) co_await changed_.wait();
  }

  void drop_stale() {
    const auto dropped = std::erase_if(items_, [this](const place& each) {
      if (version_ - each.item.version <= options_.max_staleness) return false;
      counts_.bytes -= each.bytes;
      if constexpr (has_length<Item>) counts_.stale_length += each.item.length();
      return true;
    });
    for (std::size_t i = 0; i < dropped; ++i) admission_.lose();
    counts_.stale += static_cast<std::int64_t>(dropped);
  }

  const replay_options options_;
  const std::shared_ptr<storage> storage_;
  storage_claim claim_;
  std::deque<place>& items_;
  std::int64_t& version_;
  replay_counts& counts_;
  admission admission_;
  bool closed_ = false;
  condition changed_;
};

template <class Item>
class replay_queue<Item>::storage : public role_storage {
  friend class replay_queue;
  std::deque<place> items_;
  std::int64_t version_ = 0;
  replay_counts counts_;
  known_items known_;
};

namespace detail {
struct least_item {
  std::int64_t version = 0;
};
}  // namespace detail
static_assert(replay<replay_queue<detail::least_item>>);

}  // namespace troupe
