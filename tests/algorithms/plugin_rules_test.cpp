// Algorithms whose rules are in plug-ins, as far as no process is needed.
// tests/deploy/plugin_rule_test.sh has the command.

#include "actors/torch/torch.hpp"

#include "algorithms/on_policy/plugin_on_policy.hpp"

#include <nlohmann/json.hpp>

#include "actors/worlds/plugin_loader.hpp"
#include "algorithms/off_policy/td3/plugin_td3.hpp"
#include "algorithms/off_policy/td3/td3.hpp"
#include "algorithms/run/rule_in_plugin.hpp"
#include "runtime/wire/codec.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/algorithms/on_policy/ppo/acted_batch.hpp"
#include "tests/message_of.hpp"
#include "tests/paths.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;
using nlohmann::json;

/// The algorithm of that name, whose rule is an on-policy one.
named_algorithm on_policy_named(const std::string& name) {
  return detail::algorithm_in_plugin<plugin_on_policy_config>(name);
}

const network_shape shape{.obs_size = 4, .discrete_actions = 2};

std::string name_of(const std::string& rule, const std::string& file = "rules.so") {
  return testing::build_path("tests/algorithms/plugins/") + file + ":" + rule;
}

plugin_on_policy_config config_of(const std::string& name, const json& options = json::object()) {
  plugin_on_policy_config config;
  config.algo = name;
  config.rule.text = options.dump();
  config.trainer.batch_size = 32;
  config.trainer.n_epochs = 2;
  config.policy.hidden = {8};
  return config;
}

std::vector<float> numbers_of(const on_policy_learner& learner) {
  const auto acting = learner.acting();
  return {acting.begin(), acting.end()};
}

TEST_CASE("a rule of a plug-in: its options are those of the section rule, with its own defaults") {
  const auto scaled = on_policy_named(name_of("scaled"));
  CHECK(scaled.help == "scaled advantages");
  const auto schema = scaled.schema();
  const auto& options = schema.at("properties").at("rule").at("properties");
  CHECK(options.at("decay").at("default") == 0.9);
  CHECK(options.at("decay").at("description") == "The decay of the mean.");
  CHECK(schema.at("properties").at("algo").at("enum") == json::array({name_of("scaled")}));
  CHECK(schema.at("properties").at("trainer").at("properties").at("n_epochs").at("default") == 10);

  const auto made = scaled.configure({{"rule", {{"unused", 3}}}}, {});
  CHECK(made.settings.algo == name_of("scaled"));
  const auto resolved = json::parse(made.settings.config);
  CHECK(resolved.at("algo") == name_of("scaled"));
  CHECK(resolved.at("rule") == json{{"decay", 0.9}, {"unused", 3}});
  REQUIRE(made.settings.idle.size() == 1);
  CHECK(made.settings.idle[0].name == "rule.unused");

  const auto plain =
      json::parse(on_policy_named(name_of("plain")).configure(json::object(), {}).settings.config);
  CHECK(plain.at("rollout").at("n_steps") == 64);
  CHECK(plain.at("trainer").at("n_epochs") == 1);
}

TEST_CASE("a rule of a plug-in: wrong options are refused by their places") {
  const auto scaled = on_policy_named(name_of("scaled"));
  const auto error = [&](const json& rule) {
    return testing::message_of<config_error>([&] { scaled.configure({{"rule", rule}}, {}); });
  };
  CHECK(error({{"decay", 2}}) == "/rule/decay: expected a number >= 0 and < 1, got 2");
  CHECK_THAT(error({{"deccay", 0.5}}),
             Contains("/rule/deccay: unknown key \"deccay\"") && Contains("decay"));
  CHECK_THAT(error(3), Contains("/rule: expected an object"));
  CHECK(testing::message_of<std::invalid_argument>([] { on_policy_named(name_of("bad_defaults")); })
            .starts_with(name_of("bad_defaults") +
                         ": its default values: /trainer/lrr: unknown key \"lrr\""));
}

TEST_CASE("a rule of a plug-in: a file without it is refused by its name") {
  const auto error = [](const std::string& name) {
    return testing::message_of<plugin_error>([&] { on_policy_named(name); });
  };
  CHECK(error("./nowhere.so:awr") ==
        "./nowhere.so: expected the path of a plug-in: No such file or directory");
  CHECK_THAT(error(name_of("scale")),
             Contains("expected an algorithm of ") &&
                 EndsWith("which has plain, scaled, fading, throws, a_column, bad_defaults, mixed, "
                          "all_critics, seen, got scale"));
  const auto worlds = testing::build_path("tests/actors/worlds/plugins/");
  CHECK(error(worlds + "one.so:awr") ==
        worlds + "one.so: expected a plug-in with algorithms, got none");
}

TEST_CASE(
    "a rule of a plug-in: the policy gradient learns as the loss of the library, with a critic and "
    "without") {
  for (const bool baseline : {true, false}) {
    const auto backend = baseline ? gradient_backend::fused : gradient_backend::libtorch;
    CAPTURE(baseline);
    auto config = config_of(name_of("plain"));
    config.policy.backend = backend;
    config.trainer.baseline = baseline;
    config.trainer.batch_size = 64;
    config.trainer.n_epochs = 1;
    auto learner = make_learner(shape, config);
    auto options = learner_options(config);
    on_policy_learner expected(shape, options, policy_gradient_loss("a2c", options), config.seed);
    CHECK(numbers_of(*learner) == numbers_of(expected));
    const auto batch = acted_batch(learner->model(), 16, 4);
    learner->update(batch);
    expected.update(batch);
    const auto got = numbers_of(*learner), wanted = numbers_of(expected);
    for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i] == Approx(wanted[i]).margin(2e-6));
  }
}

