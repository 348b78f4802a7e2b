#include "actors/recorder/episode_history.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace troupe {

void episode_history::add(double step, double episode_return, double length,
                          std::map<std::string, double> info) {
  last_.push_back({episode_return, length, std::move(info)});
  if (last_.size() > window_) last_.erase(last_.begin());
  if (count_++ % stride_ != 0) return;
  episodes_.push_back({step, episode_return});
  means_.push_back({step, mean_return()});
  if (episodes_.size() > points_max_) drop_every_second();
}

std::optional<double> episode_history::only_return() const {
  if (last_.empty() || count_ != static_cast<std::int64_t>(window_)) return std::nullopt;
  const auto first = last_.front().episode_return;
  const bool is_only = std::ranges::all_of(
      last_, [first](const entry& each) { return each.episode_return == first; });
  return is_only ? std::optional(first) : std::nullopt;
}

// The sum is computed anew each time, because a running sum would keep the rounding error, or the
// NaN, of an episode that has left the window.
double episode_history::mean(double entry::* field) const {
  if (last_.empty()) return std::numeric_limits<double>::quiet_NaN();
  double sum = 0;
  for (const auto& episode : last_) sum += episode.*field;
  return sum / static_cast<double>(last_.size());
}

double episode_history::mean_return() const { return mean(&entry::episode_return); }

double episode_history::mean_length() const { return mean(&entry::length); }

std::map<std::string, double> episode_history::mean_info() const {
  std::map<std::string, std::pair<double, double>> sums;  // the sum and the number of episodes
  for (const auto& episode : last_) {
    for (const auto& [name, value] : episode.info) {
      auto& [sum, count] = sums[name];
      sum += value;
      ++count;
    }
  }
  std::map<std::string, double> means;
  for (const auto& [name, of] : sums) means[name] = of.first / of.second;
  return means;
}

void episode_history::drop_every_second() {
  const auto kept = (episodes_.size() + 1) / 2;
  for (std::size_t i = 0; i < kept; ++i) {
    episodes_[i] = episodes_[2 * i];
    means_[i] = means_[2 * i];
  }
  episodes_.resize(kept);
  means_.resize(kept);
  stride_ *= 2;
}

}  // namespace troupe
