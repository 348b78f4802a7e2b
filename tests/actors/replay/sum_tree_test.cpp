#include "actors/replay/sum_tree.hpp"

#include <random>

#include "tests/test.hpp"

namespace troupe {
namespace {

double sum_of(const std::vector<double>& weights) {
  double sum = 0;
  for (const auto weight : weights) sum += weight;
  return sum;
}

/// Where `point` falls by counting along. REQUIRES: whole-number weights, so that sums are exact.
std::size_t naive_find(const std::vector<double>& weights, double point) {
  std::size_t place = 0;
  while (point >= weights[place]) point -= weights[place++];
  return place;
}

}  // namespace

TEST_CASE("sum_tree: a point falls on the weight that covers it") {
  sum_tree tree;
  CHECK(tree.total() == 0);
  tree.set(0, 2);
  tree.set(1, 0);
  tree.set(2, 3);  // 0 .. 2 is place 0's, 2 .. 5 place 2's
  CHECK(tree.total() == 5);
  CHECK(tree.find(0) == 0);
  CHECK(tree.find(1.9) == 0);
  CHECK(tree.find(2) == 2);
  CHECK(tree.find(4.9) == 2);
  CHECK(tree.find(5) == 2);  // a point that rounding has pushed past the end
  tree.set(5, 1);
  CHECK(tree.find(5) == 5);
  CHECK(tree.weight(4) == 0);
  CHECK(tree.weight(100) == 0);
}

TEST_CASE("sum_tree: equals naive sums through any sequence of changes") {
  for (std::uint32_t seed = 0; seed < 50; ++seed) {
    std::mt19937 random(seed);
    const std::size_t size = 1 + random() % 70;
    sum_tree tree;
    std::vector<double> naive(size);
    for (int step = 0; step < 300; ++step) {
      const auto place = random() % size;
      naive[place] = random() % 3 == 0 ? 0 : random() % 1000;
      tree.set(place, naive[place]);
      const auto total = sum_of(naive);
      REQUIRE(tree.total() == total);
      if (total == 0) continue;
      const auto point = static_cast<double>(random() % static_cast<std::uint32_t>(total));
      REQUIRE(tree.find(point) == naive_find(naive, point));
    }
  }
}

TEST_CASE("sum_tree: depends on its weights alone, not on what they were") {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> any(0, 1);
  sum_tree worn, fresh;
  std::vector<double> last(37);
  for (int step = 0; step < 10'000; ++step) {
    const auto place = random() % last.size();
    last[place] = any(random) * 1e-9 + (random() % 2) * 1e9;
    worn.set(place, last[place]);
  }
  for (std::size_t place = 0; place < last.size(); ++place) fresh.set(place, last[place]);
  CHECK(worn.total() == fresh.total());  // bit for bit
  for (std::size_t place = 0; place < last.size(); ++place) worn.set(place, 0);
  CHECK(worn.total() == 0);  // nothing is left over
}

}  // namespace troupe
