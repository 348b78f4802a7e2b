#include "runtime/config/config.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/message_of.hpp"
#include "tests/test.hpp"

namespace {

using troupe::config_error;
using troupe::enum_schema;
using troupe::options_schema;
using troupe::parse_config;
using troupe::parse_json;

enum class mode { sync, async };
void describe(enum_schema<mode>& s) { s.name("sync", mode::sync).name("async", mode::async); }

struct trainer_options {
  double lr = 3e-4;
  float clip = 0.2F;
  int n_steps = 2048;
  int batch_size = 64;
  std::vector<int> hidden = {64, 64};
  std::optional<double> target_kl;
};

void describe(options_schema<trainer_options>& s) {
  s.field("lr", &trainer_options::lr)
      .also_known_as({"learning_rate", "alpha"})
      .renamed_from("rate")
      .above(0)
      .unit("1/step")
      .help("step size");
  s.field("clip", &trainer_options::clip).above(0).at_most(1);
  s.field("n_steps", &trainer_options::n_steps).at_least(1);
  s.field("batch_size", &trainer_options::batch_size).at_least(1);
  s.field("hidden", &trainer_options::hidden).items(1, 4).example("[64,64]").at_least(1);
  s.field("target_kl", &trainer_options::target_kl).above(0);
  s.rule("batch_size", "<= n_steps",
         [](const trainer_options& o) { return o.batch_size <= o.n_steps; });
}

struct program_options {
  std::string env = "CartPole-v1";
  std::string device = "cpu";
  mode loop = mode::sync;
  bool verbose = false;
  std::uint64_t seed = 1;
  std::uint8_t level = 3;
  std::vector<bool> flags;
  std::vector<std::string> tags = {"a"};
  trainer_options trainer;
};

void describe(options_schema<program_options>& s) {
  s.field("env", &program_options::env);
  s.field("device", &program_options::device).one_of({"cpu", "cuda"});
  s.field("loop", &program_options::loop);
  s.field("verbose", &program_options::verbose);
  s.field("seed", &program_options::seed);
  s.field("level", &program_options::level);
  s.field("flags", &program_options::flags);
  s.field("tags", &program_options::tags);
  s.field("trainer", &program_options::trainer);
}

program_options parse(const std::string& text) {
  return parse_config<program_options>(parse_json(text));
}

/// The message with which `text` is refused; empty where it is accepted.
std::string refusal(const std::string& text) {
  return troupe::testing::message_of<config_error>([&] { parse(text); });
}

TEST_CASE("config: an empty object gives the defaults of the struct", "[config]") {
  const auto options = parse("{}");
  CHECK(options.trainer.lr == 3e-4);
  CHECK(options.trainer.hidden == std::vector<int>{64, 64});
  CHECK(options.loop == mode::sync);
}

TEST_CASE("config: every kind of field is read", "[config]") {
  const auto options = parse(R"({
    "env": "Pendulum-v1", "device": "cuda", "loop": "async", "verbose": true,
    "seed": 18446744073709551615, "level": 255, "flags": [true, false], "tags": [],
    "trainer": {"lr": 1, "clip": 1, "n_steps": 1e4, "hidden": [32], "target_kl": 0.01}})");
  CHECK(options.env == "Pendulum-v1");
  CHECK(options.device == "cuda");
  CHECK(options.loop == mode::async);
  CHECK(options.verbose);
  CHECK(options.seed == 18446744073709551615U);
  CHECK(options.level == 255);
  CHECK(options.flags == std::vector<bool>{true, false});
  CHECK(options.tags.empty());
  CHECK(options.trainer.lr == 1);
  CHECK(options.trainer.n_steps == 10000);
  CHECK(options.trainer.hidden == std::vector<int>{32});
  CHECK(options.trainer.target_kl == 0.01);
  CHECK_FALSE(parse(R"({"trainer": {"target_kl": null}})").trainer.target_kl);
}

