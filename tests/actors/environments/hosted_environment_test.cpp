#include "actors/environments/hosted_environment.hpp"

#include "actors/environments/vector_env.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

/// Shows the seed of its last seeded reset, and the steps since it was made. An episode has 3
/// steps.
class odometer : public environment {
 public:
  env_spec spec() const override {
    return {.id = "Odometer-v0",
            .observation_space = spaces::box(0.0f, 1e9f, {2}),
            .action_space = spaces::discrete(2),
            .max_episode_steps = 3};
  }
  void reset(std::optional<std::uint64_t> seed, std::span<float> obs) override {
    if (seed) seed_ = static_cast<float>(*seed % 1'000'000);
    if (fail_resets) throw std::runtime_error("it is stuck");
    show(obs);
  }
  step_result step(action_view action, std::span<float> obs) override {
    ++steps_;
    show(obs);
    if (fail_steps) throw std::runtime_error("it broke down");
    return {.reward = 1.0, .terminated = action.discrete() == 1};
  }

  static inline bool fail_resets = false;
  static inline bool fail_steps = false;

 private:
  void show(std::span<float> obs) const {
    obs[0] = seed_;
    obs[1] = steps_;
  }
  float seed_ = 0;
  float steps_ = 0;
};

std::unique_ptr<vector_environment> two_odometers() {
  return std::make_unique<vector_env<odometer>>(2);
}

/// What an odometer shows of the first seed of such a replica.
float shown_seed(const replica_info& info, std::uint64_t seed, std::uint64_t environment = 0) {
  const auto first = hosted_environment::first_seed(info, seed);
  return static_cast<float>((first + environment) % 1'000'000);
}

env_actions both(std::int64_t action) { return {.discrete = {action, action}, .continuous = {}}; }

}  // namespace

TEST_CASE("hosted_environment: goes on where it was left") {
  hosted_environment hosted({}, two_odometers, 5);
  const auto begun = hosted.observe();
  CHECK(begun.environments == 2);
  const float first = shown_seed({}, 5), second = shown_seed({}, 5, 1);
  CHECK(begun.rows == std::vector<float>{first, 0, second, 0});
  CHECK(hosted.observe().rows == begun.rows);
  const auto after = hosted.step(both(0));
  CHECK(after.obs == std::vector<float>{first, 1, second, 1});
  CHECK(hosted.observe().rows == after.obs);
}

TEST_CASE("hosted_environment: begins by itself where the first call is a step") {
  hosted_environment hosted({}, two_odometers, 5);
  CHECK(hosted.step(both(0)).obs ==
        std::vector<float>{shown_seed({}, 5), 1, shown_seed({}, 5, 1), 1});
  CHECK(hosted.spec().id == "Odometer-v0");
}

TEST_CASE(
    "hosted_environment: each replica, each restart of one and each run's seed has seeds of its "
    "own") {
  std::vector<float> seeds;
  for (const std::uint64_t seed : {5, 6, 7}) {
    for (const auto& info : {replica_info{0, 0}, replica_info{1, 0}, replica_info{0, 1}}) {
      const auto shown = hosted_environment(info, two_odometers, seed).observe().rows;
      seeds.insert(seeds.end(), {shown[0], shown[2]});
    }
  }
  std::sort(seeds.begin(), seeds.end());
  CHECK(std::adjacent_find(seeds.begin(), seeds.end()) == seeds.end());
}

TEST_CASE("hosted_environment: observers are told of steps and of episodes by how they ended") {
  std::int64_t steps = 0;
  std::vector<bool> truncations;
  double sum = 0;
  hosted_environment hosted({}, two_odometers, 5,
                            {.stepped = [&](std::int64_t n) { steps += n; },
                             .episode_ended =
                                 [&](double episode_return, std::int64_t length, bool truncated) {
                                   CHECK(episode_return == static_cast<double>(length));
                                   sum += episode_return;
                                   truncations.push_back(truncated);
                                 },
                             .failed = nullptr});
  hosted.step(both(1));                              // two episodes of 1 step end
  for (int i = 0; i < 3; ++i) hosted.step(both(0));  // two more are cut after 3
  CHECK(steps == 8);
  CHECK(sum == 8);
  CHECK(truncations == std::vector<bool>{false, false, true, true});
}

