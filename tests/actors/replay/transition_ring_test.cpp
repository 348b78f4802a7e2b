#include "actors/replay/transition_ring.hpp"

#include <map>
#include <random>

#include "actors/checkpoint/state.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

constexpr transition_widths widths{.obs = 2, .action = 1};

/// Where a row lies, with its episode's number.
struct placed {
  std::uint32_t environment = 0;
  std::uint32_t episode = 0;
  std::uint32_t step = 0;
  episode_end end = episode_end::none;
};

/// Transition k has k in its obs and reward, and k + 0.5 in its next_obs.
void append(transition_rows& rows, int k, const placed& at) {
  const auto x = static_cast<float>(k);
  rows.obs.insert(rows.obs.end(), {x, -x});
  rows.action.push_back(x / 1000);
  rows.reward.push_back(x);
  rows.next_obs.insert(rows.next_obs.end(), {x + 0.5f, -x});
  rows.terminated.push_back(k % 2 == 0);
  rows.discount.push_back(0.9f);
  rows.environment.push_back(at.environment);
  rows.episode.push_back(at.episode);
  rows.step.push_back(at.step);
  rows.ended.push_back(static_cast<std::uint8_t>(at.end));
}

/// All of one episode without an end.
transition_rows rows_from(int first, int count) {
  transition_rows rows;
  for (int k = first; k < first + count; ++k) {
    append(rows, k, {.step = static_cast<std::uint32_t>(k)});
  }
  return rows;
}

transition_rows rows_at(const std::vector<placed>& all) {
  transition_rows rows;
  for (std::size_t i = 0; i < all.size(); ++i) append(rows, static_cast<int>(i), all[i]);
  return rows;
}

using numbers = std::vector<std::int64_t>;
constexpr auto none = episode_end::none;
constexpr auto terminated = episode_end::terminated;
constexpr auto truncated = episode_end::truncated;

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
                    Catch::Contains("1000000 transitions of 49 bytes take 49 MB") &&
                        Catch::Contains("at most max_bytes, 1 MB"));
}

