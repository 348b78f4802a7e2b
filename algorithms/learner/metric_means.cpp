#include "algorithms/learner/metric_means.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <mutex>
#include <optional>
#include <set>

namespace troupe {

const char* kept_name(std::string_view name) {
  static std::mutex guard;
  static std::set<std::string, std::less<>> kept;
  const std::lock_guard lock(guard);
  const auto found = kept.find(name);
  return (found != kept.end() ? found : kept.emplace(name).first)->c_str();
}

std::map<std::string, double> columns_of(std::span<const named_number> numbers) {
  std::map<std::string, double> columns;
  for (const auto& [name, value] : numbers) columns.emplace(name, value);
  return columns;
}

update_figures figures_of(std::span<const named_number> numbers) {
  const auto columns = columns_of(numbers);
  const auto first_of = [&](std::initializer_list<const char*> names) -> std::optional<double> {
    for (const auto* name : names) {
      const auto found = columns.find(name);
      if (found != columns.end()) return found->second;
    }
    return std::nullopt;
  };
  update_figures figures{.loss = first_of({"train/loss", "train/critic_loss", "train/td_error"}),
                         .kl = first_of({"train/approx_kl"}),
                         .entropy = first_of({"train/entropy"}),
                         .grad_norm = first_of({"train/grad_norm"}),
                         .clip_ratio = {},
                         .lr = first_of({"train/learning_rate"})};
  if (const auto loss = first_of({"train/entropy_loss"})) figures.entropy = -*loss;
  const auto range = first_of({"train/clip_range"});
  if (range && std::isfinite(*range)) figures.clip_ratio = first_of({"train/clip_fraction"});
  return figures;
}

void metric_means::add(std::span<const named_number> of_step) {
  for (const auto& [name, value] : of_step) {
    auto found = std::ranges::find_if(
        sums_, [name](const sum& one) { return std::string_view(one.total.name) == name; });
    if (found == sums_.end()) found = sums_.insert(found, sum{{name}});
    found->total.value += value;
    ++found->count;
  }
}

std::vector<named_number> metric_means::means() const {
  std::vector<named_number> means;
  for (const auto& [total, count] : sums_) {
    means.push_back({total.name, total.value / static_cast<double>(count)});
  }
  return means;
}

}  // namespace troupe
