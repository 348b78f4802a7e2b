#pragma once
// The levels of a curriculum. Runs use it for env.curriculum; loops of your own use it as a role or
// with curriculum.hpp.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "actors/environments/vector_environment.hpp"
#include "algorithms/loops/recent_mean.hpp"

namespace troupe::loops {

struct curriculum_options {
  std::size_t levels = 1;          ///< The number of levels; level 0 is the easiest.
  double promote_at = 0.8;         ///< Success rate in (0, 1] at which the next level begins.
  std::size_t window = 100;        ///< The rate is that of the last so many episodes at a level.
  std::int64_t min_episodes = 20;  ///< A level is not left before so many of its episodes.
  /// Success rate in [0, promote_at) at which the level before begins again. None means never.
  std::optional<double> demote_at = std::nullopt;
};

/// An episode's level and whether it succeeded.
using troupe::graded_episode;

/// Chooses the level to practise: the next one as soon as enough of the last episodes succeeded.
/// The sequence of levels is fixed, the moments of promotion depend on learning (Narvekar et al.
/// 2020, https://arxiv.org/abs/2003.04960, section 4). The class has no actors of its own and can
/// be served as a role:
///
///   auto levels = co_await sys.serve<loops::curriculum_levels>({.name = "levels"}, options);
///
///   task<episode> generate_episode(roles r) {            // the level travels with the episode
///     const auto level = co_await r.levels.route<&loops::curriculum_levels::level>();
///     ...
///     loops::graded_episode how{level, success};
///     co_await r.levels.route<&loops::curriculum_levels::ended>(how);
///   }
///
/// curriculum.hpp is for environments that begin episodes by themselves.
class curriculum_levels {
 public:
  /// Throws std::invalid_argument that names the option if one is out of range.
  explicit curriculum_levels(curriculum_options options);

  std::size_t level() const { return level_; }
  /// Counts an episode that has ended and returns the level of the next one. An episode of another
  /// level than the current one was under way when the level changed, and does not count for the
  /// success rate. Throws std::invalid_argument if the level does not exist.
  std::size_t ended(graded_episode episode);

  /// The success rate of the last `window` episodes at this level; 0 before the first.
  double success_rate() const { return recent_.mean(); }
  /// True once the last level's success rate has reached promote_at.
  bool mastered() const { return mastered_; }
  /// The number of graded episodes so far, for each level.
  std::vector<std::int64_t> episodes() const { return episodes_; }

  std::string save() const;
  /// Restores a state that `save` returned. Throws state_error if it has another number of levels.
  void restore(std::string bytes);

 private:
  void enter(std::size_t level);

  curriculum_options options_;
  std::size_t level_ = 0;
  std::int64_t episodes_here_ = 0;  ///< Episodes since this level began the last time.
  recent_mean recent_;
  bool mastered_ = false;
  std::vector<std::int64_t> episodes_;
};

}  // namespace troupe::loops
