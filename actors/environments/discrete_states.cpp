#include "actors/environments/discrete_states.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace troupe {
namespace {

constexpr std::int64_t size_max = std::int64_t{1} << 31;

/// Appends the widths of the one-hot parts. Returns false if another part is among them.
bool append_widths(const space& observations, std::vector<std::int64_t>& to) {
  const auto append_each = [&](const auto& parts, auto&& space_of) {
    return std::ranges::all_of(parts,
                               [&](const auto& part) { return append_widths(space_of(part), to); });
  };
  if (const auto* one = observations.get_if<spaces::discrete>()) {
    to.push_back(one->n);
    return true;
  }
  if (const auto* many = observations.get_if<spaces::multi_discrete>()) {
    to.insert(to.end(), many->n.begin(), many->n.end());
    return true;
  }
  if (const auto* several = observations.get_if<spaces::tuple>())
    return append_each(several->parts, [](const space& part) -> const space& { return part; });
  if (const auto* named = observations.get_if<spaces::dict>())
    return append_each(named->parts, [](const auto& part) -> const space& { return part.second; });
  return false;
}

std::vector<std::int64_t> widths_of(const space& observations) {
  std::vector<std::int64_t> widths;
  return append_widths(observations, widths) ? widths : std::vector<std::int64_t>();
}

/// Returns the index of the only 1 among zeros. Throws std::invalid_argument for other numbers.
std::int64_t hot_place(std::span<const float> part) {
  const auto hot = std::find(part.begin(), part.end(), 1.0F);
  const auto zeros = std::count(part.begin(), part.end(), 0.0F);
  if (hot == part.end() || zeros + 1 != std::ssize(part))
    throw std::invalid_argument(fmt::format(
        "discrete states: expected one 1 and {} zeros for a part of the observation, got other "
        "numbers",
        part.size() - 1));
  return hot - part.begin();
}

}  // namespace

discrete_states::discrete_states(const space& observations) : widths_(widths_of(observations)) {
  if (widths_.empty())
    throw std::invalid_argument(
        "discrete states: expected a discrete or multi-discrete observation space, or a tuple or "
        "dict "
        "of them, got " +
        to_string(observations));
  for (const auto width : widths_) {
    if (width > size_max / size_)
      throw std::invalid_argument(
          fmt::format("discrete states: expected at most {} states, got more in {}", size_max,
                      to_string(observations)));
    size_ *= width;
  }
}

std::int64_t discrete_states::index(std::span<const float> obs) const {
  const auto expected = std::accumulate(widths_.begin(), widths_.end(), std::int64_t{0});
  if (std::ssize(obs) != expected)
    throw std::invalid_argument(fmt::format(
        "discrete states: expected an observation of {} floats, got {}", expected, obs.size()));
  std::int64_t index = 0;
  for (const auto width : widths_) {
    const auto part = obs.first(static_cast<std::size_t>(width));
    index = index * width + hot_place(part);
    obs = obs.subspan(part.size());
  }
  return index;
}

std::int64_t discrete_states::index(std::span<const std::int64_t> parts) const {
  if (parts.size() != widths_.size())
    throw std::invalid_argument(
        fmt::format("discrete states: expected {} parts, got {}", widths_.size(), parts.size()));
  std::int64_t index = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i] < 0 || parts[i] >= widths_[i])
      throw std::invalid_argument(fmt::format("discrete states: part {}: expected 0 to {}, got {}",
                                              i, widths_[i] - 1, parts[i]));
    index = index * widths_[i] + parts[i];
  }
  return index;
}

}  // namespace troupe