TEST_CASE("config: a refusal names path, expectation and value", "[config]") {
  CHECK(refusal(R"({"trainer": {"lr": "fast"}})") ==
        "/trainer/lr: expected a number > 0, got \"fast\"");
  CHECK(refusal(R"({"trainer": {"lr": 0}})") == "/trainer/lr: expected a number > 0, got 0");
  CHECK(refusal(R"({"trainer": {"clip": 1.5}})") ==
        "/trainer/clip: expected a number > 0 and <= 1, got 1.5");
  CHECK(refusal(R"({"trainer": {"clip": 1e300}})") ==
        "/trainer/clip: expected a finite number > 0 and <= 1, got 1e+300");
  CHECK(refusal(R"({"trainer": {"n_steps": 1.9}})") ==
        "/trainer/n_steps: expected an integer >= 1, got 1.9");
  CHECK(refusal(R"({"trainer": {"n_steps": true}})") ==
        "/trainer/n_steps: expected an integer >= 1, got true");
  CHECK(refusal(R"({"trainer": {"n_steps": 3e10}})") ==
        "/trainer/n_steps: expected an integer from -2147483648 to 2147483647, got 30000000000.0");
  CHECK(refusal(R"({"seed": -1})") ==
        "/seed: expected an integer from 0 to 18446744073709551615, got -1");
  CHECK(refusal(R"({"seed": 18446744073709551616})") ==
        "/seed: expected an integer, got 1.8446744073709552e+19");
  CHECK(refusal(R"({"level": 256})") == "/level: expected an integer from 0 to 255, got 256");
  CHECK(refusal(R"({"verbose": 1})") == "/verbose: expected true or false, got 1");
  CHECK(refusal(R"({"env": 7})") == "/env: expected a string, got 7");
  CHECK(refusal(R"({"env": null})") == "/env: expected a string, got null");
  CHECK(refusal(R"({"trainer": {"hidden": [64, 0]}})") ==
        "/trainer/hidden/1: expected an integer >= 1, got 0");
  CHECK(refusal(R"({"trainer": {"hidden": []}})") ==
        "/trainer/hidden: expected a list of 1 to 4 values, such as [64,64], got []");
  CHECK(refusal(R"({"trainer": {"hidden": 64}})") ==
        "/trainer/hidden: expected a list of 1 to 4 values, such as [64,64], got 64");
  CHECK(refusal(R"({"trainer": [1]})") == "/trainer: expected an object, got [1]");
  CHECK(refusal("3") == "configuration: expected an object, got 3");
}

TEST_CASE("config: an unknown name comes with the nearest known one", "[config]") {
  CHECK_THAT(
      refusal(R"({"trainer": {"n_step": 3}})"),
      Catch::Contains("/trainer/n_step: unknown key \"n_step\"; did you mean \"n_steps\"?") &&
          Catch::Contains("got the value 3"));
  CHECK_THAT(refusal(R"({"loop": "asinc"})"),
             Catch::Contains("/loop: unknown value \"asinc\"; did you mean \"async\"?"));
  CHECK_THAT(refusal(R"({"device": "tpu"})"), Catch::Contains("known: \"cpu\", \"cuda\""));
  CHECK_THAT(refusal(R"({"a/b~c": 1})"), Catch::StartsWith("/a~1b~0c: unknown key"));
}

TEST_CASE("config: what others call a field is no name, but is told the right one", "[config]") {
  CHECK(parse(R"({"trainer": {"lr": 1}})").trainer.lr == 1);
  CHECK_THAT(refusal(R"({"trainer": {"learning_rate": 1}})"),
             Catch::Contains("/trainer/learning_rate") && Catch::Contains("did you mean \"lr\"?"));
  CHECK_THAT(refusal(R"({"alpha": 1})"), Catch::Contains("did you mean \"trainer.lr\"?"));
  CHECK_THAT(refusal(R"({"batch_size": 1})"),
             Catch::Contains("did you mean \"trainer.batch_size\"?"));
}

TEST_CASE("config: the name that a field had before is still read, but not beside the new one") {
  CHECK(parse(R"({"trainer": {"rate": 0.5}})").trainer.lr == 0.5);
  CHECK_THAT(refusal(R"({"trainer": {"rate": 0}})"), Catch::Contains("/trainer/rate: expected"));
  CHECK_THAT(refusal(R"({"trainer": {"rate": 0.5, "lr": 0.5}})"),
             Catch::Contains("/trainer/rate: it was renamed to \"lr\", which is given, too"));
}

