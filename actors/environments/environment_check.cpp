#include "actors/environments/environment_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "actors/environments/action_numbers.hpp"
#include "actors/environments/agent_layout.hpp"
#include "actors/environments/canvas.hpp"
#include "actors/environments/obs_rows.hpp"
#include "actors/environments/space_check.hpp"
#include "actors/environments/space_sampler.hpp"

namespace troupe {
namespace {

constexpr int broken_max = 5;            // calls that may throw in one part of the checks
constexpr std::size_t short_part = 200;  // steps of the parts that repeat what was played

/// Thrown where a part of the checks can't go on. The fault has been told.
struct broken {};

/// An action that owns its numbers.
class drawn_action {
 public:
  explicit drawn_action(const space_value& value) { append(value); }
  /// Takes the lowest or the highest action.
  drawn_action(const action_numbers& of, bool highest) : floats_(highest ? of.high : of.low) {
    for (const auto& one : of.integers)
      integers_.push_back(one.first + (highest ? one.count - 1 : 0));
    for (auto& bound : floats_)
      if (!std::isfinite(bound)) bound = highest ? 1.0F : -1.0F;
  }

  action_view view() const { return {integers_, floats_}; }
  /// Replaces each choice that the action masks of the observation `obs` [D] forbid by the next one
  /// that they allow.
  void obey(const env_spec& spec, std::span<const float> obs) {
    const auto masks = agent_layout(spec).masks().of(obs);
    const auto numbers = numbers_of(spec.action_space);
    std::size_t begin = 0;
    for (std::size_t i = 0; i < integers_.size(); ++i) {
      const auto& [first, count, binary] = numbers.integers[i];
      auto choice = integers_[i] - first;
      for (std::int64_t tried = 0;
           tried < count && masks[begin + static_cast<std::size_t>(choice)] == 0; ++tried)
        choice = (choice + 1) % count;
      integers_[i] = first + choice;
      begin += static_cast<std::size_t>(count);
    }
  }

 private:
  void append(const space_value& value) {
    if (const auto* integer = std::get_if<std::int64_t>(&value)) integers_.push_back(*integer);
    if (const auto* numbers = std::get_if<std::vector<float>>(&value))
      floats_.insert(floats_.end(), numbers->begin(), numbers->end());
    if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&value))
      integers_.insert(integers_.end(), integers->begin(), integers->end());
    if (const auto* bits = std::get_if<std::vector<std::uint8_t>>(&value))
      integers_.insert(integers_.end(), bits->begin(), bits->end());
    if (const auto* parts = std::get_if<std::vector<space_value>>(&value))
      for (const auto& part : *parts) append(part);
  }

  std::vector<std::int64_t> integers_;
  std::vector<float> floats_;
};

/// A canvas that draws nothing, and keeps the first thing that is wrong.
class checking_canvas final : public canvas {
 public:
  void begin(int width, int height, colour) override {
    const auto is_side = [](int side) { return side >= 1 && side <= side_max; };
    if (!is_side(width) || !is_side(height))
      refuse(fmt::format("sides of 1 to {} pixels", side_max), fmt::format("{}x{}", width, height));
    begun_ = true;
  }
  void pixels(int width, int height, std::span<const std::uint8_t> rgb) override {
    begin(width, height, {});
    const auto bytes = static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 3;
    if (rgb.size() != bytes)
      refuse(fmt::format("{} bytes of a picture", bytes), fmt::format("{}", rgb.size()));
  }
  void line(point from, point to, double width, colour) override {
    require({from.x, from.y, to.x, to.y, width});
  }
  void polygon(std::span<const point> corners, colour) override {
    for (const auto& corner : corners) require({corner.x, corner.y});
  }
  void circle(point centre, double radius, colour) override {
    require({centre.x, centre.y, radius});
  }
  void text(point centre, std::string_view, double size, colour) override {
    require({centre.x, centre.y, size});
  }

