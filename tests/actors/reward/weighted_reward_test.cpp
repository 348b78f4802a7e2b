#include "actors/reward/weighted_reward.hpp"

#include <limits>

#include "tests/message_of.hpp"
#include "tests/runtime/support.hpp"

namespace troupe {
namespace {

using namespace testing;

using functions = std::vector<reward_function<int>>;

functions two() {
  return {{"even", [](const int& x) { return x % 2 == 0 ? 1.0 : 0.0; }, 1},
          {"size", [](const int& x) { return static_cast<double>(x); }, -0.25}};
}

std::string refusal(functions of) {
  return testing::message_of<std::invalid_argument>(
      [&] { weighted_reward<int> made(std::move(of)); });
}

std::string error_of_evaluation(const std::function<double(const int&)>& faulty,
                                metrics_registry* metrics = nullptr) {
  auto all = two();
  all.insert(all.begin() + 1, reward_function<int>{"faulty", faulty});
  weighted_reward<int> reward(all, metrics);
  try {
    reward.evaluate(4);
  } catch (const reward_error& e) {
    CHECK(e.name() == "faulty");
    return e.what();
  }
  return "none";
}

task<> as_service(system& sys) {
  auto rewards = co_await sys.serve<weighted_reward<int>>({.name = "reward", .replicas = 2}, two(),
                                                          &sys.metrics());
  const auto both = co_await rewards.fanout<&weighted_reward<int>::evaluate>(4);
  for (const auto& one : both) {
    CHECK(one.values == std::vector<double>{1, 4});
    CHECK(one.total == 0);
  }
  const auto text = sys.metrics().text();
  CHECK_THAT(text, has_text("troupe_reward_value_count{reward=\"even\"} 2"));
  CHECK_THAT(text, has_text("troupe_reward_value_sum{reward=\"size\"} 8"));
  CHECK_THAT(text, has_text("troupe_reward_value_bucket{reward=\"even\",le=\"0.9\"} 0"));
  CHECK_THAT(text, has_text("troupe_reward_failures_total{reward=\"even\"} 0"));
  CHECK_THAT(text, has_text("troupe_reward_count 2"));
}

task<> failing_service(system& sys) {
  functions faulty = two();
  faulty[1].value = [](const int& x) -> double {
    if (x == 3) throw std::runtime_error("no judge for 3");
    return 0;
  };
  auto rewards = co_await sys.serve<weighted_reward<int>>({.name = "reward"}, faulty);
  const auto failed = co_await rewards.try_route<&weighted_reward<int>::evaluate>(3);
  REQUIRE_FALSE(failed.ok());
  CHECK(kind_of(failed) == error_kind::role_error);
  CHECK_THAT(describe(failed.error()), has_text("reward \"size\": no judge for 3"));
  const auto next = co_await rewards.route<&weighted_reward<int>::evaluate>(2);
  CHECK(next.total == 1);
}

}  // namespace

TEST_CASE("weighted_reward: keeps every function's value and adds them up by weight") {
  weighted_reward<int> reward(two());
  CHECK(reward.names() == std::vector<std::string>{"even", "size"});
  const auto of_six = reward.evaluate(6);
  CHECK(of_six.values == std::vector<double>{1, 6});
  CHECK(of_six.total == 1 - 0.25 * 6);
}

TEST_CASE("weighted_reward: each function is measured apart, over all replicas") {
  play(as_service);
}

TEST_CASE("weighted_reward: a weight of 0 measures without counting") {
  auto all = two();
  all[1].weight = 0;
  const auto result = weighted_reward<int>(all).evaluate(6);
  CHECK(result.values[1] == 6);
  CHECK(result.total == 1);
}

TEST_CASE("weighted_reward: a function that throws or gives no finite number is named") {
  metrics_registry metrics;
  const auto nan = std::numeric_limits<double>::quiet_NaN();
  const auto infinity = std::numeric_limits<double>::infinity();
  CHECK(error_of_evaluation([=](const int&) { return nan; }, &metrics) ==
        "reward \"faulty\": expected a finite number, got nan");
  CHECK(error_of_evaluation([=](const int&) { return -infinity; }, &metrics) ==
        "reward \"faulty\": expected a finite number, got -inf");
  CHECK(error_of_evaluation([](const int&) { return -1e308; }, &metrics) ==
        "reward \"faulty\": expected a number from -1e+30 to 1e+30, got -1e+308");
  CHECK(error_of_evaluation(
            [](const int&) -> double { throw std::out_of_range("no such question"); }, &metrics) ==
        "reward \"faulty\": no such question");
  CHECK(error_of_evaluation([](const int&) -> double {
          throw 7;
        }).starts_with("reward \"faulty\": "));
  CHECK_THAT(metrics.text(), has_text("troupe_reward_failures_total{reward=\"faulty\"} 4"));
  CHECK_THAT(metrics.text(), has_text("troupe_reward_value_count{reward=\"faulty\"} 0"));
  CHECK_THAT(metrics.text(), has_text("troupe_reward_count 0"));
}

TEST_CASE("weighted_reward: a sum that is too large is refused") {
  functions large{{"a", [](const int&) { return 1e30; }}, {"b", [](const int&) { return 1e30; }}};
  CHECK_THROWS_WITH(weighted_reward<int>(large).evaluate(1),
                    "reward \"total\": expected a sum from -1e+30 to 1e+30, got 2e+30");
  large[1].weight = 1e300;
  CHECK_THROWS_WITH(weighted_reward<int>(large).evaluate(1),
                    "reward \"total\": expected a finite sum, got inf");
  large = {{"a", [](const int&) { return 1e30; }}};
  CHECK(weighted_reward<int>(large).evaluate(1).total == 1e30);
}

TEST_CASE("weighted_reward: a caller is told which function failed, and the role goes on") {
  play(failing_service);
}

TEST_CASE("weighted_reward: names are bounded, given once, and functions are there") {
  const auto one = [](const int&) { return 1.0; };
  CHECK(refusal({}) == "reward: expected 1 to 32 functions, got 0");
  functions many;
  for (int i = 0; i < 33; ++i) many.push_back({"f" + std::to_string(i), one});
  CHECK(refusal(many) == "reward: expected 1 to 32 functions, got 33");
  many.pop_back();
  CHECK(refusal(many) == "");
  CHECK(refusal({{"a", one}, {"a", one}}) == "reward: expected each name once, got \"a\" twice");
  CHECK(refusal({{"", one}}) == "reward: expected a name of 1 to 64 bytes, got \"\"");
  CHECK(refusal({{std::string(65, 'x'), one}}).starts_with("reward: expected a name of 1 to 64"));
  CHECK(refusal({{"a", nullptr}}) == "reward \"a\": expected a function");
  CHECK(refusal({{"a", one, std::numeric_limits<double>::infinity()}}) ==
        "reward \"a\": expected a finite weight, got inf");
}

}  // namespace troupe
