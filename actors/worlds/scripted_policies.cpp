#include "actors/worlds/scripted_policies.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "actors/environments/action_numbers.hpp"
#include "actors/worlds/mpe/scripted.hpp"
#include "actors/worlds/registry.hpp"

namespace troupe {
namespace {

/// Draws each allowed choice with the same probability, and floats uniformly between their bounds.
class random_policy final : public scripted_policy {
 public:
  explicit random_policy(const space& actions) : numbers_(numbers_of(actions)) {}

  void act(const agent_sight& seen, action_random& random, std::span<std::int64_t> choices,
           std::span<float> floats) override {
    std::size_t first = 0;
    for (std::size_t i = 0; i < choices.size(); ++i) {
      const auto count = static_cast<std::size_t>(numbers_.integers[i].count);
      choices[i] =
          draw(seen.mask.empty() ? seen.mask : seen.mask.subspan(first, count), count, random);
      first += count;
    }
    for (std::size_t i = 0; i < floats.size(); ++i) {
      const double low = bound(numbers_.low[i], -1.0), high = bound(numbers_.high[i], 1.0);
      floats[i] = static_cast<float>(low + (high - low) * random.uniform());
    }
  }

 private:
  static double bound(float value, double otherwise) {
    return std::isfinite(value) ? value : otherwise;
  }
  static std::int64_t draw(std::span<const float> mask, std::size_t count, action_random& random) {
    const auto allowed =
        mask.empty()
            ? count
            : static_cast<std::size_t>(std::ranges::count_if(mask, [](float x) { return x > 0; }));
    if (allowed == 0) return 0;
    auto left = random.below(allowed);
    for (std::size_t i = 0; i < count; ++i) {
      if (!mask.empty() && mask[i] <= 0) continue;
      if (left-- == 0) return static_cast<std::int64_t>(i);
    }
    return 0;
  }

  action_numbers numbers_;
};

/// A rule that maps an observation [D] to one choice. Where actions are a Box, the number of the
/// choice is 1 and the others are 0, which is the same action in particle environments.
class rule final : public scripted_policy {
 public:
  using choose = std::function<std::int64_t(std::span<const float> obs)>;
  rule(std::string name, std::size_t width, choose what)
      : name_(std::move(name)), width_(width), choose_(std::move(what)) {}

  void act(const agent_sight& seen, action_random&, std::span<std::int64_t> choices,
           std::span<float> floats) override {
    if (seen.obs.size() != width_) {
      throw std::invalid_argument(
          fmt::format("scripted policy \"{}\": expected observations of {} numbers, got {}", name_,
                      width_, seen.obs.size()));
    }
    const auto choice = choose_(seen.obs);
    if (!choices.empty()) choices[0] = choice;
    for (std::size_t i = 0; i < floats.size(); ++i) {
      floats[i] = static_cast<std::int64_t>(i) == choice ? 1.0f : 0.0f;
    }
  }

 private:
  std::string name_;
  std::size_t width_;
  choose choose_;
};

std::unique_ptr<scripted_policy> make_rule(const scripted_policy_request& of, std::size_t width,
                                           rule::choose what) {
  if (!of.actions.get_if<spaces::discrete>() && !of.actions.get_if<spaces::box>()) {
    throw std::invalid_argument(fmt::format(
        "scripted policy \"{}\": expected agents with actions of Discrete or Box, got {}", of.name,
        to_string(of.actions)));
  }
  return std::make_unique<rule>(of.name, width, std::move(what));
}

/// Returns a factory of a rule for agents that see [width].
scripted_policy_factory rule_of(std::size_t width, std::int64_t (*choose)(std::span<const float>)) {
  return [=](const scripted_policy_request& of) { return make_rule(of, width, choose); };
}

/// Returns a factory of a rule of simple_tag_v3. `sees_itself` says whether the agents are among
/// those whose velocities they see.
scripted_policy_factory rule_of_tag(bool sees_itself,
                                    std::int64_t (*choose)(std::span<const float>,
                                                           const simple_tag_options&)) {
  return [=](const scripted_policy_request& of) {
    const auto options = detail::read_options<simple_tag_options>(of.env_options);
    const auto others = options.good_agents + options.adversaries - 1;
    const auto runners = options.good_agents - (sees_itself ? 1 : 0);
    const auto width = 4 + 2 * (options.obstacles + others + runners);
    return make_rule(of, static_cast<std::size_t>(width),
                     [=](std::span<const float> obs) { return choose(obs, options); });
  };
}

struct scripts {
  std::mutex guard;
  std::map<std::string, scripted_policy_factory, std::less<>> known{
      {"random",
       [](const scripted_policy_request& of) {
         return std::make_unique<random_policy>(of.actions);
       }},
      {"simple_speaker_listener.blind_listener", rule_of(11, scripted_blind_listener)},
      {"simple_speaker_listener.listener", rule_of(11, scripted_listener)},
      {"simple_speaker_listener.speaker", rule_of(3, scripted_speaker)},
      {"simple_tag.chaser", rule_of_tag(false, scripted_chaser)},
      {"simple_tag.runner", rule_of_tag(true, scripted_runner)}};
};

scripts& all_scripts() {
  static scripts made;
  return made;
}

}  // namespace

void register_scripted_policy(std::string name, scripted_policy_factory make) {
  if (name.empty()) throw std::invalid_argument("scripted policy: expected a name, got \"\"");
  auto& all = all_scripts();
  const std::lock_guard lock(all.guard);
  const auto [at, added] = all.known.try_emplace(std::move(name), std::move(make));
  if (!added)
    throw std::invalid_argument("scripted policy \"" + at->first + "\": the name is taken");
}

std::unique_ptr<scripted_policy> make_scripted_policy(const scripted_policy_request& request) {
  scripted_policy_factory make;
  {
    auto& all = all_scripts();
    const std::lock_guard lock(all.guard);
    const auto at = all.known.find(request.name);
    if (at != all.known.end()) make = at->second;
  }
  if (make) return make(request);
  throw std::invalid_argument(fmt::format("scripted policy \"{}\": expected one of {}",
                                          request.name,
                                          fmt::join(known_scripted_policies(), ", ")));
}

std::vector<std::string> known_scripted_policies() {
  auto& all = all_scripts();
  const std::lock_guard lock(all.guard);
  std::vector<std::string> names;
  for (const auto& [name, make] : all.known) names.push_back(name);
  return names;
}

}  // namespace troupe