  /// Returns what was expected and what came; nullopt if nothing is wrong.
  std::optional<std::pair<std::string, std::string>> problem() {
    if (!begun_) refuse("a call of canvas::begin or canvas::pixels", "none");
    return problem_;
  }

 private:
  void refuse(std::string expected, std::string got) {
    if (!problem_) problem_.emplace(std::move(expected), std::move(got));
  }
  void require(std::initializer_list<double> numbers) {
    if (!begun_) refuse("canvas::begin or canvas::pixels before anything is drawn", "another call");
    for (const double number : numbers)
      if (!std::isfinite(number)) refuse("finite coordinates and sizes", fmt::format("{}", number));
  }

  bool begun_ = false;
  std::optional<std::pair<std::string, std::string>> problem_;
};

/// What one call gave back.
struct outcome {
  bool is_reset = false;
  std::vector<float> obs;
  step_result result = {};
  episode_info info = {};               ///< After the last step of an episode.
  std::vector<agent_step> agents = {};  ///< After a step, of env_spec::agents.

  bool has_ended() const { return result.terminated || result.truncated; }
};

/// An environment together with its place in its episodes.
class player {
 public:
  player(const std::function<std::unique_ptr<environment>()>& make, const char* at,
         check_listener& to)
      : to_(to), env_(made(make, at)) {
    spec_ = told_spec(at);
    rows_.emplace(1, spec_.observation_space.flat_size());
  }

  environment& operator*() { return *env_; }
  environment* operator->() { return env_.get(); }
  const env_spec& spec() const { return spec_; }

  /// Asks the environment for its spec again. Throws broken.
  env_spec told_spec(const std::string& at) {
    env_spec told;
    call("spec", at, [&] { told = env_->spec(); });
    return told;
  }
  /// Takes the place in the episode of another player, from whom its state comes.
  void continue_as(const player& other) {
    length_ = other.length_;
    last_obs_ = other.last_obs_;
  }
  /// Throws broken.
  outcome reset(std::optional<std::uint64_t> seed, const std::string& at) {
    length_ = 0;
    call("reset", at, [&] { env_->reset(seed, rows_->row(0)); });
    return {.is_reset = true, .obs = read("reset", at)};
  }
  /// Throws broken.
  outcome step(drawn_action action, const std::string& at) {
    if (spec_.action_masks) action.obey(spec_, last_obs_);
    outcome after;
    call("step", at, [&] { after.result = env_->step(action.view(), rows_->row(0)); });
    after.obs = read("step", at);
    call("agent_steps", at, [&] {
      const auto steps = env_->agent_steps();
      after.agents.assign(steps.begin(), steps.end());
    });
    ++length_;
    if (spec_.max_episode_steps && length_ >= *spec_.max_episode_steps)
      after.result.truncated = true;
    if (after.has_ended()) call("info", at, [&] { after.info = env_->info(); });
    return after;
  }
  /// Makes a call of another member function. Throws broken.
  template <class Function>
  void call(const char* where, const std::string& at, const Function& function) {
    to_.begins({where, at});
    if (rows_) rows_->clear(0);
    try {
      function();
    } catch (const std::exception& error) {
      fault(where, at, error.what());
    } catch (...) {
      fault(where, at, "an object that is no std::exception");
    }
  }

 private:
  std::unique_ptr<environment> made(const std::function<std::unique_ptr<environment>()>& make,
                                    const char* at) {
    to_.begins({"making it", at});
    try {
      return make();
    } catch (const std::invalid_argument&) {
      throw;  // the request is wrong, and not the environment
    } catch (const std::exception& error) {
      fault("making it", at, error.what());
    }
  }

  [[noreturn]] void fault(const char* where, const std::string& at, const std::string& text) {
    to_.found(
        true,
        {.check = "exceptions", .call = {where, at}, .expected = "no exception", .got = text});
    throw broken();
  }

