#pragma once
// Numbers for experience, which let a replay keep an item once even if it is inserted twice. So an
// insertion whose answer was lost can be repeated. The method is that of Kafka's idempotent
// producer (KIP-98, https://cwiki.apache.org/confluence/display/KAFKA/KIP-98, producer id and
// sequence number).

#include <cstddef>
#include <cstdint>
#include <set>
#include <unordered_map>

namespace troupe {

/// Identifies an item by its producer and its number there.
struct item_id {
  /// The producer's id; 0 means that the item is not numbered and never counts as repeated.
  std::uint64_t producer = 0;
  std::uint64_t number = 0;  ///< The number of the item among the producer's items, from 1.
  bool operator==(const item_id&) const = default;
};

/// An item with a member `id` that a producer sets.
template <class Item>
concept numbered = requires(Item& item) { item.id = item_id(); };

/// Numbers the items that one coroutine, actor or process makes. It can't be copied, because a copy
/// would give the same ids.
class producer {
 public:
  producer();
  producer(const producer&) = delete;

  item_id next() noexcept { return {id_, ++last_}; }

 private:
  const std::uint64_t id_;  ///< A random number, so that no two producers have the same id.
  std::uint64_t last_ = 0;
};

/// Remembers in bounded memory which items were inserted. For each producer it knows a number up to
/// which all items count as inserted, and single items beyond it, because items arrive in any order
/// and some never arrive.
class known_items {
 public:
  /// Once this many items beyond a missing one were inserted, the missing one counts as inserted,
  /// too.
  static constexpr std::size_t window = 4096;
  /// The number of producers that are remembered. If there are more, the one that was silent for
  /// the longest time is forgotten.
  static constexpr std::size_t producers_max = 1024;

  /// Records an item. Returns false if it was inserted before.
  bool add(const item_id& id);

 private:
  struct record {
    std::uint64_t up_to = 0;
    std::set<std::uint64_t> beyond;
    std::uint64_t heard = 0;  ///< The number of the last call of `add` for this producer.
  };

  record& record_of(std::uint64_t producer);

  std::unordered_map<std::uint64_t, record> producers_;
  std::uint64_t heard_ = 0;
};

}  // namespace troupe