TEST_CASE("transition_ring: rewards and ends of agents are kept beside the row's own") {
  const transition_widths of_agents{.obs = 2, .action = 1, .agents = 3};
  CHECK(of_agents.bytes() == widths.bytes() + 2 * 3 * sizeof(float));
  const auto with_agents = [](int first, int count) {
    auto rows = rows_from(first, count);
    for (int k = first; k < first + count; ++k) {
      for (int agent = 0; agent < 3; ++agent) {
        rows.agent_reward.push_back(static_cast<float>(10 * k + agent));
        rows.agent_terminated.push_back(static_cast<float>(agent == k % 3));
      }
    }
    return rows;
  };
  transition_ring ring(of_agents, {.capacity = 10});
  ring.insert(with_agents(0, 7));
  ring.insert(with_agents(7, 6));
  CHECK_THROWS_WITH(ring.insert(rows_from(13, 1)),
                    Catch::Contains("agent_reward: expected 3 numbers for each of 1"));

  state_writer to;
  ring.save(to);
  transition_ring back(of_agents, {.capacity = 10});
  back.restore(state_reader(to.bytes()));
  transition_rows got;
  back.gather(numbers{12, 5, 9}, got);
  CHECK(got.reward == std::vector<float>{12, 5, 9});
  CHECK(got.agent_reward == std::vector<float>{120, 121, 122, 50, 51, 52, 90, 91, 92});
  CHECK(got.agent_terminated == std::vector<float>{1, 0, 0, 0, 0, 1, 1, 0, 0});

  transition_ring single(widths, {.capacity = 10});
  CHECK_THROWS_WITH(single.restore(state_reader(to.bytes())),
                    Catch::Contains("expected rewards of 0 agents, got some"));
  state_writer of_single;
  single.insert(rows_from(0, 3));
  single.save(of_single);
  CHECK_FALSE(state_reader(of_single.bytes()).has("agent_reward"));
  CHECK_THROWS_WITH(back.restore(state_reader(of_single.bytes())),
                    Catch::Contains("expected rewards of 3 agents, got none"));
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
  row.environment = row.episode = row.step = {0};
  row.ended = {0};
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
  rows = rows_from(0, 3);
  rows.ended[1] = 3;
  CHECK_THROWS_WITH(ring.insert(rows), Catch::Contains("ended: expected 0 to 2, got 3"));
  rows = rows_from(0, 3);
  rows.step.push_back(3);
  CHECK_THROWS_WITH(ring.insert(rows), Catch::Contains("step") && Catch::Contains("got 4"));
  rows = rows_from(0, 3);
  rows.episode.clear();
  CHECK_THROWS_WITH(ring.insert(rows), Catch::Contains("episode") && Catch::Contains("got 0"));
  CHECK(ring.size() == 0);
  CHECK_THROWS_WITH(transition_ring(widths, {.capacity = std::int64_t{1} << 32}),
                    Catch::Contains("capacity within 1 .. 4294967295"));
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

TEST_CASE("transition_ring: the rows of an episode are found between those of other environments") {
  transition_ring ring(widths, {.capacity = 100});
  ring.insert(rows_at({{.environment = 3, .episode = 8, .step = 0},
                       {.environment = 5, .episode = 1, .step = 0},
                       {.environment = 3, .episode = 8, .step = 1, .end = terminated},
                       {.environment = 5, .episode = 1, .step = 1},
                       {.environment = 3, .episode = 9, .step = 0}}));
  ring.insert(rows_at({{.environment = 5, .episode = 1, .step = 2, .end = truncated},
                       {.environment = 3, .episode = 9, .step = 1}}));
  CHECK(ring.place_of(5) == row_place{5, 2, truncated});
  CHECK(ring.place_of(3) == row_place{5, 1, none});
  for (const std::int64_t number : {0, 2}) {
    const auto first = ring.episode_of(number);
    CHECK(first.environment == 3);
    CHECK(first.first_step == 0);
    CHECK(first.numbers == numbers{0, 2});
    CHECK(first.end == terminated);
  }
  CHECK(ring.episode_of(3).numbers == numbers{1, 3, 5});
  CHECK(ring.episode_of(3).end == truncated);
  CHECK(ring.episode_of(6).numbers == numbers{4, 6});
  CHECK(ring.episode_of(6).end == none);
  CHECK(ring.sequence(1, 2) == numbers{1, 3});
  CHECK(ring.sequence(3, 5) == numbers{3, 5});  // no further than its episode
  CHECK(ring.sequence(4, 0).empty());
  transition_rows got;
  ring.gather(ring.episode_of(1).numbers, got);
  CHECK(got.reward == std::vector<float>{1, 3, 0});
}

TEST_CASE("transition_ring: an episode whose beginning was overwritten is held from a later step") {
  transition_ring ring(widths, {.capacity = 4});
  ring.insert(rows_from(0, 4));
  ring.insert(rows_from(4, 2));
  const auto left = ring.episode_of(5);
  CHECK(left.first_step == 2);
  CHECK(left.numbers == numbers{2, 3, 4, 5});
  CHECK(ring.episode_of(2).numbers == left.numbers);
  CHECK(ring.sequence(3, 2) == numbers{3, 4});
  for (const std::int64_t number : {-1, 1, 6}) {
    CHECK_THROWS_AS(ring.episode_of(number), std::out_of_range);
    CHECK_THROWS_AS(ring.sequence(number, 1), std::out_of_range);
    CHECK_THROWS_WITH(ring.place_of(number), Catch::Contains("a row from 2 to 5, got"));
    transition_rows into;
    CHECK_THROWS_AS(ring.gather(numbers{number}, into), std::out_of_range);
  }
}

TEST_CASE("transition_ring: rows on either side of one that is missing are no sequence") {
  transition_ring ring(widths, {.capacity = 100});
  ring.insert(rows_at({{.step = 0}, {.step = 1}, {.step = 3}, {.step = 4}}));
  CHECK(ring.episode_of(0).numbers == numbers{0, 1});
  CHECK(ring.episode_of(3).numbers == numbers{2, 3});
  CHECK(ring.episode_of(3).first_step == 3);
  // What ended one episode and began another was lost, and yet the steps are neighbours.
  ring.insert(rows_at({{.episode = 1, .step = 5}, {.episode = 1, .step = 6}}));
  CHECK(ring.sequence(3, 3) == numbers{3});
  CHECK(ring.episode_of(5).numbers == numbers{4, 5});
}

/// Episodes of a few environments in any order, rows of which are lost now and then.
class random_episodes {
 public:
  explicit random_episodes(std::uint32_t seed) : random_(seed) {}

  std::vector<placed> next(std::size_t count) {
    std::vector<placed> rows;
    while (rows.size() < count) {
      auto& at = environments_[random_() % environments_.size()];
      auto row = at;
      ++at.step;
      if (random_() % 6 == 0) {
        row.end = random_() % 2 == 0 ? terminated : truncated;
        at = {.environment = at.environment, .episode = at.episode + 1};
      }
      if (random_() % 10 != 0) rows.push_back(row);
    }
    return rows;
  }

 private:
  std::mt19937 random_;
  std::vector<placed> environments_{{.environment = 0}, {.environment = 7}, {.environment = 9}};
};

/// The row that follows in the same episode, by looking at all that came; -1: none.
std::int64_t naive_next(const std::vector<placed>& all, std::int64_t number) {
  const auto& row = all[static_cast<std::size_t>(number)];
  for (auto i = static_cast<std::size_t>(number) + 1; i < all.size(); ++i) {
    if (all[i].environment != row.environment) continue;
    const bool follows =
        row.end == none && all[i].episode == row.episode && all[i].step == row.step + 1;
    return follows ? static_cast<std::int64_t>(i) : -1;
  }
  return -1;
}

/// That every row's episode, and the sequences from it, are what `all` say.
void check_episodes(const transition_ring& ring, const std::vector<placed>& all) {
  const auto oldest = ring.inserted() - ring.size();
  std::map<std::int64_t, numbers> of_row;  // the episode of each row, up to it
  for (auto number = oldest; number < ring.inserted(); ++number) {
    auto& before = of_row[number];
    before.push_back(number);
    numbers onwards = before;
    for (auto next = naive_next(all, number); next >= 0; next = naive_next(all, next)) {
      onwards.push_back(next);
    }
    const auto next = naive_next(all, number);
    if (next >= 0) of_row[next] = before;
    const auto held = ring.episode_of(number);
    REQUIRE(held.numbers == onwards);
    const auto& first = all[static_cast<std::size_t>(onwards.front())];
    REQUIRE(held.environment == first.environment);
    REQUIRE(held.first_step == first.step);
    REQUIRE(held.end == all[static_cast<std::size_t>(onwards.back())].end);
    numbers ahead(onwards.begin() + std::ssize(before) - 1, onwards.end());
    ahead.resize(std::min(ahead.size(), std::size_t{3}));
    REQUIRE(ring.sequence(number, 3) == ahead);
  }
}

TEST_CASE("transition_ring: episodes are as a search of all rows finds them, restored or not") {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    random_episodes made(seed);
    const std::int64_t capacity = 1 + 7 * seed;
    transition_ring ring(widths, {.capacity = capacity});
    std::vector<placed> all;
    for (int round = 0; round < 12; ++round) {
      const auto some = made.next(1 + (seed + static_cast<std::size_t>(round) * 5) % 23);
      all.insert(all.end(), some.begin(), some.end());
      ring.insert(rows_at(some));
      check_episodes(ring, all);
      state_writer to;
      ring.save(to);
      transition_ring back(widths, {.capacity = capacity});
      back.restore(state_reader(to.bytes()));
      check_episodes(back, all);
      if (round % 2 == 0) ring = std::move(back);
    }
  }
}