  std::vector<float> read(const char* where, const std::string& at) {
    const auto row = rows_->row(0);
    std::vector<float> obs(row.begin(), row.end());
    last_obs_ = obs;
    if (rows_->good(0)) return obs;
    const auto [reason, message] = rows_->fault(0);
    if (reason != env_failure_reason::shape) return obs;  // its values are checked by their parts
    const auto middle = message.find(", got ");
    to_.found(true, {.check = "shape",
                     .call = {where, at},
                     .expected = message.substr(9, middle - 9),  // after "expected "
                     .got = message.substr(middle + 6)});
    throw broken();
  }

  check_listener& to_;
  std::unique_ptr<environment> env_;
  env_spec spec_;
  std::optional<detail::obs_rows> rows_;
  std::int64_t length_ = 0;
  std::vector<float> last_obs_;  // [D]
};

/// Plays episodes of random actions, one call after the other.
class game {
 public:
  game(player& of, std::uint64_t seed, const space& actions)
      : player_(of), seed_(seed), sampler_(actions, seed) {}

  /// Makes the next call, and says which one it is. Throws broken; then the next call begins
  /// another episode.
  outcome next() {
    if (begins_) {
      length_ = 0;
      at_ = fmt::format("episode {}", episodes_ + 1);
      auto after = player_.reset(std::exchange(seed_, std::nullopt), at_);
      begins_ = false;
      return after;
    }
    at_ = fmt::format("episode {}, step {}", episodes_ + 1, ++length_);
    const drawn_action action(sampler_.sample());
    begins_ = true;
    auto after = player_.step(action, at_);
    begins_ = after.has_ended();
    if (begins_) ++episodes_;
    return after;
  }
  const std::string& at() const { return at_; }
  std::int64_t length() const { return length_; }
  int episodes() const { return episodes_; }

 private:
  player& player_;
  std::optional<std::uint64_t> seed_;
  space_sampler sampler_;
  bool begins_ = true;
  std::int64_t length_ = 0;
  int episodes_ = 0;
  std::string at_;
};

class checker {
 public:
  checker(const std::function<std::unique_ptr<environment>()>& make, const check_options& options,
          check_listener& to)
      : make_(make), options_(options), to_(to) {}

  void run() {
    std::optional<player> first;
    if (!part([&] { first.emplace(make_, "", to_); })) return;
    spec_ = first->spec();
    if (!check_spec(*first)) {
      to_.skipped({"reset, step", "without known spaces nothing can be played"});
      return;
    }
    part([&] { check_unseeded(*first); });
    part([&] { first->call("set_options", "{}", [&] { (*first)->set_options("{}"); }); });
    const bool complete = part([&] { play_first(*first); });
    part([&] { check_extremes(*first); });
    if (complete) {
      part([&] { check_repetition(*first); });
      part([&] { check_instances(); });
      part([&] { check_seeds(*first); });
      part([&] { check_save(); });
    } else {
      to_.skipped({"determinism, save", "its calls fail"});
    }
    part([&] { check_picture(*first); });
    part([&] { check_choices(*first); });
  }

 private:
  /// Makes one part of the checks. Returns false if it broke off.
  template <class Part>
  bool part(const Part& makes) {
    try {
      makes();
      return true;
    } catch (const broken&) {
      return false;
    }
  }

  void tell(bool is_fault, const char* check, environment_call call, std::string expected,
            std::string got, const std::string& key = {}) {
    if (is_fault) failed_.insert(check);
    to_.found(is_fault, {.check = check,
                         .call = std::move(call),
                         .key = key,
                         .expected = std::move(expected),
                         .got = std::move(got)});
  }
  void fault(const char* check, environment_call call, std::string expected, std::string got,
             const std::string& key = {}) {
    tell(true, check, std::move(call), std::move(expected), std::move(got), key);
  }
  void warn(const char* check, environment_call call, std::string expected, std::string got) {
    tell(false, check, std::move(call), std::move(expected), std::move(got));
  }

  // ---- the spec

