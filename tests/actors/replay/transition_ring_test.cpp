#include "actors/replay/transition_ring.hpp"

#include <map>

#include "actors/checkpoint/state.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

constexpr transition_widths widths{.obs = 2, .action = 1};

/// Transition k has k in its obs and reward, and k + 0.5 in its next_obs.
transition_rows rows_from(int first, int count) {
  transition_rows rows;
  for (int k = first; k < first + count; ++k) {
    const auto x = static_cast<float>(k);
    rows.obs.insert(rows.obs.end(), {x, -x});
    rows.action.push_back(x / 1000);
    rows.reward.push_back(x);
    rows.next_obs.insert(rows.next_obs.end(), {x + 0.5f, -x});
    rows.terminated.push_back(k % 2 == 0);
    rows.discount.push_back(0.9f);
  }
  return rows;
}

/// How often each transition was drawn; checks that its columns belong together.
std::map<int, int> draws(const transition_ring& ring, int count, std::uint64_t seed = 1) {
  action_random random(seed);
  transition_rows got;
  ring.sample(static_cast<std::size_t>(count), random, got);
  REQUIRE(got.size() == static_cast<std::size_t>(count));
  std::map<int, int> times;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const float x = got.reward[i];
    CHECK(got.obs[2 * i] == x);
    CHECK(got.obs[2 * i + 1] == -x);
    CHECK(got.action[i] == x / 1000);
    CHECK(got.next_obs[2 * i] == x + 0.5f);
    CHECK(got.terminated[i] == (static_cast<int>(x) % 2 == 0));
    ++times[static_cast<int>(x)];
  }
  return times;
}

TEST_CASE("transition_ring: the newest are kept, whole, over any number of blocks") {
  transition_ring ring(widths, {.capacity = 10'000});
  for (int k = 0; k < 25'000; k += 250) ring.insert(rows_from(k, 250));
  CHECK(ring.size() == 10'000);
  CHECK(ring.inserted() == 25'000);
  const auto times = draws(ring, 50'000);
  CHECK(times.begin()->first >= 15'000);
  CHECK(times.rbegin()->first < 25'000);
  CHECK(times.size() > 9'800);  // e^-5 of 10,000 are missed in the mean
}

TEST_CASE("transition_ring: a draw is uniform") {
  transition_ring ring(widths, {.capacity = 10});
  ring.insert(rows_from(0, 13));
  const auto times = draws(ring, 100'000);
  REQUIRE(times.size() == 10);
  double chi_squared = 0;
  for (const auto& [k, n] : times) chi_squared += (n - 10'000.0) * (n - 10'000.0) / 10'000.0;
  CHECK(chi_squared < 27.9);  // 9 degrees of freedom: 0.1 % are above
}

TEST_CASE("transition_ring: memory is taken as it is needed, and no more than was allowed") {
  transition_ring ring(widths, {.capacity = 1'000'000'000, .max_bytes = 100'000'000'000});
  ring.insert(rows_from(0, 5));
  CHECK(ring.bytes() < 1'000'000);
  CHECK_THROWS_WITH(transition_ring(widths, {.capacity = 1'000'000, .max_bytes = 1'000'000}),
                    Catch::Contains("1000000 transitions of 32 bytes take 32 MB") &&
                        Catch::Contains("at most max_bytes, 1 MB"));
}

TEST_CASE("transition_ring: a sample allocates only once") {
  transition_ring ring(widths, {.capacity = 100});
  ring.insert(rows_from(0, 100));
  action_random random(3);
  transition_rows into;
  ring.sample(64, random, into);
  const auto* memory = into.obs.data();
  for (int i = 0; i < 10; ++i) ring.sample(64, random, into);
  CHECK(into.obs.data() == memory);
}

TEST_CASE("transition_ring: discrete actions have a column of their own") {
  transition_ring ring({.obs = 1, .choices = 1}, {.capacity = 4});
  transition_rows row;
  row.obs = {1};
  row.choice = {7};
  row.reward = {2};
  row.next_obs = {3};
  row.terminated = {0};
  row.discount = {0.5};
  ring.insert(row);
  action_random random(1);
  transition_rows got;
  ring.sample(1, random, got);
  CHECK(got.choice == row.choice);
  CHECK(got.action.empty());
  CHECK(got.discount == row.discount);
}

TEST_CASE("transition_ring: rows of another shape are refused by name") {
  transition_ring ring(widths, {.capacity = 4});
  auto rows = rows_from(0, 3);
  rows.next_obs.pop_back();
  CHECK_THROWS_WITH(ring.insert(rows), Catch::Contains("next_obs") && Catch::Contains("got 5"));
  CHECK(ring.size() == 0);
  action_random random(1);
  transition_rows into;
  CHECK_THROWS_AS(ring.sample(1, random, into), std::logic_error);
}

TEST_CASE("transition_ring: one that was restored gives the same draws and drops the same") {
  for (const int inserted : {7, 13}) {
    transition_ring ring(widths, {.capacity = 10});
    ring.insert(rows_from(0, inserted));
    state_writer to;
    ring.save(to);
    transition_ring back(widths, {.capacity = 10});
    back.restore(state_reader(to.bytes()));
    CHECK(draws(back, 100) == draws(ring, 100));
    ring.insert(rows_from(100, 4));
    back.insert(rows_from(100, 4));
    CHECK(draws(back, 1000) == draws(ring, 1000));
    transition_ring smaller(widths, {.capacity = 9});
    CHECK_THROWS_AS(smaller.restore(state_reader(to.bytes())), state_error);
    transition_ring other({.obs = 3, .action = 1}, {.capacity = 10});
    CHECK_THROWS_AS(other.restore(state_reader(to.bytes())), state_error);
  }
}

}  // namespace
}  // namespace troupe
