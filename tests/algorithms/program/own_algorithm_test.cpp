#include "actors/torch/torch.hpp"

#include <nlohmann/json.hpp>

#include "algorithms/language_models/grpo/grpo_algorithm.hpp"
#include "algorithms/multi_agent/on_policy/multi_agent_on_policy.hpp"
#include "algorithms/off_policy/td3/td3.hpp"
#include "algorithms/on_policy/a2c/a2c.hpp"
#include "algorithms/on_policy/on_policy.hpp"
#include "algorithms/on_policy/ppo/learner.hpp"
#include "algorithms/on_policy/ppo/ppo.hpp"
#include "algorithms/program/main.hpp"
#include "tests/actors/networks/gated.hpp"
#include "tests/message_of.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using nlohmann::json;

template <class Config>
Config with_env(const char* id) {
  Config config;
  config.env.id = id;
  config.seed = 7;
  return config;
}

template <class Config>
void check_second_name(Config defaults) {
  const auto second = algorithm_of<Config>("second", "again", defaults);
  const auto schema = second.schema();
  CHECK(schema["properties"]["algo"]["default"] == "second");
  CHECK(schema["properties"]["algo"]["enum"] == json({"second"}));
  CHECK(schema["properties"]["seed"]["default"] == 7);
  const auto settings = second.configure({{"algo", "second"}, {"total_steps", 3000}}, {}).settings;
  CHECK(settings.algo == "second");
  CHECK(settings.seed == 7);
  CHECK(settings.env.id == defaults.env.id);
  // What is stored with the run is read again, and means the same.
  const auto stored = json::parse(settings.config);
  CHECK(stored.at("algo") == "second");
  CHECK(json::parse(second.configure(stored, {}).settings.config) == stored);
  CHECK_THROWS_AS(second.configure({{"algo", "third"}}, {}), config_error);
}

TEST_CASE("own algorithm: a second name of an algorithm has defaults and runs of its own") {
  check_second_name(with_env<ppo_config>("Acrobot-v1"));
  check_second_name(with_env<a2c_config>("Acrobot-v1"));
  check_second_name(with_env<td3_config>("Pendulum-v1"));
}

llm::problem_task letters(const char* name) {
  return {
      .name = name,
      .what = "letters",
      .draw = [](action_random&, int) { return llm::problem{.question = "a", .letters = "a>"}; },
      .rewards = {{"right", [](const llm::answered_problem&) { return 1.0; }}}};
}

std::string refusal(const named_algorithm& of, const json& document) {
  return testing::message_of<config_error>([&] { of.configure(document, {}); });
}

TEST_CASE("own algorithm: GRPO learns a program's tasks beside Troupe's, one alone unless told") {
  const auto one = grpo_algorithm({letters("alphabet")});
  CHECK(one.tasks.back().name == "alphabet");
  CHECK(one.tasks.back().help == "letters");
  CHECK(one.configure(json::object(), {}).settings.env.id == "alphabet");
  CHECK(one.configure({{"task", {{"name", "arithmetic"}}}}, {}).settings.env.id == "arithmetic");
  const auto refused = refusal(one, {{"task", {{"name", "alphabe"}}}});
  CHECK(refused.find("did you mean \"alphabet\"?") != refused.npos);
  const auto two = grpo_algorithm({letters("alphabet"), letters("vowels")});
  CHECK(two.configure(json::object(), {}).settings.env.id == "sum_digits");
  CHECK(two.configure({{"task", {{"name", "vowels"}}}}, {}).settings.env.id == "vowels");
  CHECK_THROWS_AS(grpo_algorithm({letters("sum_digits")}), std::invalid_argument);
  CHECK_THROWS_AS(grpo_algorithm({letters("")}), std::invalid_argument);
}

int run(const std::vector<std::string>& words, program what) {
  std::vector<std::string> kept = words;
  std::vector<char*> argv;
  for (auto& word : kept) argv.push_back(word.data());
  argv.push_back(nullptr);
  return troupe::main(static_cast<int>(kept.size()), argv.data(), std::move(what));
}

TEST_CASE("own algorithm: a name that is taken, and none, are refused") {
  CHECK(run({"mine", "list"}, {.algorithms = {algorithm_of<ppo_config>("dqn", "")}}) == 2);
  CHECK(run({"mine", "list"}, {.algorithms = {algorithm_of<ppo_config>("a", ""),
                                              algorithm_of<a2c_config>("a", "")}}) == 2);
  CHECK(run({"mine", "list"}, {.algorithms = {algorithm_of<ppo_config>("", "")}}) == 2);
  CHECK(run({"mine", "list"}, {.environments = {{"CartPole-v1", nullptr}}}) == 2);
}

/// A value loss whose values are read outside of the graph, so that the critic never learns.
struct deaf_config : on_policy_config {
  deaf_config() { algo = "deaf"; }

