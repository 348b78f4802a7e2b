#include "actors/environments/environment_check.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "actors/environments/agent_layout.hpp"
#include "actors/environments/canvas.hpp"
#include "actors/environments/space_check.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using Catch::Matchers::Contains;

enum class flaw {
  none,
  throws_in_step,
  leaves_out_a_float,
  writes_too_much,
  nan,
  outside_bounds,
  no_one_hot,
  infinite_reward,
  huge_reward,
  nan_info,
  never_ends,
  ignores_seed,
  same_for_all_seeds,
  shares_state,
  forgets_to_save,
  cannot_restore,
  changes_spec,
  refuses_empty_options,
  throws_at_the_highest_action,
  has_a_bad_level,
  draws_before_it_begins,
  draws_nan,
  has_no_picture,
  has_no_save,
};

int shared_steps = 0;  // the state that two instances of the flawed environment share

/// Observations {"position": Box, "side": Discrete}. It moves by the action and at random, and ends
/// at a side.
class flawed final : public environment {
 public:
  explicit flawed(flaw has) : flaw_(has) {}

  env_spec spec() const override {
    env_spec told{.id = "Flawed-v0",
                  .observation_space = spaces::dict(
                      {{"position", spaces::box(-1, 1, {2})}, {"side", spaces::discrete(2)}}),
                  .action_space = spaces::discrete(3)};
    if (flaw_ == flaw::changes_spec && episodes_ > 1) told.reward_threshold = 3;
    if (flaw_ == flaw::has_a_bad_level) told.levels = 3;
    return told;
  }
  void set_level(std::size_t level) override { level_ = level; }
  void set_options(const std::string& json) override {
    if (flaw_ == flaw::refuses_empty_options) throw std::invalid_argument("no options");
    environment::set_options(json);
  }

  void reset(std::optional<std::uint64_t> seed, std::span<float> obs) override {
    if (flaw_ == flaw::has_a_bad_level && level_ == 1) throw std::runtime_error("no such level");
    ++episodes_;
    if (flaw_ == flaw::same_for_all_seeds) seed = 0;
    if (seed && flaw_ != flaw::ignores_seed)
      random_.seed(static_cast<std::minstd_rand::result_type>(*seed + 1));
    position_ = draw() / 10;
    steps_ = 0;
    write(obs);
  }

  step_result step(action_view action, std::span<float> obs) override {
    ++steps_;
    ++shared_steps;
    if (flaw_ == flaw::throws_in_step && steps_ == 3) throw std::runtime_error("the door is gone");
    if (flaw_ == flaw::throws_at_the_highest_action && action.discrete() == 2 &&
        ++highest_in_a_row_ == 12)
      throw std::runtime_error("too high");
    if (action.discrete() != 2) highest_in_a_row_ = 0;
    position_ += static_cast<float>(action.discrete() - 1) / 10 + draw() / 20;
    const bool ends = std::abs(position_) >= 1 || steps_ == 30;
    position_ = std::clamp(position_, -1.0F, 1.0F);
    if (flaw_ == flaw::shares_state && shared_steps % 2 == 0) position_ /= 2;
    write(obs);
    step_result result{.reward = position_, .terminated = ends && flaw_ != flaw::never_ends};
    if (flaw_ == flaw::infinite_reward && steps_ == 2)
      result.reward = std::numeric_limits<double>::infinity();
    if (flaw_ == flaw::huge_reward && steps_ == 2) result.reward = 1e40;
    return result;
  }

  episode_info info() const override {
    return {{"distance", flaw_ == flaw::nan_info ? std::nan("") : 1}};
  }

  bool render(canvas& on) const override {
    if (flaw_ == flaw::draws_before_it_begins) on.circle({1, 1}, 1, {});
    on.begin(40, 40, {});
    on.circle({20, flaw_ == flaw::draws_nan ? std::nan("") : 20}, 5, {});
    return flaw_ != flaw::has_no_picture;
  }

  bool save(state_writer& to) const override {
    to.put("position", position_);
    if (flaw_ != flaw::forgets_to_save) to.put("steps", steps_);
    std::ostringstream generator;
    generator << random_;
    to.put("generator", generator.str());
    return flaw_ != flaw::has_no_save;
  }
  void restore(const state_reader& from) override {
    if (flaw_ == flaw::cannot_restore) throw state_error("no state");
    from.get("position", position_);
    if (flaw_ != flaw::forgets_to_save) from.get("steps", steps_);
    std::istringstream(from.get<std::string>("generator")) >> random_;
  }