TEST_CASE("config: a rule between fields blames its field", "[config]") {
  CHECK(refusal(R"({"trainer": {"batch_size": 4096}})") ==
        "/trainer/batch_size: expected <= n_steps, got 4096");
  CHECK(refusal(R"({"trainer": {"batch_size": 4096, "n_steps": 4096}})").empty());
}

TEST_CASE("config: the resolved configuration reads back the same", "[config]") {
  auto options = parse(R"({"loop": "async", "flags": [true, false], "trainer": {"lr": 1e-5}})");
  options.trainer.clip = 0.1F;
  const nlohmann::json document = troupe::to_json(options);
  CHECK(document["trainer"]["clip"].dump() == "0.1");  // not 0.10000000149011612
  CHECK(document["trainer"]["target_kl"].is_null());
  const auto again = parse(document.dump());
  CHECK(troupe::to_json(again) == document);
  CHECK(again.loop == mode::async);
  CHECK(again.trainer.clip == 0.1F);
}

TEST_CASE("config: a value that JSON can not hold is refused, not written as null", "[config]") {
  program_options options;
  options.trainer.lr = std::nan("");
  CHECK_THROWS_WITH(troupe::to_json(options), "/trainer/lr: expected a finite number, got nan");
  options.trainer.lr = 1;
  options.loop = static_cast<mode>(7);
  CHECK_THROWS_AS(troupe::to_json(options), config_error);
}

TEST_CASE("config: the schema lists type, limits, default, unit and meaning", "[config]") {
  const nlohmann::json schema = troupe::schema_json<program_options>();
  const auto& trainer = schema["properties"]["trainer"];
  CHECK(schema["additionalProperties"] == false);
  CHECK(trainer["properties"]["lr"] == parse_json(R"({
    "type": "number", "exclusiveMinimum": 0.0, "default": 3e-4, "unit": "1/step",
    "description": "step size"})"));
  CHECK(trainer["properties"]["hidden"] == parse_json(R"({
    "type": "array", "items": {"type": "integer", "minimum": 1.0}, "minItems": 1, "maxItems": 4,
    "default": [64, 64]})"));
  CHECK(schema["properties"]["loop"]["enum"] == parse_json(R"(["sync", "async"])"));
  CHECK(trainer["properties"]["target_kl"]["anyOf"][1]["type"] == "null");
}

struct coded_options {
  double lr = 1;
  double clip = 1;
  int rounds = 1;
  std::optional<double> bound;
  trainer_options trainer;
};
void describe(options_schema<coded_options>& s) {
  s.field("lr", &coded_options::lr).above(0);
  s.field("clip", &coded_options::clip).above(0).or_infinity();
  s.field("rounds", &coded_options::rounds).at_least(1).unlisted();
  s.field("bound", &coded_options::bound).below(1);
  s.field("trainer", &coded_options::trainer);
  s.rule("rounds", "odd", [](const coded_options& o) { return o.rounds % 2 == 1; });
}

TEST_CASE("config: a struct made in C++ is checked by its own description", "[config]") {
  const auto refuses = [](const auto& change, const char* message) {
    coded_options options;
    change(options);
    CHECK_THROWS_AS(troupe::checked_options(options, "coder"), std::invalid_argument);
    CHECK_THROWS_WITH(troupe::checked_options(options, "coder"), message);
  };
  const auto infinity = std::numeric_limits<double>::infinity();
  refuses([](auto& o) { o.lr = -1; }, "coder/lr: expected a number > 0, got -1.0");
  refuses([](auto& o) { o.lr = std::nan(""); }, "coder/lr: expected a finite number, got nan");
  refuses([&](auto& o) { o.lr = infinity; }, "coder/lr: expected a finite number, got inf");
  refuses([&](auto& o) { o.clip = -infinity; }, "coder/clip: expected a finite number, got -inf");
  refuses([](auto& o) { o.bound = 1; }, "coder/bound: expected a number < 1, got 1.0");
  refuses([](auto& o) { o.rounds = 0; }, "coder/rounds: expected an integer >= 1, got 0");
  refuses([](auto& o) { o.rounds = 2; }, "coder/rounds: expected odd, got 2");
  refuses([](auto& o) { o.trainer.hidden = {8, 0}; },
          "coder/trainer/hidden/1: expected an integer >= 1, got 0");
  refuses([](auto& o) { o.trainer.batch_size = 4096; },
          "coder/trainer/batch_size: expected <= n_steps, got 4096");
  coded_options good;
  good.clip = infinity;
  CHECK(&troupe::checked_options(good, "coder") == &good);
}