TEST_CASE("transition_ring: a saved state that contradicts itself is refused and changes nothing") {
  transition_ring ring(widths, {.capacity = 10});
  ring.insert(rows_at({{.step = 0}, {.environment = 1}, {.step = 1, .end = truncated}}));
  const auto with = [&](const char* name, std::vector<std::uint32_t> values) {
    state_writer to;
    ring.save(to);
    to.put(name, values);
    return to.bytes();
  };
  transition_ring back(widths, {.capacity = 10});
  const auto refused = [&](const std::string& bytes) {
    CHECK_THROWS_AS(back.restore(state_reader(bytes)), state_error);
    CHECK(back.size() == 0);
  };
  refused(with("next", {2, 0}));
  refused(with("next", {3, 0, 0}));
  refused(with("next", {1, 0, 0}));
  refused(with("next", {2, 0, 1}));
  refused(with("step", {0, 0, 2}));
  refused(with("newest.environments", {0, 2}));
  refused(with("newest.episodes", {0}));
  back.restore(state_reader(with("next", {2, 0, 0})));
  CHECK(back.episode_of(0).numbers == numbers{0, 2});
  state_writer old;
  old.put("capacity", std::int64_t{10});
  CHECK_THROWS_WITH(back.restore(state_reader(old.bytes())),
                    Catch::Contains("checkpoints that were written before"));
}

}  // namespace
}  // namespace troupe