TEST_CASE("hosted_environment: observers are told of failed steps and failed resets") {
  std::vector<env_failure> failures;
  std::int64_t steps = 0;
  hosted_environment hosted({}, two_odometers, 5,
                            {.stepped = [&](std::int64_t count) { steps += count; },
                             .episode_ended = nullptr,
                             .failed = [&](const env_failure& f) { failures.push_back(f); }});
  hosted.observe();
  odometer::fail_steps = true;
  hosted.step(both(0));
  odometer::fail_steps = false;
  CHECK(steps == 0);  // a step that failed is none
  hosted.step(both(0));
  CHECK(steps == 2);
  REQUIRE(failures.size() == 2);
  CHECK(failures[0].message == "it broke down");
  CHECK_FALSE(failures[0].at_reset);
}

TEST_CASE("hosted_environment: environments that do nothing but fail are given up") {
  hosted_environment hosted({}, two_odometers, 5);
  const auto fail = [&](std::int64_t times) {
    odometer::fail_steps = true;
    for (std::int64_t i = 0; i < times; ++i) hosted.step(both(0));
    odometer::fail_steps = false;
  };
  const auto patience = hosted_environment::failures_max - 1;
  fail(patience);
  hosted.step(both(1));  // Two episodes end: there is hope.
  fail(patience);
  hosted.step(both(0));  // Nothing fails, but no episode ends.
  odometer::fail_steps = true;
  CHECK_THROWS_AS(hosted.step(both(0)), environment_failed);
  CHECK_THROWS_WITH(hosted.step(both(0)),
                    "Odometer-v0: 202 episodes were dropped, and none has ended between: it threw: "
                    "it broke down");
  odometer::fail_steps = false;
  CHECK(hosted.step(both(0)).failures.empty());
}

TEST_CASE("hosted_environment: a reset that fails once is told, and repeated") {
  struct stubborn : odometer {
    void reset(std::optional<std::uint64_t> seed, std::span<float> obs) override {
      if (tries()++ == 0) throw std::runtime_error("not yet");
      odometer::reset(seed, obs);
    }
    static int& tries() {
      static int count = 0;
      return count;
    }
  };
  std::vector<env_failure> failures;
  hosted_environment hosted({}, [] { return std::make_unique<vector_env<stubborn>>(1); }, 5,
                            {.stepped = nullptr,
                             .episode_ended = nullptr,
                             .failed = [&](const env_failure& f) { failures.push_back(f); }});
  hosted.observe();
  REQUIRE(failures.size() == 1);
  CHECK(failures[0].at_reset);
  CHECK(failures[0].message == "not yet");
}

TEST_CASE("hosted_environment: after a lost environment all of them begin anew") {
  hosted_environment hosted({}, two_odometers, 5);
  hosted.step(both(0));
  odometer::fail_resets = true;
  CHECK_THROWS_AS(hosted.step(both(1)), environment_lost);
  CHECK_THROWS_AS(hosted.step(both(0)), environment_lost);
  odometer::fail_resets = false;
  const auto begun = hosted.observe();
  CHECK(hosted.step(both(0)).obs.size() == begun.rows.size());
}

TEST_CASE("hosted_environment: actions that don't fit leave it where it was") {
  hosted_environment hosted({}, two_odometers, 5);
  const auto before = hosted.step(both(0)).obs;
  CHECK_THROWS_AS(hosted.step({.discrete = {0}, .continuous = {}}), wrong_actions);
  CHECK_THROWS_AS(hosted.step(both(2)), wrong_actions);
  CHECK(hosted.observe().rows == before);
}

}  // namespace troupe
