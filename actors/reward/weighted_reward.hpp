#pragma once
// The reward of text samples: a role that adds up weighted reward functions.

#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/error.hpp"
#include "runtime/metrics/registry.hpp"
#include "runtime/wire/portable_function.hpp"

namespace troupe {

/// One named part of a reward. Sample is the type that is judged, such as a completion with its
/// question, or an episode.
template <class Sample>
struct reward_function {
  std::string name;  ///< The name in errors and metrics, at most 64 bytes.
  portable_function<double(const Sample&)> value;
  double weight = 1;  ///< A finite weight; 0 means that the value is only measured.
};

/// The maximal number of functions in one reward. Each is a label in the metrics.
inline constexpr std::size_t reward_functions_max = 32;

/// The largest size of a reward: sums and squares of many such numbers are finite.
inline constexpr double reward_size_max = 1e30;

struct reward_result {
  double total = 0;            ///< The sum of weight times value.
  std::vector<double> values;  ///< The unweighted value of each function, in the order of `names`.
};

/// Thrown if a function of a reward throws, or if its value is not finite or larger than
/// reward_size_max. The message names the function.
class reward_error : public std::runtime_error {
 public:
  reward_error(std::string name, const std::string& message)
      : std::runtime_error("reward \"" + name + "\": " + message), name_(std::move(name)) {}
  const std::string& name() const { return name_; }

 private:
  std::string name_;
};

namespace detail {

/// True for a finite number of at most reward_size_max.
bool is_reward(double value);
/// Throws reward_error unless is_reward. `kind` is "number" or "sum".
void require_reward(const std::string& name, double value, const char* kind);

/// The metrics of a reward: troupe_reward_value{reward} and troupe_reward_failures_total{reward}
/// for each function, and troupe_reward for the weighted sum.
class reward_meter {
 public:
  /// Without a registry nothing is counted. Throws std::invalid_argument for names that are
  /// missing, given twice, longer than 64 bytes or too many.
  reward_meter(metrics_registry* registry, std::vector<std::string> names);

  const std::vector<std::string>& names() const { return names_; }
  void evaluated(std::size_t which, double value) const { values_[which].observe(value); }
  void failed(std::size_t which) const { failures_[which].increment(); }
  void summed(double total) const { total_.observe(total); }

 private:
  std::vector<std::string> names_;
  std::vector<metric_histogram> values_;
  std::vector<metric_counter> failures_;
  metric_histogram total_;
};

}  // namespace detail

/// The role that computes rewards: it weights and adds up several functions, and measures each of
/// them separately.
///
///   const std::vector<reward_function<completion>> functions{
///       {"right", [](const completion& c) { return exact_match(c.text, c.expected); }},
///       {"format", [](const completion& c) { return tag_format(c.text, {"answer"}); }, 0.1}};
///   auto rewards = co_await sys.serve<weighted_reward<completion>>({.name = "reward"}, functions,
///                                                                  &sys.metrics());
template <class Sample>
class weighted_reward {
 public:
  /// Throws std::invalid_argument if there are no functions or more than reward_functions_max, if a
  /// function is empty, if a name is empty, longer than 64 bytes or given twice, and if a weight is
  /// not finite.
  explicit weighted_reward(std::vector<reward_function<Sample>> functions,
                           metrics_registry* metrics = nullptr)
      : functions_(std::move(functions)), meter_(metrics, names_of(functions_)) {
    for (const auto& f : functions_) {
      if (!f.value) throw std::invalid_argument("reward \"" + f.name + "\": expected a function");
      if (!std::isfinite(f.weight))
        throw std::invalid_argument("reward \"" + f.name + "\": expected a finite weight, got " +
                                    std::to_string(f.weight));
    }
  }

  /// Evaluates all functions. Throws reward_error naming the first function that throws or whose
  /// value is no finite number of at most reward_size_max.
  reward_result evaluate(Sample sample) {
    reward_result result;
    for (std::size_t i = 0; i < functions_.size(); ++i) {
      result.values.push_back(value_of(i, sample));
      result.total += functions_[i].weight * result.values.back();
    }
    detail::require_reward("total", result.total, "sum");
    meter_.summed(result.total);
    return result;
  }

  /// The names of the functions, in the order in which they are evaluated.
  std::vector<std::string> names() const { return meter_.names(); }

 private:
  static std::vector<std::string> names_of(const std::vector<reward_function<Sample>>& functions) {
    std::vector<std::string> names;
    for (const auto& f : functions) names.push_back(f.name);
    return names;
  }

  double value_of(std::size_t which, const Sample& sample) {
    const auto& function = functions_[which];
    double value = 0;
    try {
      value = function.value(sample);
    } catch (const fatal&) {
      throw;
    } catch (...) {
      meter_.failed(which);
      throw reward_error(function.name, describe(std::current_exception()));
    }
    if (!detail::is_reward(value)) meter_.failed(which);
    detail::require_reward(function.name, value, "number");
    meter_.evaluated(which, value);
    return value;
  }

  std::vector<reward_function<Sample>> functions_;
  detail::reward_meter meter_;
};

}  // namespace troupe