 private:
  float draw() { return static_cast<float>(random_() % 1000) / 1000 - 0.5F; }

  void write(std::span<float> obs) {
    obs[0] = flaw_ == flaw::nan && steps_ == 2 ? std::nanf("") : position_;
    if (flaw_ != flaw::leaves_out_a_float || steps_ != 2) obs[1] = -position_;
    if (flaw_ == flaw::outside_bounds && steps_ == 2) obs[1] = 1.5;
    obs[2] = position_ < 0 || (flaw_ == flaw::no_one_hot && steps_ == 2);
    obs[3] = !(position_ < 0);
    if (flaw_ == flaw::no_one_hot && steps_ == 2) obs[3] = 1;
    if (flaw_ == flaw::writes_too_much) obs.data()[4] = 1;
  }

  flaw flaw_;
  std::minstd_rand random_{std::random_device{}()};
  float position_ = 0;
  int steps_ = 0, episodes_ = 0, highest_in_a_row_ = 0;
  std::size_t level_ = 0;
};

environment_report report_of(flaw has) {
  environment_report report("Flawed-v0");
  check_environment([has] { return std::make_unique<flawed>(has); }, {.steps = 300, .seed = 5},
                    report);
  return report;
}

/// The findings as one line each: "check where key: expected, got".
std::vector<std::string> lines_of(const std::vector<environment_finding>& findings) {
  std::vector<std::string> lines;
  for (const auto& f : findings)
    lines.push_back(f.check + " " + f.call.where + (f.key.empty() ? "" : " " + f.key) + ": " +
                    f.expected + ", got " + f.got);
  return lines;
}

TEST_CASE("check: an environment that keeps the contract has no finding") {
  const auto report = report_of(flaw::none);
  CHECK(lines_of(report.faults()) == std::vector<std::string>{});
  CHECK(lines_of(report.warnings()) == std::vector<std::string>{});
  CHECK(report.not_made().empty());
  CHECK(to_string(report) == "Flawed-v0: no fault, no warning\n");
}

TEST_CASE("check: each flaw of an environment is told, and no other") {
  const auto [has, expected] = GENERATE(table<flaw, const char*>({
      {flaw::throws_in_step, "exceptions step: no exception, got the door is gone"},
      {flaw::leaves_out_a_float, "shape step: an observation of 4 floats, got none for element 1"},
      {flaw::writes_too_much, "shape reset: an observation of 4 floats, got more"},
      {flaw::nan, "nan step position: finite numbers, got nan as element 0"},
      {flaw::outside_bounds, "bounds step position: numbers from -1 to 1, got 1.5 as element 1"},
      {flaw::no_one_hot,
       "bounds step side: a one-hot row of 2 numbers, from element 0 on, got 2 ones, 0 zeros"},
      {flaw::infinite_reward, "reward step: a finite number, got inf"},
      {flaw::huge_reward,
       "reward step: a number that a 32-bit float has (at most 3.4e+38), got 1e+40"},
      {flaw::nan_info, "info info distance: finite numbers, got nan"},
      {flaw::ignores_seed, "determinism reset position: the same observation for the same seed"},
      {flaw::shares_state, "instances step position: the same observation for the same seed"},
      {flaw::forgets_to_save, "save step: the same terminated for the same seed"},
      {flaw::cannot_restore, "exceptions restore: no exception, got no state"},
      {flaw::changes_spec, "spec spec: the spec that it had before, got another"},
      {flaw::refuses_empty_options, "exceptions set_options: no exception, got no options"},
      {flaw::throws_at_the_highest_action, "exceptions step: no exception, got too high"},
      {flaw::draws_before_it_begins,
       "render render: canvas::begin or canvas::pixels before anything is drawn, got another call"},
      {flaw::draws_nan, "render render: finite coordinates and sizes, got nan"},
      {flaw::has_a_bad_level, "exceptions reset: no exception, got no such level"},
  }));
  CAPTURE(expected);
  shared_steps = 0;
  const auto faults = lines_of(report_of(has).faults());
  REQUIRE(faults.size() == 1);
  CHECK_THAT(faults[0], Contains(expected));
}