TEST_CASE("config: an unlisted field is no key, and has no default in the schema", "[config]") {
  CHECK_THROWS_WITH(parse_config<coded_options>(parse_json(R"({"rounds": 3})")),
                    Catch::Contains("unknown key \"rounds\""));
  CHECK_FALSE(troupe::to_json(coded_options{}).contains("rounds"));
  const nlohmann::json schema = troupe::schema_json<coded_options>();
  CHECK_FALSE(schema["properties"].contains("rounds"));
  CHECK(schema["properties"].contains("clip"));
}

struct broken_options {
  double lr = 0;
};
void describe(options_schema<broken_options>& s) { s.field("lr", &broken_options::lr).above(0); }

struct twice_options {
  double lr = 1;
};
void describe(options_schema<twice_options>& s) {
  s.field("lr", &twice_options::lr);
  s.field("lr", &twice_options::lr);
}

TEST_CASE("config: a description that contradicts its struct is a programmer's error", "[config]") {
  const auto empty = nlohmann::json::object();
  CHECK_THROWS_AS(parse_config<broken_options>(empty), std::logic_error);
  CHECK_THROWS_AS(parse_config<twice_options>(empty), std::logic_error);
}

struct noise_section {
  mode kind = mode::sync;
  double std = 0.1;
  double drift = 0.5;
};

void describe(options_schema<noise_section>& s) {
  s.field("kind", &noise_section::kind);
  s.field("std", &noise_section::std)
      .has_effect_if("noise.kind is async",
                     [](const noise_section& n) { return n.kind == mode::async; })
      .help("A deviation.");
  s.field("drift", &noise_section::drift).help("A rate.");
}

struct conditional_options {
  bool noisy = false;
  int workers = 1;
  noise_section noise;
  trainer_options trainer;
};

template <class Options>
void describe_conditions(options_schema<Options>& s) {
  s.field("noisy", &Options::noisy);
  s.field("workers", &Options::workers)
      .has_effect_if("noisy is true", [](const Options& o) { return o.noisy; })
      .help("A number.");
  s.field("noise", &Options::noise).help("The noise.");
  s.field("trainer", &Options::trainer);
  s.option(&Options::noise).has_effect_if("noisy is true", [](const Options& o) {
    return o.noisy;
  });
  s.option(&Options::trainer, &trainer_options::lr)
      .must_be("below 1 with noise", [](const Options& o) { return !o.noisy || o.trainer.lr < 1; });
  s.option(&Options::trainer, &trainer_options::n_steps)
      .must_be(
          [](const Options& o) {
            return "at least " + std::to_string(o.workers) + ", a step for each of workers";
          },
          [](const Options& o) { return o.trainer.n_steps >= o.workers; });
}
void describe(options_schema<conditional_options>& s) { describe_conditions(s); }

struct derived_options : conditional_options {};
void describe(options_schema<derived_options>& s) {
  describe_conditions(s);
  s.option(&derived_options::noise, &noise_section::drift).has_no_effect("nothing drifts");
}

/// Each option without effect, as NAME=VALUE: WHY.
template <class Options>
std::vector<std::string> idle_in(const Options& options) {
  std::vector<std::string> idle;
  for (const auto& each : troupe::idle_options_of(options))
    idle.push_back(each.name + '=' + each.value + ": " + each.why);
  return idle;
}

TEST_CASE("config: options whose conditions don't hold are told, unless they are at their defaults",
          "[config]") {
  using lines = std::vector<std::string>;
  CHECK(idle_in(conditional_options{}) == lines{});
  conditional_options options{.workers = 3, .noise = {.std = 0.2, .drift = 0.7}};
  CHECK(idle_in(options) ==
        lines{"noise.drift=0.7: it has an effect only if noisy is true",
              "noise.std=0.2: it has an effect only if noise.kind is async and noisy is true",
              "workers=3: it has an effect only if noisy is true"});
  options.noisy = true;
  CHECK(idle_in(options) == lines{"noise.std=0.2: it has an effect only if noise.kind is async"});
  options.noise.kind = mode::async;
  CHECK(idle_in(options) == lines{});
}

