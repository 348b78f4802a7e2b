#include "actors/worlds/mpe/particle_environment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "actors/environments/canvas.hpp"

namespace troupe {
namespace {

constexpr std::array<vec2, 5> pushes{{{0, 0}, {-1, 0}, {1, 0}, {0, -1}, {0, 1}}};

space box_of(float low, float high, std::size_t size) {
  return spaces::box(low, high, {static_cast<std::int64_t>(size)});
}

vec2 draw_place(numpy_random& random, double area) {
  const double x = random.uniform(-area, area);
  return {x, random.uniform(-area, area)};
}

}  // namespace

void describe(options_schema<mpe_options>& s) { describe_episodes(s); }

particle_environment::particle_environment(definition of, const mpe_options& options)
    : id_(std::move(of.id)),
      agents_(std::move(of.agents)),
      words_(of.words),
      landmark_area_(of.landmark_area),
      grows_(of.grows),
      present_(agents_.size()),
      options_(options),
      forces_(agents_.size()),
      said_(agents_.size() * words_),
      goals_(of.goals) {
  for (const auto& each : agents_) particles_.push_back(each.body);
  particles_.insert(particles_.end(), of.landmarks.begin(), of.landmarks.end());
}

std::int64_t particle_environment::choices_of(std::size_t i) const {
  const auto moves = std::max<std::size_t>(moves_of(i), 1);
  return static_cast<std::int64_t>(moves * std::max<std::size_t>(words_of(i), 1));
}

space particle_environment::actions_of(std::size_t i) const {
  if (options_.continuous_actions) return box_of(0, 1, moves_of(i) + words_of(i));
  return spaces::discrete(choices_of(i));
}

env_spec particle_environment::spec() const {
  constexpr float infinite = std::numeric_limits<float>::infinity();
  env_spec made{.id = id_, .max_episode_steps = options_.max_cycles, .render_fps = 10};
  std::size_t all = 0;
  for (std::size_t i = 0; i < agents_.size(); ++i) {
    all += agents_[i].obs_size;
    made.agents.push_back({.name = agents_[i].name,
                           .observation_space = box_of(-infinite, infinite, agents_[i].obs_size),
                           .action_space = actions_of(i)});
  }
  made.state_space = box_of(-infinite, infinite, all);
  made.agents_vary = grows_;
  if (grows_) made.levels = agents_.size();
  return with_joint_spaces(std::move(made));
}

void particle_environment::begin(std::optional<std::uint64_t> seed, joint_observation obs) {
  random_.begin_episode(seed);
  const auto choices = static_cast<std::int64_t>(landmarks().size());
  for (auto& goal : goals_) goal = static_cast<std::size_t>(random_->integers(0, choices));
  for (std::size_t i = 0; i < particles_.size(); ++i) {
    particles_[i].position = draw_place(*random_, i < agents_.size() ? 1 : landmark_area_);
    particles_[i].velocity = {};
  }
  std::ranges::fill(said_, 0.0F);
  paint();
  show(obs);
}

vec2 particle_environment::choose(std::size_t i, std::int64_t choice) {
  if (choice < 0 || choice >= choices_of(i))
    throw std::invalid_argument(fmt::format("{}: {}: expected an action of 0 to {}, got {}", id_,
                                            agents_[i].name, choices_of(i) - 1, choice));
  const auto moves = std::max<std::size_t>(moves_of(i), 1);
  const auto chosen = static_cast<std::size_t>(choice);
  if (agents_[i].speaks) {
    const auto words = std::span(said_).subspan(i * words_, words_);
    std::ranges::fill(words, 0.0F);
    words[chosen / moves] = 1;
  }
  return moves_of(i) > 0 ? pushes[chosen % moves] : vec2{};
}

vec2 particle_environment::choose(std::size_t i, std::span<const float> numbers) {
  const auto moves = moves_of(i);
  if (agents_[i].speaks)
    std::ranges::copy(numbers.subspan(moves, words_), said_.begin() + std::ptrdiff_t(i * words_));
  if (moves == 0) return {};
  // The differences are rounded to floats, like NumPy's.
  return {double{numbers[2] - numbers[1]}, double{numbers[4] - numbers[3]}};
}

void particle_environment::act(joint_action actions, joint_observation obs,
                               std::span<agent_step> results) {
  for (std::size_t i = 0; i < agents_.size(); ++i) {
    const auto action = actions[i];
    const auto push =
        options_.continuous_actions ? choose(i, action.continuous()) : choose(i, action.discrete());
    forces_[i] = push * particles_[i].strength;
  }
  if (options_.silent) std::ranges::fill(said_, 0.0F);
  step_particles(particles_, forces_);
  reward(results);
  show(obs);
}

void particle_environment::show(joint_observation obs) {
  const auto state = obs.state();
  auto next = state.begin();
  for (std::size_t i = 0; i < agents_.size(); ++i) {
    const auto own = obs[i];
    observation_writer to(own);
    if (i < present_) {
      observe(i, to);
    } else {
      to.add_zeros(own.size());
    }
    if (grows_) obs.set_active(i, i < present_);
    next = std::copy(own.begin(), own.end(), next);
  }
}

void particle_environment::set_level(std::size_t level) {
  if (!grows_) return;
  present_ = level + 1;
  for (std::size_t i = 0; i < agents_.size(); ++i) {
    particles_[i].collides = i < present_ && agents_[i].body.collides;
  }
}

void particle_environment::add_landmarks(std::size_t i, observation_writer& to) const {
  for (std::size_t place = 0; place < landmarks().size(); ++place) {
    const bool is_there = !grows_ || place < present_;
    to.add(is_there ? landmarks()[place].position - particles_[i].position : vec2{});
  }
}

void particle_environment::add_others(std::size_t i, observation_writer& to) const {
  for (std::size_t other = 0; other < agents_.size(); ++other)
    if (other != i) {
      to.add(other < present_ ? particles_[other].position - particles_[i].position : vec2{});
    }
}

std::string particle_environment::sentence_of(std::size_t i) const {
  const auto said = said_by(i);
  std::string words = "_";
  if (options_.continuous_actions) {
    words.clear();
    for (const float number : said)
      words += fmt::format("{}{:.2f}", words.empty() ? "" : " ", number);
  } else if (const auto word = std::ranges::find(said, 1.0F); word != said.end()) {
    words = static_cast<char>('A' + (word - said.begin()));
  }
  return agents_[i].name + " says " + words;
}

// All particles are in the picture, which shows the square from -1.2 to 1.2 or more.
bool particle_environment::render(canvas& on) const {
  constexpr int side = 600;
  constexpr double margin = 0.2, line_height = 26;
  double farthest = 1;
  for (const auto& each : particles_)
    farthest = std::max({farthest, std::abs(each.position.x), std::abs(each.position.y)});
  const double scale = side / 2.0 / (farthest + margin);
  on.begin(side, side, {255, 255, 255});
  for (const auto& each : particles_) {
    const auto shade = [&](int part) {
      return static_cast<std::uint8_t>(std::min(each.colour[std::size_t(part)] * 200, 255.0F));
    };
    const canvas::point at{side / 2.0 + each.position.x * scale,
                           side / 2.0 - each.position.y * scale};
    on.circle(at, each.radius * scale + 1, {});
    on.circle(at, each.radius * scale, {shade(0), shade(1), shade(2)});
  }
  double line = side - line_height;
  for (std::size_t i = 0; i < agents_.size(); ++i) {
    if (!agents_[i].speaks) continue;
    on.text({side / 2.0, line}, sentence_of(i), 18, {});
    line -= line_height;
  }
  return true;
}

std::size_t particle_environment::saved_size() const {
  return 4 * agents_.size() + 2 * landmarks().size() + said_.size() + goals_.size();
}

bool particle_environment::save(state_writer& to) const {
  std::vector<double> all;
  all.reserve(saved_size());
  for (const auto& each : agents())
    all.insert(all.end(), {each.position.x, each.position.y, each.velocity.x, each.velocity.y});
  for (const auto& each : landmarks()) all.insert(all.end(), {each.position.x, each.position.y});
  all.insert(all.end(), said_.begin(), said_.end());
  all.insert(all.end(), goals_.begin(), goals_.end());
  detail::put_numbers(to, all);
  random_.save(to);
  return true;
}

void particle_environment::restore(const state_reader& from) {
  std::vector<double> all(saved_size());
  detail::get_numbers(from, id_, all);
  const auto goals = std::span(all).last(goals_.size());
  for (const double goal : goals)
    if (!(goal >= 0 && goal < static_cast<double>(landmarks().size())))
      throw state_error(
          fmt::format("{}: expected goals of 0 to {}, got {}", id_, landmarks().size() - 1, goal));
  auto next = all.begin();
  for (std::size_t i = 0; i < particles_.size(); ++i) {
    auto& each = particles_[i];
    each.position = {next[0], next[1]};
    next += 2;
    if (i >= agents_.size()) continue;
    each.velocity = {next[0], next[1]};
    next += 2;
  }
  for (auto& number : said_) number = static_cast<float>(*next++);
  for (auto& goal : goals_) goal = static_cast<std::size_t>(*next++);
  paint();
  random_.restore(from);
}

}  // namespace troupe
