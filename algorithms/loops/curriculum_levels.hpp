#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "actors/environments/vector_environment.hpp"
#include "algorithms/loops/recent_mean.hpp"

namespace troupe::loops {

struct curriculum_options {
  std::size_t levels = 1;          ///< From 0, the easiest.
  double promote_at = 0.8;         ///< Success rate at which the next level begins: (0, 1].
  std::size_t window = 100;        ///< The rate is that of the last so many episodes at a level.
  std::int64_t min_episodes = 20;  ///< At a level, before it is left.
  /// Success rate at which the level before begins again: [0, promote_at). None: never.
  std::optional<double> demote_at = std::nullopt;
};

/// How an episode went, and at which level it began.
using troupe::graded_episode;

/// At which level to practise: the next one as soon as enough of the last episodes succeeded
/// (Narvekar et al. 2020, https://arxiv.org/abs/2003.04960, section 4: the sequence is fixed, the
/// moments are learned). Plain logic, and as it is a role too:
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
/// For environments that begin episodes by themselves, see curriculum.hpp.
class curriculum_levels {
 public:
  /// Throws std::invalid_argument naming an option out of range.
  explicit curriculum_levels(curriculum_options options);

  std::size_t level() const { return level_; }
  /// An episode ended; returns the level of the next. Those that began at another level than the
  /// current one were under way when it changed, and don't count for it. Throws
  /// std::invalid_argument for a level that is not there.
  std::size_t ended(graded_episode episode);

  /// Of the last `window` episodes at this level; 0 before the first.
  double success_rate() const { return recent_.mean(); }
  /// The last level's success rate has reached promote_at once.
  bool mastered() const { return mastered_; }
  /// Graded episodes so far, of each level.
  std::vector<std::int64_t> episodes() const { return episodes_; }

  std::string save() const;
  /// Goes on from what `save` gave. Throws state_error if it had another number of levels.
  void restore(std::string bytes);

 private:
  void enter(std::size_t level);

  curriculum_options options_;
  std::size_t level_ = 0;
  std::int64_t episodes_here_ = 0;  ///< Since this level began the last time.
  recent_mean recent_;
  bool mastered_ = false;
  std::vector<std::int64_t> episodes_;
};

}  // namespace troupe::loops