TEST_CASE("config: conditions are those of the completed struct, and values those that were asked",
          "[config]") {
  const conditional_options asked{.workers = 3};
  auto completed = asked;
  completed.noisy = true;
  completed.workers = 4;
  CHECK(troupe::idle_options_of(asked, completed).empty());
  REQUIRE(troupe::idle_options_of(asked).size() == 1);
  CHECK(troupe::idle_options_of(asked).front().value == "3");
}

TEST_CASE("config: an option that a derived struct has no use for is told with that reason alone",
          "[config]") {
  derived_options options;
  options.noise.drift = 0.7;
  CHECK(idle_in(options) == std::vector<std::string>{"noise.drift=0.7: nothing drifts"});
  options.noisy = true;
  CHECK(idle_in(options) == std::vector<std::string>{"noise.drift=0.7: nothing drifts"});
}

TEST_CASE("config: help says when an option has an effect, and what it must be", "[config]") {
  const nlohmann::json schema = troupe::schema_json<derived_options>();
  const auto help = [&](const char* section, const char* option) {
    return schema["properties"][section]["properties"][option].value("description", "");
  };
  CHECK(help("noise", "std") ==
        "A deviation. It has an effect only if noise.kind is async and noisy is true.");
  CHECK(help("noise", "drift") == "A rate. It has no effect, as nothing drifts.");
  CHECK(help("trainer", "lr") == "step size It must be below 1 with noise.");
  CHECK(schema["properties"]["noise"]["description"] == "The noise.");
  CHECK_THAT(schema.dump(), !Catch::Contains("$has") && !Catch::Contains("$must"));
}

TEST_CASE("config: a rule about an option in a section names the option and its value",
          "[config]") {
  const auto refused = [](const char* text) {
    return troupe::testing::message_of<config_error>(
        [&] { parse_config<conditional_options>(parse_json(text)); });
  };
  CHECK(refused(R"({"noisy": true, "trainer": {"lr": 2}})") ==
        "/trainer/lr: expected below 1 with noise, got 2.0");
  CHECK(refused(R"({"trainer": {"lr": 2}})").empty());
  CHECK(refused(R"({"workers": 9, "trainer": {"n_steps": 8, "batch_size": 4}})") ==
        "/trainer/n_steps: expected at least 9, a step for each of workers, got 8");
  conditional_options made{.noisy = true};
  made.trainer.lr = 3;
  CHECK_THROWS_WITH(troupe::checked_options(made, "mine"),
                    "mine/trainer/lr: expected below 1 with noise, got 3.0");
}

struct early_options {
  noise_section noise;
};
void describe(options_schema<early_options>& s) {
  s.option(&early_options::noise, &noise_section::std).has_no_effect("it is not described yet");
  s.field("noise", &early_options::noise);
}

TEST_CASE("config: a statement about a member that no field describes is a programmer's error",
          "[config]") {
  CHECK_THROWS_WITH(parse_config<early_options>(nlohmann::json::object()),
                    Catch::Contains("no field describes so far"));
}

TEST_CASE("config: overrides pass the same checks", "[config]") {
  const auto options = parse_config<program_options>(
      troupe::load_config({}, {"trainer.lr=0.5", "trainer.hidden=[8,8]", "loop=async",
                               "verbose=true", "env=Acrobot-v1", "trainer.lr=0.25"}));
  CHECK(options.trainer.lr == 0.25);
  CHECK(options.trainer.hidden == std::vector<int>{8, 8});
  CHECK(options.loop == mode::async);
  CHECK(options.verbose);
  CHECK(options.env == "Acrobot-v1");
  CHECK_THROWS_WITH(parse_config<program_options>(troupe::load_config({}, {"trainer.lr=fast"})),
                    "/trainer/lr: expected a number > 0, got \"fast\"");
  CHECK_THROWS_WITH(parse_config<program_options>(troupe::load_config({}, {"trainer.lr=1e999"})),
                    "/trainer/lr: expected a number > 0, got \"1e999\"");
}

}  // namespace
