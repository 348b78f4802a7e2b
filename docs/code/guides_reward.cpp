// The code of docs/guides/reward.md that is in no example.

#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/program/main.hpp"
#include "runtime/system/system.hpp"

// readme: functions
#include "actors/reward/text_reward.hpp"
#include "actors/reward/weighted_reward.hpp"

struct answered {  // the sample that is judged: any type of your own
  std::string text, expected;
};

const std::vector<troupe::reward_function<answered>> functions{
    {"right", [](const answered& a) { return troupe::numeric_match(a.text, a.expected); }},
    {"format", [](const answered& a) { return troupe::tag_format(a.text, {"answer"}); }, 0.1},
    {"bytes", [](const answered& a) { return double(a.text.size()); }, 0}};  // only measured
// readme: end

// readme: served
#include "runtime/system/run.hpp"

troupe::task<double> judge_one(troupe::system& sys) {
  using judge = troupe::weighted_reward<answered>;
  auto rewards =
      co_await sys.serve<judge>({.name = "reward", .replicas = 2}, functions, &sys.metrics());
  const answered a{"<answer>6 * 7 = 42</answer>", "42"};
  const auto judged = co_await rewards.route<&judge::evaluate>(a);
  co_return judged.total;  // 1.1; judged.values are 1, 1 and 27
}
// readme: end

// readme: role
#include "runtime/service/service.hpp"

/// Asks another service about a text. The replica serves other calls while it waits.
struct critic {
  std::string ask(std::string question);
};

class opinion {
 public:
  explicit opinion(troupe::service<critic> critics) : critics_(std::move(critics)) {}

  troupe::task<double> evaluate(std::string text) {
    const auto said = co_await critics_.route<&critic::ask>("Is this polite? " + text);
    co_return said == "yes" ? 1.0 : 0.0;
  }

 private:
  troupe::service<critic> critics_;
};
// readme: end

// readme: python
#include "actors/python/python_reward.hpp"

troupe::task<double> judge_in_python(troupe::system& sys) {
  using judge = troupe::python_reward;
  auto rewards = co_await sys.serve<judge>(
      {.name = "reward",
       .placement = troupe::placement::thread,
       .idempotent = {troupe::endpoint<&judge::evaluate>}},
      troupe::python_reward_options{.functions = {"my_rewards:score"}}, &sys.metrics());
  const troupe::judged_completion written{"4+9=", "3", R"({"answer": "3"})"};
  const auto judged = co_await rewards.route<&judge::evaluate>(written);
  co_return judged.total;  // 1; judged.values has the value of each function
}
// readme: end

// readme: wrapper
#include "actors/worlds/registry.hpp"

/// The height of MountainCar-v0's car, times 10.
double height(std::span<const float> obs) { return 10 * std::sin(3 * obs[0]); }

/// MountainCar-v0 with a reward for height: its own reward is -1 a step until the goal is reached.
std::unique_ptr<troupe::environment> make_climbing() {
  constexpr double gamma = 0.99;  // as trainer.gamma
  return std::make_unique<troupe::shape_reward>(troupe::make_environment("MountainCar-v0"), height,
                                                gamma);
}
// readme: end

std::string critic::ask(std::string question) { return question.empty() ? "no" : "yes"; }

// readme: program
#include "algorithms/program/main.hpp"

int main(int argc, char** argv) {
  return troupe::main(argc, argv, {.environments = {{"Climbing-v0", make_climbing}}});
}
// readme: end
