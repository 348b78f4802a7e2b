#include "actors/worlds/bar_problem/bar_problem.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "actors/environments/canvas.hpp"
#include "runtime/config/config.hpp"

namespace troupe {

bar_problem::bar_problem(const bar_problem_options& options)
    : options_(checked_options(options, "bar_problem-v0")),
      attendance_(static_cast<std::size_t>(options.nights) + 1) {}

env_spec bar_problem::spec() const {
  env_spec made{.id = "bar_problem-v0", .render_fps = 2};
  const space seen = spaces::box(0, 1, {1});
  for (std::int64_t i = 0; i < options_.agents; ++i) {
    made.agents.push_back(
        {"agent_" + std::to_string(i), seen, spaces::discrete(options_.nights + 1)});
  }
  made.state_space = seen;
  return with_joint_spaces(std::move(made));
}

void bar_problem::begin(std::optional<std::uint64_t>, joint_observation obs) {
  round_ = 0;
  std::ranges::fill(attendance_, 0);
  show(obs);
}

void bar_problem::act(joint_action actions, joint_observation obs, std::span<agent_step> results) {
  std::ranges::fill(attendance_, 0);
  const auto night = [&](std::size_t i) { return static_cast<std::size_t>(actions[i].discrete()); };
  for (std::size_t i = 0; i < results.size(); ++i) ++attendance_.at(night(i));
  ++round_;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const auto together = static_cast<double>(attendance_[night(i)]);
    results[i].reward = night(i) == 0 ? 0.0 : std::exp(-together / options_.capacity);
    if (round_ >= options_.rounds) results[i].ended = episode_end::terminated;
  }
  show(obs);
}

void bar_problem::show(joint_observation obs) const {
  for (std::size_t i = 0; i < static_cast<std::size_t>(options_.agents); ++i) obs[i][0] = 1;
  obs.state()[0] = 1;
}

bool bar_problem::render(canvas& on) const {
  constexpr canvas::colour white{255, 255, 255}, black{}, bar{255, 214, 102}, home{200, 200, 200},
      room{240, 240, 240};
  constexpr double height = 200, margin = 40, gap = 4;
  const double width = std::clamp(2000.0 / static_cast<double>(attendance_.size()), 12.0, 70.0);
  const auto all = static_cast<double>(attendance_.size()) * width;
  on.begin(static_cast<int>(std::clamp(all + 2 * margin, 320.0, 4096.0)),
           static_cast<int>(height + 2 * margin), white);
  const double bottom = margin + height, most = static_cast<double>(options_.agents);
  for (std::size_t i = 0; i < attendance_.size(); ++i) {
    const double left = margin + static_cast<double>(i) * width;
    const double size = height * static_cast<double>(attendance_[i]) / most;
    on.rectangle({left, margin}, width - gap, height, room);
    on.rectangle({left, bottom - size}, width - gap, size, i == 0 ? home : bar);
    on.text({left + width / 2, bottom - size - 10}, std::to_string(attendance_[i]), 14, black);
    on.text({left + width / 2, bottom + 14}, i == 0 ? "home" : std::to_string(i), 14, black);
  }
  on.text({margin + all / 2, margin / 2}, fmt::format("round {} of {}", round_, options_.rounds),
          14, black);
  const double level = bottom - height * std::min(options_.capacity / most, 1.0);
  on.line({margin + width, level}, {margin + all - gap, level}, 1, black);
  return true;
}

bool bar_problem::save(state_writer& to) const {
  auto numbers = attendance_;
  numbers.push_back(round_);
  to.put("bar", numbers);
  return true;
}

void bar_problem::restore(const state_reader& from) {
  auto numbers = from.get<std::vector<std::int64_t>>("bar");
  const auto negative = [](std::int64_t n) { return n < 0; };
  if (numbers.size() != attendance_.size() + 1 || std::ranges::any_of(numbers, negative)) {
    throw state_error(fmt::format("bar_problem-v0: expected {} numbers >= 0, got {}",
                                  attendance_.size() + 1, fmt::join(numbers, ", ")));
  }
  round_ = numbers.back();
  numbers.pop_back();
  attendance_ = std::move(numbers);
  set_ended(std::vector<std::uint8_t>(static_cast<std::size_t>(options_.agents),
                                      round_ >= options_.rounds ? 1 : 0));
}

void describe(options_schema<bar_problem_options>& s) {
  s.field("agents", &bar_problem_options::agents)
      .at_least(2)
      .at_most(1000)
      .help("The number of agents.");
  s.field("nights", &bar_problem_options::nights)
      .at_least(1)
      .at_most(1000)
      .help("The number of nights.");
  s.field("capacity", &bar_problem_options::capacity)
      .above(0)
      .unit("agents")
      .help("The attendance at which a night is worth most.");
  s.field("rounds", &bar_problem_options::rounds)
      .at_least(1)
      .unit("rounds")
      .help("The rounds of an episode.");
}

}  // namespace troupe
