#include "actors/replay/admission.hpp"

#include <deque>
#include <random>

#include "tests/runtime/support.hpp"

namespace troupe {
namespace {

/// Items that begin, are lost and are trained on, first come first served.
struct production {
  std::int64_t batch;
  std::int64_t max_staleness;
  admission gate{batch, max_staleness};
  std::int64_t version = 0;
  std::deque<std::int64_t> begun_at;  ///< The version at which each item that waits had begun.
  std::int64_t stalest = 0;

  void begin() {
    gate.begin();
    begun_at.push_back(version);
  }
  void lose(std::size_t which) {
    gate.lose();
    begun_at.erase(begun_at.begin() + static_cast<std::ptrdiff_t>(which));
  }
  bool can_train() const { return std::ssize(begun_at) >= batch; }
  void train() {
    for (std::int64_t i = 0; i < batch; ++i) {
      stalest = std::max(stalest, version - begun_at.front());
      begun_at.pop_front();
    }
    ++version;
  }
};

}  // namespace

TEST_CASE("admission: no sequence of beginnings, losses and updates makes an item too stale") {
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    production p{.batch = 1 + static_cast<std::int64_t>(random() % 5), .max_staleness = seed % 5};
    INFO("seed " << seed << ", batch " << p.batch << ", max_staleness " << p.max_staleness);
    for (int step = 0; step < 2000; ++step) {
      const bool open = p.gate.open(p.version);
      REQUIRE((open || p.can_train()));  // it never stands still
      const auto choice = random() % 8;
      if (choice == 0 && !p.begun_at.empty()) {
        p.lose(random() % p.begun_at.size());
      } else if (open && (choice < 6 || !p.can_train())) {
        p.begin();
      } else if (p.can_train()) {
        p.train();
      }
    }
    CHECK(p.stalest == p.max_staleness);  // the bound holds, and is used up
    CHECK(p.version > 100);
  }
}

TEST_CASE("admission: what began unseen counts as begun") {
  admission gate(2, 1);
  gate.catch_up(10);
  for (int i = 0; i < 4; ++i) {
    CHECK(gate.open(10));
    gate.begin();
  }
  CHECK_FALSE(gate.open(10));
  CHECK(gate.begun() == 24);
}

TEST_CASE("admission: refuses a batch of none and a negative staleness") {
  CHECK_THROWS_WITH(admission(0, 0), testing::has_text("batch: expected a number > 0"));
  CHECK_THROWS_WITH(admission(1, -1), testing::has_text("max_staleness: expected a number >= 0"));
}

}  // namespace troupe