TEST_CASE("check: what is only not advisable is a warning") {
  const auto [has, expected] = GENERATE(table<flaw, const char*>({
      {flaw::never_ends, "end step: terminated or truncated, or a time limit"},
      {flaw::same_for_all_seeds, "seeds reset: episodes that depend on the seed"},
  }));
  CAPTURE(expected);
  const auto report = report_of(has);
  CHECK(report.faults().empty());
  const auto warnings = lines_of(report.warnings());
  REQUIRE(warnings.size() == 1);
  CHECK_THAT(warnings[0], Contains(expected));
}

TEST_CASE("check: what an environment can't do is told as not checked") {
  const auto [has, expected] = GENERATE(table<flaw, const char*>({
      {flaw::has_no_picture, "not checked: render: it has no picture"},
      {flaw::has_no_save, "not checked: save: it can't be saved"},
      {flaw::throws_in_step, "not checked: determinism, save: its calls fail"},
      {flaw::ignores_seed, "not checked: instances, save: one instance is not deterministic"},
  }));
  CHECK_THAT(to_string(report_of(has)), Contains(expected));
}

/// Its actions are of both kinds of numbers, and it repeats them.
class composite final : public environment {
 public:
  env_spec spec() const override {
    return {.id = "Composite-v0",
            .observation_space = spaces::box(-1, 5, {3}),
            .action_space = spaces::tuple({spaces::discrete(3, 2), spaces::box(-1, 1, {2})}),
            .max_episode_steps = 10};
  }
  void reset(std::optional<std::uint64_t> seed, std::span<float> obs) override {
    std::ranges::fill(obs, seed ? static_cast<float>(*seed % 2) : 0.0F);
  }
  step_result step(action_view action, std::span<float> obs) override {
    obs[0] = static_cast<float>(action.parts()[0]);
    if (obs[0] < 2 || obs[0] > 4) throw std::out_of_range("an action outside of the space");
    std::ranges::copy(action.continuous(), obs.begin() + 1);
    return {};
  }
};

TEST_CASE("check: actions with parts of both kinds") {
  environment_report report("Composite-v0");
  check_environment([] { return std::make_unique<composite>(); }, {.steps = 100}, report);
  CHECK(lines_of(report.faults()) == std::vector<std::string>{});
}

TEST_CASE("check: spaces") {
  const auto findings = [](const space& of, const char* place) {
    environment_report report("any");
    detail::check_space(of, place, report);
    auto lines = lines_of(report.faults());
    for (auto& line : lines) line = "fault " + line;
    for (const auto& line : lines_of(report.warnings())) lines.push_back(line);
    return lines;
  };
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const auto one = [&](const space& of, const char* place, const std::string& expected) {
    CAPTURE(expected);
    const auto found = findings(of, place);
    REQUIRE(found.size() == 1);
    CHECK_THAT(found[0], Contains(expected));
  };
  const auto* observation = "observation space";
  const auto* action = "action space";
  CHECK(findings(spaces::box(-1, 1, {3}), action).empty());
  CHECK(findings(spaces::image(3, 84, 84), observation).empty());
  one(spaces::box(-2, 2, {1}), action, "bounds action space: bounds -1 and 1");
  one(spaces::box(-1, infinity, {1}), action, "fault bounds action space: finite bounds");
  one(spaces::box(-1, infinity, {1}), observation, "bounds observation space: finite bounds");
  one(spaces::box(1, 1, {1}), observation, "low < high, got 1 for both at element 0");
  one(spaces::box(0, 1, {2, 2}), observation, "a vector or an image, got a Box of 2 dimensions");
  one(spaces::image(3, 8, 84), observation, "at least 36x36 pixels");
  one(spaces::box(0, 255, {1, 40, 40}), observation, "bytes with bounds 0 and 255 for an image");
  spaces::box board(0, 1, {8, 8, 12});
  board.type = spaces::element::uint8;
  one(board, observation,
      "policy.kind=cnn gives them convolutions, got Box(uint8, (8, 8, 12), from 0 to 1)");
  one(spaces::discrete(3, 1), action, "start 0, which Stable-Baselines3 needs");
  one(spaces::multi_discrete({3, 2}, {0, 1}), action, "start 0, which Stable-Baselines3 needs");
  one(spaces::text(3), action, "fault spaces action space: a space without Text");
  one(spaces::tuple({spaces::discrete(2)}), observation, "no Tuple");
  one(spaces::dict({}), observation,
      "fault spaces observation space: a part of a known kind, got an empty Dict");
  one(spaces::dict({{"a", spaces::dict({{"b", spaces::discrete(2)}})}}), observation,
      "spaces observation space a: one level of keys");
  spaces::box broken(0, 1, {2});
  broken.high = {1, -1};
  one(broken, observation,
      "fault spaces observation space: low <= high, got 0 and -1 at element 1");
  broken.high = {1};
  one(broken, observation, "as many bounds as the shape has elements, 2, got 2 low and 1 high");
}