  /// Returns false if nothing can be played.
  bool check_spec(player& of) {
    const bool known = spec_.agents.empty() ? check_spaces() : check_agents();
    if (spec_.id.empty()) warn("spec", {"spec"}, "an id", "none");
    if (spec_.max_episode_steps && *spec_.max_episode_steps < 1)
      fault("spec", {"spec"}, "max_episode_steps >= 1",
            fmt::format("{}", *spec_.max_episode_steps));
    if (spec_.reward_threshold && !std::isfinite(*spec_.reward_threshold))
      fault("spec", {"spec"}, "a finite reward_threshold",
            fmt::format("{}", *spec_.reward_threshold));
    if (!(spec_.render_fps > 0) || !std::isfinite(spec_.render_fps))
      fault("spec", {"spec"}, "render_fps > 0", fmt::format("{}", spec_.render_fps));
    if (spec_.levels < 1) fault("spec", {"spec"}, "levels >= 1", "0");
    std::set<std::string> names;
    for (const auto& task : spec_.tasks) {
      if (task.name.empty() || !names.insert(task.name).second)
        fault("spec", {"spec"}, "tasks with names of their own", '"' + task.name + '"');
      if (!(task.target > task.floor))
        fault("spec", {"spec"}, "target > floor for the task " + task.name,
              fmt::format("{} and {}", task.target, task.floor));
    }
    require_spec(of, "called again");
    return known;
  }

  bool check_spaces() {
    const bool observed = detail::check_space(spec_.observation_space, "observation space", to_);
    const bool acted = detail::check_space(spec_.action_space, "action space", to_);
    return observed && acted;
  }

  bool check_agents() {
    bool known = true;
    for (const auto& [name, observed, acted] : spec_.agents) {
      known &= detail::check_agent_space(observed, "observation space", name, to_);
      known &= detail::check_agent_space(acted, "action space", name, to_);
    }
    if (spec_.state_space)
      known &= detail::check_agent_space(*spec_.state_space, "state space", "", to_);
    if (!known) return false;
    try {
      if (with_joint_spaces(spec_) == spec_) return true;
      fault("spec", {"spec"}, "the spaces of all agents together (with_joint_spaces)",
            to_string(spec_.observation_space) + " and " + to_string(spec_.action_space));
    } catch (const std::invalid_argument& error) {
      fault("spec", {"spec"}, "agents with names and spaces that fit", error.what());
    }
    return false;
  }

  void require_spec(player& of, const char* at) {
    if (!(of.told_spec(at) == spec_))
      fault("spec", {"spec", at}, "the spec that it had before", "another");
  }

  // ---- what comes back

  void check_outcome(const outcome& after, const std::string& at) {
    const environment_call call{after.is_reset ? "reset" : "step", at};
    const detail::observation_fault tell = [&](const char* check, const std::string& key,
                                               std::string expected, std::string got) {
      fault(check, call, std::move(expected), std::move(got), key);
    };
    if (spec_.agents.empty()) {
      detail::check_observation(spec_.observation_space, after.obs, tell);
    } else {
      detail::check_joint_observation(spec_, after.obs, tell);
    }
    check_reward(after.result.reward, call, "");
    if (!after.is_reset) check_agent_steps(after, {"agent_steps", at});
    for (const auto& [name, number] : after.info)
      if (!std::isfinite(number))
        fault("info", {"info", at}, "finite numbers", fmt::format("{}", number), name);
  }

  void check_reward(double reward, const environment_call& call, const std::string& key) {
    if (std::isfinite(static_cast<float>(reward))) return;
    const auto expected = std::isfinite(reward)
                              ? fmt::format("a number that a 32-bit float has (at most {:.3g})",
                                            std::numeric_limits<float>::max())
                              : std::string("a finite number");
    fault("reward", call, expected, fmt::format("{}", reward), key);
  }

