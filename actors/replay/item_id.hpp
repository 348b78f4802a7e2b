#pragma once
// Experience is numbered by who produces it, so that a replay that is told of an item twice keeps
// it once: the insertion whose answer was lost can be repeated. After Kafka's idempotent producer
// (KIP-98, https://cwiki.apache.org/confluence/display/KAFKA/KIP-98, producer id and sequence
// number).

#include <cstddef>
#include <cstdint>
#include <set>
#include <unordered_map>

namespace troupe {

/// Which item of which producer.
struct item_id {
  std::uint64_t producer = 0;  ///< 0: nobody's, so no other item is known to be the same.
  std::uint64_t number = 0;    ///< 1, 2, ...
  bool operator==(const item_id&) const = default;
};

/// What has a member `id` that a producer numbers.
template <class Item>
concept numbered = requires(Item& item) { item.id = item_id(); };

/// Numbers what one coroutine, actor or process makes. A copy would be another producer's twin, so
/// there is none.
class producer {
 public:
  producer();
  producer(const producer&) = delete;

  item_id next() noexcept { return {id_, ++last_}; }

 private:
  const std::uint64_t id_;  ///< Drawn at random: no two are the same.
  std::uint64_t last_ = 0;
};

/// The items that have come, in bounded memory. Of a producer's all up to a number are known, and
/// single ones beyond that, because they come in any order and some never.
class known_items {
 public:
  /// So far behind its producer's newest an item is taken for one that has come.
  static constexpr std::size_t window = 4096;
  /// Then the one that was silent the longest is forgotten.
  static constexpr std::size_t producers_max = 1024;

  /// False if it has come before.
  bool add(const item_id& id);

 private:
  struct record {
    std::uint64_t up_to = 0;
    std::set<std::uint64_t> beyond;
    std::uint64_t heard = 0;  ///< In the order of hearing.
  };

  record& record_of(std::uint64_t producer);

  std::unordered_map<std::uint64_t, record> producers_;
  std::uint64_t heard_ = 0;
};

}  // namespace troupe