TEST_CASE("check: reports count findings that are alike, and become JSON and back") {
  environment_report report("World-v0");
  report.found(true, {.check = "bounds",
                      .call = {"step", "episode 1, step 2"},
                      .key = "image",
                      .expected = "numbers from 0 to 1",
                      .got = "2 as element 3"});
  report.found(true, {.check = "bounds",
                      .call = {"step", "episode 1, step 3"},
                      .key = "image",
                      .expected = "numbers from 0 to 1",
                      .got = "3 as element 3"});
  report.found(true, {.check = "exceptions",
                      .call = {"step", ""},
                      .expected = "no exception",
                      .got = "Traceback\nKeyError"});
  report.found(true, {.check = "exceptions",
                      .call = {"step", ""},
                      .expected = "no exception",
                      .got = "Traceback\nValueError"});
  report.skipped({"save", "it can't be saved"});
  CHECK(
      to_string(report) ==
      "World-v0: 3 faults, no warning\n"
      "fault: step (episode 1, step 2), key image: expected numbers from 0 to 1, got 2 as element "
      "3 (2 times)\n"
      "fault: step: expected no exception, got:\n    Traceback\n    KeyError\n"
      "fault: step: expected no exception, got:\n    Traceback\n    ValueError\n"
      "not checked: save: it can't be saved\n");
  const auto json = json_of(report);
  CHECK(json.at("faults").at(0).at("times") == 2);
  environment_report again("World-v0");
  tell_json({{"findings", {json_of(false, report.faults()[0])}}, {"skipped", json.at("skipped")}},
            again);
  REQUIRE(again.warnings().size() == 1);
  CHECK(again.warnings()[0].key == "image");
  CHECK(again.not_made().size() == 1);
}

/// Two agents, of whose steps it tells a wrong number, or wrong rewards.
class flawed_agents final : public environment {
 public:
  explicit flawed_agents(std::vector<agent_step> steps, std::int64_t first_choice = 0)
      : steps_(std::move(steps)), first_choice_(first_choice) {}

  env_spec spec() const override {
    const space seen = spaces::box(0, 1, {1}), acts = spaces::discrete(2, first_choice_);
    return with_joint_spaces({.id = "Flawed-v0",
                              .max_episode_steps = 9,
                              .agents = {{"a", seen, acts}, {"b", seen, acts}}});
  }
  void reset(std::optional<std::uint64_t>, std::span<float> obs) override { obs[0] = obs[1] = 1; }
  step_result step(action_view, std::span<float> obs) override {
    obs[0] = obs[1] = 1;
    return {.reward = 2};
  }
  std::span<const agent_step> agent_steps() const override { return steps_; }

 private:
  std::vector<agent_step> steps_;
  std::int64_t first_choice_;
};

TEST_CASE("check_environment: what is told of each agent fits the reward") {
  const auto faults_of = [](const std::vector<agent_step>& steps) {
    environment_report report("Flawed-v0");
    check_environment([&] { return std::make_unique<flawed_agents>(steps, 3); },
                      {.steps = 20, .seed = 1}, report);
    return to_string(report);
  };
  // What libraries for a single agent don't take is no warning: there is that of the seeds alone.
  CHECK_THAT(faults_of({{.reward = 1}, {.reward = 3}}), Contains("no fault, 1 warning"));
  CHECK_THAT(faults_of({{.reward = 1}, {.reward = 4}}),
             Contains("expected the mean 2.5 of the agents' rewards as the reward, got 2"));
  CHECK_THAT(faults_of({{.reward = 2}}),
             Contains("expected what happened to each of 2 agents, got 1 entries"));
  CHECK_THAT(faults_of({{.reward = 1}, {.reward = std::nan("")}}), Contains("key b"));
  CHECK_THAT(
      faults_of({{.reward = 1}, {.reward = 1e40}}),
      Contains("key b: expected a number that a 32-bit float has (at most 3.4e+38), got 1e+40"));
}

}  // namespace
}  // namespace troupe