  void check_agent_steps(const outcome& after, const environment_call& call) {
    const auto count = spec_.agents.size();
    if (after.agents.size() != count)
      return fault("agents", call, fmt::format("what happened to each of {} agents", count),
                   fmt::format("{} entries", after.agents.size()));
    double sum = 0;
    for (std::size_t i = 0; i < count; ++i) {
      sum += after.agents[i].reward;
      check_reward(after.agents[i].reward, call, spec_.agents[i].name);
    }
    const double mean = count > 0 ? sum / static_cast<double>(count) : after.result.reward;
    constexpr double rounding = 1e-9;
    if (std::isfinite(mean) &&
        std::abs(mean - after.result.reward) > rounding * std::max(1.0, std::abs(mean)))
      fault("agents", call, fmt::format("the mean {} of the agents' rewards as the reward", mean),
            fmt::format("{}", after.result.reward));
  }

  void check_unseeded(player& of) {
    check_outcome(of.reset(std::nullopt, "without a seed"), "without a seed");
  }

  /// Plays, and checks all that comes back. Keeps the outcomes.
  void play_first(player& of) {
    using clock = std::chrono::steady_clock;
    game played(of, options_.seed, spec_.action_space);
    const auto until = clock::now() + std::chrono::duration<double>(options_.seconds);
    int broke = 0;
    bool ended = false;
    std::int64_t calls = 0;
    while (calls < options_.steps) {
      if (calls > 0 && clock::now() >= until) {
        end_early(calls);
        break;
      }
      ++calls;
      try {
        auto after = played.next();
        check_outcome(after, played.at());
        ended |= after.has_ended();
        if (after.has_ended()) require_spec(of, "after an episode");
        first_.push_back(std::move(after));
      } catch (const broken&) {
        if (++broke == broken_max) throw;
      }
    }
    if (broke > 0) throw broken();
    if (!ended && !spec_.max_episode_steps)
      warn("end", {"step"}, "terminated or truncated, or a time limit (env.max_episode_steps)",
           fmt::format("neither in {} steps", calls));
  }

  /// Tells that the time was over after so many calls, and makes the parts after it as short.
  void end_early(std::int64_t calls) {
    to_.skipped({"steps", fmt::format("{:g} s had passed after {} of {} (--seconds)",
                                      options_.seconds, calls, options_.steps)});
    short_part_ = std::min(short_part_, static_cast<std::size_t>(calls));
  }

  void check_extremes(player& of) {
    constexpr int steps = 20;
    for (const bool highest : {false, true}) {
      const std::string at = highest ? "with the highest action" : "with the lowest action";
      part([&] {
        check_outcome(of.reset(std::nullopt, at), at);
        const drawn_action action(numbers_of(spec_.action_space), highest);
        for (int i = 0; i < steps; ++i) {
          const auto after = of.step(action, at);
          check_outcome(after, at);
          if (after.has_ended()) break;
        }
      });
    }
  }

  // ---- determinism

  void check_repetition(player& of) {
    game again(of, options_.seed, spec_.action_space);
    for (const auto& before : first_) {
      const auto now = again.next();
      if (!compare("determinism", before, now, again.at(), "each time")) return;
    }
  }

  /// Plays again in a new environment, in turn with another one that has another seed.
  void check_instances() {
    player mine(make_, "a second time", to_), other(make_, "a third time", to_);
    if (!(mine.spec() == spec_))
      fault("spec", {"spec", "of another instance"}, "the spec of the first one", "another");
    if (failed_.contains("determinism")) {
      to_.skipped({"instances, save", "one instance is not deterministic by itself"});
      return;
    }
    game again(mine, options_.seed, spec_.action_space);
    game beside(other, options_.seed + 1, spec_.action_space);
    for (std::size_t i = 0; i < std::min(first_.size(), short_part_); ++i) {
      const auto now = again.next();
      if (!compare("instances", first_[i], now, again.at(), "in each instance")) return;
      beside.next();
    }
  }

