#include "actors/data/dataset.hpp"

#include <map>
#include <set>

#include "tests/runtime/support.hpp"

namespace troupe {
namespace {

using namespace testing;

std::vector<int> count_to(int n) {
  std::vector<int> items;
  for (int i = 0; i < n; ++i) items.push_back(i);
  return items;
}

std::vector<int> take(dataset<int>& from, int n) {
  std::vector<int> items;
  for (int i = 0; i < n; ++i) items.push_back(from.next());
  return items;
}

std::vector<int> draw(dataset<int>& from, int n) {
  std::vector<int> items;
  for (int i = 0; i < n; ++i) items.push_back(from.sample());
  return items;
}

task<> replicas_differ(system& sys) {
  const auto items = dataset<int>::shared(count_to(100));
  auto data = co_await sys.serve<dataset<int>>({.name = "dataset", .replicas = 2}, items,
                                               dataset_options{.seed = 4});
  std::set<int> seen[2];
  std::vector<int> first[2];
  for (int i = 0; i < 100; ++i) {
    const auto both = co_await data.fanout<&dataset<int>::next>();
    for (std::size_t r = 0; r < 2; ++r) {
      seen[r].insert(both[r]);
      first[r].push_back(both[r]);
    }
  }
  CHECK(seen[0].size() == 100);
  CHECK(seen[1].size() == 100);
  CHECK(first[0] != first[1]);
  CHECK(items.use_count() >= 3);  // shared, not copied
  dataset<int> alone(count_to(100), {.seed = 4});
  CHECK(first[0] == take(alone, 100));
}

task<> exhausted(system& sys) {
  auto data = co_await sys.serve<dataset<int>>({.name = "dataset"}, count_to(3),
                                               dataset_options{.epochs = 2});
  for (int i = 0; i < 6; ++i) co_await data.route<&dataset<int>::next>();
  const auto outcome = co_await data.try_route<&dataset<int>::next>();
  REQUIRE_FALSE(outcome.ok());
  CHECK_THAT(describe(outcome.error()),
             has_text("dataset: all 2 epochs of 3 items have been given"));
  co_await data.route<&dataset<int>::sample>();  // needs no epoch
}

}  // namespace

TEST_CASE("dataset: an epoch gives each item once, the next one in another order") {
  dataset<int> data(count_to(50), {.seed = 3});
  const auto one = take(data, 50);
  CHECK(data.epoch() == 1);
  const auto two = take(data, 50);
  CHECK(std::set<int>(one.begin(), one.end()).size() == 50);
  CHECK(std::set<int>(two.begin(), two.end()).size() == 50);
  CHECK(one != two);
  CHECK(one != count_to(50));
}

TEST_CASE("dataset: the seed decides the order") {
  dataset<int> a(count_to(50), {.seed = 3}), b(count_to(50), {.seed = 3}),
      c(count_to(50), {.seed = 4});
  const auto order = take(a, 50);
  CHECK(order == take(b, 50));
  CHECK(order != take(c, 50));
}

TEST_CASE("dataset: another replica's order, or a restarted one's, is no other seed's") {
  const auto items = dataset<int>::shared(count_to(50));
  std::set<std::vector<int>> orders;
  for (const std::size_t replica : {0, 1, 2}) {
    for (const std::size_t restart : {0, 1, 2}) {
      // Seeds as far apart as sums of a seed and such indices would bring together.
      for (const std::uint64_t seed : {0, 1, 2, 1'000'003, 1'000'004, 7'368'787, 7'368'788}) {
        dataset<int> one({.index = replica, .generation = restart}, items, {.seed = seed});
        orders.insert(take(one, 50));
      }
    }
  }
  CHECK(orders.size() == 3 * 3 * 7);
}

TEST_CASE("dataset: every place in an epoch is as likely for an item") {
  // 4 items, 24 orders, 24,000 epochs: a chi-squared of 23 degrees of freedom stays below 49.7 with
  // probability 0.999.
  dataset<int> data(count_to(4), {.seed = 1});
  std::map<std::vector<int>, double> orders;
  for (int epoch = 0; epoch < 24'000; ++epoch) ++orders[take(data, 4)];
  CHECK(orders.size() == 24);
  double chi_squared = 0;
  for (const auto& [order, count] : orders) chi_squared += (count - 1000) * (count - 1000) / 1000;
  CHECK(chi_squared < 49.7);
}

TEST_CASE("dataset: unshuffled items come in their order") {
  dataset<int> data(count_to(3), {.shuffle = false});
  CHECK(take(data, 7) == std::vector<int>{0, 1, 2, 0, 1, 2, 0});
}

TEST_CASE("dataset: a batch ends with its epoch") {
  dataset<int> data(count_to(5), {.shuffle = false, .epochs = 2});
  for (int epoch = 0; epoch < 2; ++epoch) {
    CHECK(data.next_batch(2) == std::vector<int>{0, 1});
    CHECK(data.next_batch(2) == std::vector<int>{2, 3});
    CHECK(data.epoch() == epoch);
    CHECK(data.next_batch(2) == std::vector<int>{4});
  }
  CHECK_THROWS_AS(data.next_batch(2), dataset_exhausted);
}

TEST_CASE("dataset: a sample draws any item and leaves the epoch alone") {
  dataset<int> data(count_to(10), {.shuffle = false, .seed = 5});
  take(data, 3);
  const auto drawn = draw(data, 500);
  CHECK(std::set<int>(drawn.begin(), drawn.end()).size() == 10);
  CHECK(data.next() == 3);
}

TEST_CASE("dataset: a restored cursor goes on with exactly the same items") {
  for (const bool shuffle : {true, false}) {
    // 30 is between two epochs, 60 after two.
    for (const int before : {0, 1, 29, 30, 31, 60, 77}) {
      dataset<int> data(count_to(30), {.shuffle = shuffle, .seed = 8});
      take(data, before);
      draw(data, before);
      const auto cursor = data.save();
      const auto following = take(data, 100);
      const auto drawn = draw(data, 100);

      dataset<int> resumed(count_to(30), {.shuffle = shuffle, .seed = 99});
      take(resumed, 13);
      resumed.restore(cursor);
      CHECK(resumed.epoch() == before / 30);
      CHECK(resumed.save() == cursor);
      CHECK(take(resumed, 100) == following);
      CHECK(draw(resumed, 100) == drawn);
    }
  }
}

TEST_CASE("dataset: a cursor over other items is refused, and nothing changes") {
  dataset<int> data(count_to(30), {.seed = 8});
  take(data, 10);
  const auto before = data.save();
  CHECK_THROWS_WITH(data.restore(dataset<int>(count_to(31)).save()),
                    "dataset: expected a cursor over 30 items, got one over 31");
  CHECK_THROWS_WITH(
      data.restore(dataset<int>(count_to(30), {.shuffle = false}).save()),
      "dataset: expected the cursor of a dataset that is shuffled, got one that is not");
  CHECK_THROWS_AS(data.restore("no state"), state_error);
  CHECK(data.save() == before);
}

TEST_CASE("dataset: expects items, and no negative number of epochs") {
  CHECK_THROWS_WITH(dataset<int>(std::vector<int>{}),
                    "dataset: expected at least one item, got none");
  CHECK_THROWS_WITH(dataset<int>(count_to(1), {.epochs = -1}),
                    "dataset: epochs: expected a number >= 0, got -1");
}

TEST_CASE("dataset: replicas share the items and shuffle them each in its own order") {
  play(replicas_differ);
}

TEST_CASE("dataset: after its last epoch the caller is told") { play(exhausted); }

}  // namespace troupe