  on_policy_options trainer;
};

void describe(options_schema<deaf_config>& s) {
  describe_on_policy(s);
  describe_trainer(s);
}

on_policy_loss deaf_loss() {
  return {.name = "deaf", .function = [](const ppo_loss_inputs& in, double) {
            const auto value = in.value.owner().constant(values(in.value));
            const auto result = mean(square(value - in.returns)) - mean(in.log_prob * in.advantage);
            return ppo_loss_result{result, {.loss = number(result)}};
          }};
}

on_policy_learner make_learner(const network_shape& shape, const deaf_config& config) {
  return {shape, learner_options(config), deaf_loss(), config.seed};
}

algorithm algorithm_with(const deaf_config& config) { return on_policy_algorithm(config); }

/// The same loss for the second of several policies; the others learn by PPO's.
struct deaf_agent_config : multi_agent_on_policy_config {
  deaf_agent_config() {
    algo = "deaf_agent";
    set_multi_agent_defaults(*this);
  }

  agent_ppo_options trainer;
};

void describe(options_schema<deaf_agent_config>& s) { describe_multi_agent_on_policy(s); }

std::unique_ptr<rollout_learner> make_learner(const network_shape& shape,
                                              const deaf_agent_config& config) {
  const auto options = ppo_options_of(config);
  const auto shapes = shapes_of_policies(shape);
  std::vector<std::unique_ptr<on_policy_learner>> learners;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    learners.push_back(std::make_unique<on_policy_learner>(
        shapes[i], options, i == 1 ? deaf_loss() : loss_of(options), i));
  }
  const auto batch_of = [shapes](const training_rollouts& given, std::size_t i) {
    return to_batch(given, shapes[i], i);
  };
  return std::make_unique<policy_learners<on_policy_learner>>("deaf_agent", learning_of(options),
                                                              shape, std::move(learners), batch_of,
                                                              config.trained(shape));
}

algorithm algorithm_with(const deaf_agent_config& config) {
  return multi_agent_on_policy_algorithm(config);
}

TEST_CASE("own algorithm: check-rule tells a right gradient from a wrong one") {
  const auto check = [](const char* algo, std::vector<std::string> more = {}) {
    std::vector<std::string> words{"mine", "check-rule", "--algo", algo, "--json"};
    words.insert(words.end(), more.begin(), more.end());
    return run(words, {.algorithms = {algorithm_of<deaf_config>("deaf", ""),
                                      algorithm_of<deaf_agent_config>("deaf_agent", "")}});
  };
  CHECK(check("deaf", {"policy.hidden=[8]"}) == 1);
  CHECK(check("deaf", {"policy.hidden=[8]", "policy.backend=libtorch"}) == 1);
  for (const char* algo : {"ppo", "a2c", "impala", "reinforce", "dqn", "td3", "ddpg", "sac"}) {
    CAPTURE(algo);
    CHECK(check(algo, {"policy.hidden=[8]"}) == 0);
  }
  for (const char* algo : {"ippo", "mappo", "coma"}) {
    CAPTURE(algo);
    CHECK(check(algo, {"policy.hidden=[8]"}) == 0);
  }
  register_gated();
  const std::string floats = R"(env.options={"continuous_actions":true})";
  CHECK(check("coma", {"policy.hidden=[8]", "policy.encoder=gated"}) == 0);
  for (const char* algo : {"maddpg", "matd3"}) {
    CAPTURE(algo);
    CHECK(check(algo, {"policy.hidden=[8]", "policy.encoder=gated", floats}) == 0);
  }
  const std::string apart = R"(agents.policies={"agent_0":"a","agent_1":"b","agent_2":"b"})";
  CHECK(check("ippo", {"policy.hidden=[8]", apart}) == 0);
  CHECK(check("deaf_agent", {"policy.hidden=[8]"}) == 0);  // one policy plays all agents
  CHECK(check("deaf_agent", {"policy.hidden=[8]", apart}) == 1);
  CHECK(check("q_learning") == 2);
  CHECK(check("ppo", {"trainer.nonsense=1"}) == 2);
  CHECK(check("ppo", {"--env", "Nowhere-v0"}) == 2);
}

TEST_CASE("own algorithm: a program has commands of its own") {
  struct greeting {
    int times = 0;
  };
  int greeted = 0;
  const auto greet = command_of<greeting>(
      "greet", "Say hello.", [](CLI::App&, greeting& to) { to.times = 3; },
      [&](const greeting& asked) {
        greeted += asked.times;
        return 5;
      });
  CHECK(run({"mine", "greet"}, {.commands = {greet}}) == 5);
  CHECK(greeted == 3);
  CHECK(run({"mine", "gret"}, {.commands = {greet}}) == 2);
}

}  // namespace
}  // namespace troupe
