#include "algorithms/loops/curriculum_levels.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "actors/checkpoint/state_codec.hpp"

namespace troupe::loops {

namespace {

template <class T>
void require(bool holds, const char* option, const char* expected, T value) {
  if (holds) return;
  throw std::invalid_argument(
      fmt::format("curriculum: {}: expected {}, got {}", option, expected, value));
}

}  // namespace

curriculum_levels::curriculum_levels(curriculum_options options)
    : options_(options), recent_(options.window), episodes_(options.levels) {
  require(options.levels > 0, "levels", "a number > 0", options.levels);
  require(options.promote_at > 0 && options.promote_at <= 1, "promote_at", "a rate in (0, 1]",
          options.promote_at);
  require(options.window > 0, "window", "a number > 0", options.window);
  require(options.min_episodes > 0, "min_episodes", "a number > 0", options.min_episodes);
  const double lower = options.demote_at.value_or(0);
  require(lower >= 0 && lower < options.promote_at, "demote_at", "a rate in [0, promote_at)",
          lower);
}

std::size_t curriculum_levels::ended(graded_episode episode) {
  require(episode.level < options_.levels, "an episode's level", "one that is there",
          episode.level);
  ++episodes_[episode.level];
  if (episode.level != level_) return level_;
  recent_.add(episode.success ? 1 : 0);
  if (++episodes_here_ < options_.min_episodes) return level_;

  const double rate = recent_.mean();
  if (rate >= options_.promote_at) {
    if (level_ + 1 == options_.levels) {
      mastered_ = true;
    } else {
      enter(level_ + 1);
    }
  } else if (options_.demote_at && rate <= *options_.demote_at && level_ > 0) {
    enter(level_ - 1);
  }
  return level_;
}

void curriculum_levels::enter(std::size_t level) {
  level_ = level;
  episodes_here_ = 0;
  recent_.clear();
}

namespace {

struct curriculum_state {
  std::size_t level;
  std::int64_t episodes_here;
  std::vector<double> recent;
  bool mastered;
  std::vector<std::int64_t> episodes;
};

}  // namespace

std::string curriculum_levels::save() const {
  return state_bytes(
      curriculum_state{level_, episodes_here_, recent_.values(), mastered_, episodes_});
}

void curriculum_levels::restore(std::string bytes) {
  const auto state = state_of<curriculum_state>(bytes);
  if (state.episodes.size() != options_.levels || state.level >= options_.levels) {
    throw state_error(fmt::format("curriculum: episodes: expected those of {} levels, got {}",
                                  options_.levels, state.episodes.size()));
  }
  auto restored = *this;
  restored.level_ = state.level;
  restored.episodes_here_ = state.episodes_here;
  restored.recent_.restore(state.recent);
  restored.mastered_ = state.mastered;
  restored.episodes_ = state.episodes;
  *this = std::move(restored);
}

}  // namespace troupe::loops
