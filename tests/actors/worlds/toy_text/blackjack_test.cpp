#include "actors/worlds/toy_text/blackjack.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "actors/worlds/registry.hpp"
#include "tests/paths.hpp"
#include "tests/test.hpp"

using namespace troupe;

namespace {

struct report {
  int steps = 0;
  int resets = 0;
  int naturals_at_one_and_a_half = 0;
  int mismatches = 0;
  std::string first_mismatch;
};

/// A line's numbers, whatever stands between them.
std::vector<double> numbers_of(const std::string& text) {
  std::string spaced = text;
  for (char& c : spaced) {
    if (c == '(' || c == ')' || c == ',') c = ' ';
  }
  std::istringstream in(spaced.substr(1));
  std::vector<double> numbers;
  for (double x = 0; in >> x;) numbers.push_back(x);
  return numbers;
}

std::vector<float> flat(const space& of, double sum, double shown, double ace) {
  const auto part = [](double x) { return space_value(static_cast<std::int64_t>(x)); };
  return of.flatten(space_value(std::vector<space_value>{part(sum), part(shown), part(ace)}));
}

/// Plays the recorded actions of one section, which starts at seed and ends at the next `E`.
report replay(std::istream& record, const blackjack_options& rules, std::uint64_t seed) {
  blackjack env(rules);
  const auto spec = env.spec();
  std::vector<float> obs(spec.observation_space.flat_size());
  std::optional<std::uint64_t> first_seed = seed;
  report seen;
  bool over = true;  // A hand dealt otherwise may end before the recorded one.
  const auto expect = [&](bool held, const std::string& line) {
    if (!held && seen.mismatches++ == 0) seen.first_mismatch = line;
  };
  for (std::string line; std::getline(record, line) && line[0] != 'E';) {
    const auto n = numbers_of(line);
    if (line[0] == 'R') {
      REQUIRE(n.size() == 3);
      env.reset(std::exchange(first_seed, std::nullopt), obs);
      ++seen.resets;
      over = false;
      expect(obs == flat(spec.observation_space, n[0], n[1], n[2]), line);
      continue;
    }
    REQUIRE(line[0] == 'S');
    REQUIRE(n.size() >= 7);
    ++seen.steps;
    expect(!over, line);
    if (over) continue;
    const auto action = static_cast<std::int64_t>(n[0]);
    const auto result = env.step(action_view(action), obs);
    over = result.terminated;
    seen.naturals_at_one_and_a_half += result.reward == 1.5;
    expect(obs == flat(spec.observation_space, n[1], n[2], n[3]), line);
    expect(result.reward == n[4], line);
    expect(result.terminated == (n[5] == 1) && result.truncated == (n[6] == 1), line);
  }
  return seen;
}

std::string fixture() {
  std::ifstream file(testing::source_path("tests/fixtures/gymnasium/blackjack.txt"));
  REQUIRE(file.is_open());
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Section 0 or 1, without its line `E`.
std::istringstream section(const std::string& text, int which) {
  auto at = text.find("E Blackjack-v1");
  for (int i = 0; i < which; ++i) at = text.find("E Blackjack-v1", at + 1);
  REQUIRE(at != std::string::npos);
  return std::istringstream(text.substr(text.find('\n', at) + 1));
}

/// What a player gets who sticks. Both hands have two cards, and the dealer draws no other one.
double reward_of_sticking(const blackjack_options& rules, std::int64_t player,
                          std::int64_t dealer) {
  detail::env_random random;
  random.begin_episode(1);
  state_writer state;
  state.put("hands", std::vector<std::int64_t>{2, player, 0, 2, dealer, 0});
  state.put("shown", 10);
  random.save(state);
  blackjack env(rules);
  env.restore(state_reader(state.bytes()));
  std::vector<float> obs(45);
  const std::int64_t stick = 0;
  return env.step(action_view(stick), obs).reward;
}

}  // namespace

TEST_CASE("blackjack: 1,000 random steps equal Gymnasium's draw for draw", "[env]") {
  auto record = section(fixture(), 0);
  const auto seen = replay(record, {}, 7);
  INFO(seen.first_mismatch);
  CHECK(seen.steps == 1000);
  CHECK(seen.resets == 750);
  CHECK(seen.mismatches == 0);
}

TEST_CASE("blackjack: so do the rules that pay a natural 1.5", "[env]") {
  auto record = section(fixture(), 1);
  const auto seen = replay(record, {.sutton_barto = false, .natural = true}, 8);
  INFO(seen.first_mismatch);
  CHECK(seen.steps == 1000);
  CHECK(seen.naturals_at_one_and_a_half > 0);
  CHECK(seen.mismatches == 0);
}

TEST_CASE("blackjack: one changed card in a recorded trajectory is noticed", "[env]") {
  auto text = fixture();
  const auto at = text.find("S 1 (14, 1, 0)");
  REQUIRE(at != std::string::npos);
  text[at + 6] = '5';
  auto record = section(text, 0);
  const auto seen = replay(record, {}, 7);
  CHECK(seen.mismatches == 1);
}

TEST_CASE("blackjack: another seed deals other hands", "[env]") {
  auto record = section(fixture(), 0);
  CHECK(replay(record, {}, 9).mismatches > 100);
}

TEST_CASE("blackjack: a hand that is bust takes no more cards", "[env]") {
  blackjack env;
  std::vector<float> obs(45);
  env.reset(1, obs);
  const std::int64_t hit = 1;
  while (!env.step(action_view(hit), obs).terminated) {
  }
  CHECK_THROWS_WITH(env.step(action_view(hit), obs),
                    "Blackjack: the hand is bust, reset comes first");
}

TEST_CASE("blackjack: equal sums are a push, which pays nothing", "[env]") {
  const std::vector<blackjack_options> both{{}, {.sutton_barto = false, .natural = true}};
  for (const auto& rules : both) {
    CHECK(reward_of_sticking(rules, 20, 20) == 0);
    CHECK(reward_of_sticking(rules, 17, 17) == 0);
    CHECK(reward_of_sticking(rules, 20, 19) == 1);
    CHECK(reward_of_sticking(rules, 12, 17) == -1);
  }
}

TEST_CASE("blackjack: an action other than 0 and 1 is refused with its value", "[env]") {
  blackjack env;
  std::vector<float> obs(45);
  env.reset(1, obs);
  const std::int64_t two = 2;
  CHECK_THROWS_WITH(env.step(action_view(two), obs), "Blackjack: expected action 0 or 1, got 2");
}

TEST_CASE("blackjack: is made by its name, with one-hot observations and no time limit", "[env]") {
  auto tables = make_vector_environment("Blackjack-v1", 2);
  const auto spec = tables->spec();
  CHECK(spec == blackjack().spec());
  CHECK(to_string(spec.observation_space) == "Tuple(Discrete(32), Discrete(11), Discrete(2))");
  CHECK_FALSE(spec.max_episode_steps);
  const auto obs = tables->reset(7).obs;
  REQUIRE(obs.size() == 90);
  const std::vector<float> first(obs.begin(), obs.begin() + 45);
  CHECK(first == flat(spec.observation_space, 19, 10, 0));  // the first recorded hand
  for (int hand = 0; hand < 200; ++hand) {
    const auto after = tables->step({.discrete = {0, 0}});
    REQUIRE(after.failures.empty());
    CHECK(after.finished.size() == 2);
  }
}

TEST_CASE("blackjack: a restored table deals the same cards", "[env]") {
  blackjack one, other;
  std::vector<float> obs(45), other_obs(45);
  const std::int64_t hit = 1, stick = 0;
  one.reset(3, obs);
  one.step(action_view(hit), obs);
  state_writer saved;
  REQUIRE(one.save(saved));
  other.restore(state_reader(saved.bytes()));
  for (int hand = 0; hand < 50; ++hand) {
    const auto result = one.step(action_view(stick), obs);
    CHECK(other.step(action_view(stick), other_obs).reward == result.reward);
    CHECK(other_obs == obs);
    one.reset(std::nullopt, obs);
    other.reset(std::nullopt, other_obs);
    CHECK(other_obs == obs);
  }
}

TEST_CASE("blackjack: a state of impossible cards is refused", "[env]") {
  state_writer damaged;
  damaged.put("hands", std::vector<std::int64_t>{2, 40, 0, 2, 12, 0});
  damaged.put("shown", 5);
  blackjack env;
  CHECK_THROWS_WITH(env.restore(state_reader(damaged.bytes())),
                    "Blackjack: expected a sum of 0 to 31, got 40");
}
