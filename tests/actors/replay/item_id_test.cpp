#include "actors/replay/item_id.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include "tests/test.hpp"

namespace troupe {
namespace {

TEST_CASE("item_id: a producer counts from 1, and no two are the same") {
  producer one, other;
  const auto first = one.next();
  CHECK(first.number == 1);
  CHECK(one.next() == item_id{first.producer, 2});
  CHECK(other.next().producer != first.producer);
  CHECK(first.producer != 0);
}

TEST_CASE("known_items: what nobody numbered is always new") {
  known_items known;
  CHECK(known.add({}));
  CHECK(known.add({}));
}

TEST_CASE("known_items: each once, in any order, some never, of several producers") {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    std::vector<item_id> coming;
    for (std::uint64_t p = 1; p <= 5; ++p) {
      for (std::uint64_t n = 1; n <= 1000; ++n) {
        if (random() % 50 == 0) continue;
        for (unsigned times = 0; times <= random() % 3; ++times) coming.push_back({p, n});
      }
    }
    std::shuffle(coming.begin(), coming.end(), random);
    known_items known;
    std::set<std::pair<std::uint64_t, std::uint64_t>> expected;
    for (const auto& id : coming) {
      CHECK(known.add(id) == expected.insert({id.producer, id.number}).second);
    }
  }
}

TEST_CASE("known_items: what is further behind than the window has come, as far as it can know") {
  known_items known;
  for (std::uint64_t n = 2; n <= known_items::window + 1; ++n) REQUIRE(known.add({7, n}));
  CHECK(known.add({7, known_items::window + 10}));
  CHECK_FALSE(known.add({7, 1}));
  CHECK(known.add({7, known_items::window + 5}));
}

TEST_CASE("known_items: the producer that was silent the longest is forgotten") {
  known_items known;
  for (std::uint64_t p = 1; p <= known_items::producers_max; ++p) known.add({p, 1});
  CHECK_FALSE(known.add({1, 1}));  // Heard again, so 2 is the most silent.
  CHECK(known.add({known_items::producers_max + 1, 1}));
  CHECK_FALSE(known.add({1, 1}));
  CHECK(known.add({2, 1}));
}

}  // namespace
}  // namespace troupe