  /// Warns if other seeds give the same episode for the same actions.
  void check_seeds(player& of) {
    for (std::uint64_t seed = options_.seed + 1; seed < options_.seed + 4; ++seed) {
      // The actions are those of the first seed, so a difference comes from the environment.
      space_sampler actions(spec_.action_space, options_.seed);
      const auto at = fmt::format("seed={}", seed);
      outcome now = of.reset(seed, at);
      for (std::size_t i = 0; i < std::min(first_.size(), short_part_); ++i) {
        if (differ(first_[i], now)) return;
        if (now.has_ended()) break;
        now = of.step(drawn_action(actions.sample()), at);
      }
    }
    warn("seeds", {"reset"}, "episodes that depend on the seed", "the same for four seeds");
  }

  // ---- checkpoints

  /// Saves in the middle of what was played, and plays the rest with a restored environment.
  void check_save() {
    if (failed_.contains("determinism") || failed_.contains("instances")) return;
    player saved(make_, "to save it", to_), restored(make_, "to restore it", to_);
    game played(saved, options_.seed, spec_.action_space);
    const auto half = std::min(first_.size(), short_part_) / 2;
    for (std::size_t i = 0; i < half; ++i) played.next();
    state_writer state;
    bool can_save = false;
    saved.call("save", played.at(), [&] { can_save = saved->save(state); });
    if (!can_save) {
      to_.skipped({"save", "it can't be saved, so a run begins new episodes after a checkpoint"});
      return;
    }
    restored.call("restore", "in another instance",
                  [&] { restored->restore(state_reader(state.bytes())); });
    restored.continue_as(saved);
    // Both get the actions that come next.
    space_sampler actions(spec_.action_space, options_.seed + 1);
    bool begins = half == 0 || first_[half - 1].has_ended();
    for (std::size_t i = 0; i < short_part_; ++i) {
      const auto at = fmt::format("call {} after a restore", i + 1);
      const drawn_action action(actions.sample());
      const auto call = [&](player& of) {
        return begins ? of.reset(std::nullopt, at) : of.step(action, at);
      };
      const auto before = call(saved);
      const auto now = call(restored);
      if (!compare("save", before, now, at, "as without save and restore")) return;
      begins = before.has_ended();
    }
  }

  // ---- pictures, levels and tasks

  void check_picture(player& of) {
    checking_canvas drawn;
    bool has_picture = false;
    of.reset(options_.seed, "before a picture");
    of.call("render", "", [&] { has_picture = of->render(drawn); });
    if (!has_picture) return to_.skipped({"render", "it has no picture"});
    if (auto problem = drawn.problem())
      fault("render", {"render"}, std::move(problem->first), std::move(problem->second));
  }

  void check_choices(player& of) {
    constexpr std::size_t most = 16;  // levels or tasks that are played
    for (std::size_t level = 0; spec_.levels > 1 && level < std::min(spec_.levels, most); ++level) {
      const auto at = fmt::format("level {}", level);
      part([&] {
        of.call("set_level", at, [&] { of->set_level(level); });
        play_briefly(of, at);
      });
    }
    for (std::size_t task = 0; task < std::min(spec_.tasks.size(), most); ++task) {
      const auto at = "task " + spec_.tasks[task].name;
      part([&] {
        of.call("set_task", at, [&] { of->set_task(task); });
        play_briefly(of, at);
      });
    }
  }

  void play_briefly(player& of, const std::string& at) {
    constexpr int steps = 20;
    check_outcome(of.reset(options_.seed, at), at);
    space_sampler actions(spec_.action_space, options_.seed);
    for (int i = 0; i < steps; ++i) {
      const auto after = of.step(drawn_action(actions.sample()), at);
      check_outcome(after, at);
      if (after.has_ended()) return;
    }
  }

  // ---- comparisons