TEST_CASE("a rule of a plug-in: the progress of the run reaches it") {
  auto learner = make_learner(shape, config_of(name_of("fading")));
  const auto batch = acted_batch(learner->model(), 16, 4);
  const auto before = numbers_of(*learner);
  learner->update(batch, 0.0);
  CHECK(numbers_of(*learner) == before);
  learner->update(batch, 0.5);
  CHECK(numbers_of(*learner) != before);
}

TEST_CASE("a rule of a plug-in: a restored learner goes on with the rule's state") {
  const auto config = config_of(name_of("scaled"), {{"decay", 0.5}});
  auto whole = make_learner(shape, config);
  const auto batch = acted_batch(whole->model(), 16, 4);
  whole->update(batch);
  const auto state = whole->save();
  auto resumed = make_learner(shape, config);
  resumed->start_from(numbers_of(*whole), {});
  resumed->restore(state);
  whole->update(batch);
  resumed->update(batch);
  CHECK(numbers_of(*whole) == numbers_of(*resumed));
  CHECK(whole->save() == resumed->save());
}

TEST_CASE("a rule of a plug-in: the state of a rule with other numbers is refused") {
  const auto state = make_learner(shape, config_of(name_of("scaled")))->save();
  auto other = make_learner(shape, config_of(name_of("scaled", "other_state.so")));
  const auto before = other->save();
  CHECK_THAT(testing::message_of([&] { other->restore(state); }),
             EndsWith("scaled state: rule.size: expected 2 numbers, got 1; the state is that of "
                      "another rule than " +
                      name_of("scaled", "other_state.so")));
  CHECK(other->save() == before);
  auto without = make_learner(shape, config_of(name_of("plain")));
  CHECK_THAT(testing::message_of([&] { without->restore(state); }),
             Contains("plain state: rule.parts: expected 0 numbers, got 1"));
}

TEST_CASE("a rule of a plug-in: ranks, which would each have another state, are refused with one") {
  const auto error = [](const std::string& name) {
    const auto made = on_policy_named(name).configure(
        {{"trainer", {{"replicas", 2}}}, {"env", {{"n_envs", 2}}}}, {});
    return testing::message_of<config_error>([&] { made.check(); });
  };
  CHECK(error(name_of("scaled")) == "/trainer/replicas: expected 1 with " + name_of("scaled") +
                                        ", whose rule has a state (size) that each replica would "
                                        "have another one of, got 2");
  CHECK_THAT(error(name_of("plain")), !Contains("whose rule has a state"));
}

TEST_CASE("a rule of a plug-in: what it does wrong is told with its name") {
  const auto error = [](const std::string& name) {
    auto learner = make_learner(shape, config_of(name));
    const auto batch = acted_batch(learner->model(), 16, 4);
    return testing::message_of([&] { learner->update(batch); });
  };
  CHECK(error(name_of("throws")) ==
        name_of("throws") + ": the plug-in threw: the rule's own error");
  CHECK(error(name_of("a_column")) ==
        name_of("a_column") + ": expected a loss [1, 1], got [32, 1]");
}

TEST_CASE("a rule of a plug-in: the making of its learner travels to another process") {
  using function = configured_learner<plugin_on_policy_config, rollout_learner>;
  const function sent{shape, config_of(name_of("scaled"), {{"decay", 0.25}})};
  auto bytes = detail::encode(sent);
  const auto got = detail::decode<function>(bytes.bytes());
  CHECK(got.config.algo == name_of("scaled"));
  CHECK(json::parse(got.config.rule.text).at("decay") == 0.25);
  CHECK(got.config.trainer.batch_size == 32);
  CHECK(std::ranges::equal(got()->acting(), sent()->acting()));
}

/// The weights of a short run of TD3, whose learner's rule is that of the algorithm.
std::string weights_of(const algorithm& what) {
  const temporary_folder folder;
  system sys({.threads = 1, .deterministic = true});
  return sys.run(train_in(sys, what, {.root = folder.path})).weights_sha256;
}

const json short_td3 = {{"total_steps", 160},
                        {"deterministic", true},
                        {"collection", {{"learning_starts", 80}}},
                        {"policy", {{"hidden", {8}}}},
                        {"evaluation", {{"every_steps", 0}, {"final_episodes", 1}}}};

TEST_CASE("a rule of a plug-in: a target trains TD3 as the same rule in a program") {
  const auto mixed = detail::algorithm_in_plugin<plugin_td3_config>(name_of("mixed"));
  auto document = short_td3;
  document["rule"] = {{"smallest_weight", 0.5}};
  const auto made = mixed.configure(document, {});
  CHECK(made.settings.algo == name_of("mixed"));
  CHECK(json::parse(made.settings.config).at("trainer").at("n_critics") == 3);

  auto config = parse_config<td3_config>(short_td3);
  config.trainer.n_critics = 3;
  const auto got = weights_of(made);
  CHECK(got == weights_of(td3_algorithm(config, [](variable q, const auto&) {
          return 0.5f * row_min(q) + 0.5f * row_max(q);
        })));
  CHECK(got != weights_of(algorithm_with(config)));
}

TEST_CASE("a rule of a plug-in: a target that is no column is told with its name") {
  const auto all = detail::algorithm_in_plugin<plugin_td3_config>(name_of("all_critics"));
  CHECK_THAT(testing::message_of([&] { weights_of(all.configure(short_td3, {})); }),
             Contains("rules.so:all_critics: expected values [256, 1], got [256, 2]"));
}

}  // namespace
}  // namespace troupe