  static bool differ(const outcome& a, const outcome& b) {
    return a.is_reset != b.is_reset || !same_numbers(a.obs, b.obs) ||
           !same(a.result.reward, b.result.reward) || a.result.terminated != b.result.terminated ||
           a.result.truncated != b.result.truncated;
  }
  static bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }
  static bool same_numbers(const std::vector<float>& a, const std::vector<float>& b) {
    return std::ranges::equal(a, b, [](float x, float y) { return same(x, y); });
  }

  /// Tells a difference and returns false if there is one.
  bool compare(const char* check, const outcome& before, const outcome& now, const std::string& at,
               const char* when) {
    const environment_call call{now.is_reset ? "reset" : "step", at};
    const auto refuse = [&](const char* what, const auto& was, const auto& is,
                            const std::string& key) {
      fault(check, call, fmt::format("the same {} for the same seed and actions, {}", what, when),
            fmt::format("{} and then {}", was, is), key);
      return false;
    };
    if (before.is_reset != now.is_reset)
      return refuse("length of an episode", "one", "another", "");
    for (std::size_t i = 0; i < before.obs.size(); ++i) {
      if (same(before.obs[i], now.obs[i])) continue;
      const auto [key, element] = detail::part_at(spec_.observation_space, i);
      return refuse("observation", fmt::format("{} as element {}", before.obs[i], element),
                    fmt::format("{}", now.obs[i]), key);
    }
    if (!same(before.result.reward, now.result.reward))
      return refuse("reward", before.result.reward, now.result.reward, "");
    for (std::size_t i = 0; i < std::min(before.agents.size(), now.agents.size()); ++i) {
      const auto &was = before.agents[i], &is = now.agents[i];
      if (!same(was.reward, is.reward))
        return refuse("reward", was.reward, is.reward, spec_.agents[i].name);
      if (was.ended != is.ended) return refuse("end", "one", "another", spec_.agents[i].name);
    }
    if (before.result.terminated != now.result.terminated)
      return refuse("terminated", before.result.terminated, now.result.terminated, "");
    if (before.result.truncated != now.result.truncated)
      return refuse("truncated", before.result.truncated, now.result.truncated, "");
    const auto same_entry = [](const auto& a, const auto& b) {
      return a.first == b.first && same(a.second, b.second);
    };
    if (!std::ranges::equal(before.info, now.info, same_entry))
      return refuse("info", "one", "another", "");
    return true;
  }

  const std::function<std::unique_ptr<environment>()>& make_;
  const check_options options_;
  check_listener& to_;
  env_spec spec_;
  std::vector<outcome> first_;    // what was played first
  std::set<std::string> failed_;  // the checks that found a fault
  std::size_t short_part_ = short_part;
};

}  // namespace

void check_environment(const std::function<std::unique_ptr<environment>()>& make,
                       const check_options& options, check_listener& to) {
  checker(make, options, to).run();
}

environment_speed measure_speed(vector_environment& environments, const check_options& options) {
  using clock = std::chrono::steady_clock;
  const auto spec = environments.spec();
  const auto copies = static_cast<std::int64_t>(environments.size());
  const auto masked = spec.action_masks;
  space_sampler sampler(spec.action_space, options.seed);
  env_step after;
  const auto begun = environments.reset(options.seed).obs;
  after.obs.assign(begun.begin(), begun.end());
  const auto width = spec.observation_space.flat_size();
  environment_speed speed{.environments = copies, .how = "hosted"};
  const auto begin = clock::now();
  const auto until = begin + std::chrono::duration<double>(options.speed_seconds);
  while (speed.steps < options.steps && clock::now() < until) {
    env_actions actions;
    for (std::int64_t i = 0; i < copies; ++i) {
      drawn_action action(sampler.sample());
      if (masked)
        action.obey(spec, std::span(after.obs).subspan(static_cast<std::size_t>(i) * width, width));
      const auto integers = action.view().parts();
      const auto floats = action.view().floats();
      actions.discrete.insert(actions.discrete.end(), integers.begin(), integers.end());
      actions.continuous.insert(actions.continuous.end(), floats.begin(), floats.end());
    }
    environments.step_into(actions, after);
    if (!after.failures.empty()) throw std::runtime_error(after.failures.front().message);
    speed.steps += copies;
    speed.episodes += static_cast<std::int64_t>(after.finished.size());
  }
  speed.seconds = std::chrono::duration<double>(clock::now() - begin).count();
  return speed;
}

}  // namespace troupe
