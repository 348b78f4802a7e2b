#pragma once
// The metrics of updates for progress.csv, and their means over gradient steps.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "actors/metrics/training_metrics.hpp"
#include "runtime/wire/codec.hpp"

namespace troupe {

/// A number of one gradient step with its name in progress.csv, such as "train/loss". The name is
/// never destroyed, so that a step need not copy it.
struct named_number {
  const char* name = "";  ///< A literal, or what `kept_name` has returned.
  double value = 0.0;
};

/// Returns a copy of a name that is kept until the process ends; equal names have one copy.
const char* kept_name(std::string_view name);

template <>
struct wire_codec<named_number> {
  static constexpr std::size_t bytes_min = sizeof(double);
  static std::size_t size(const named_number& n) {
    return wire_size(std::string(n.name)) + sizeof(n.value);
  }
  static void write(const named_number& n, wire_writer& to) {
    to.write(std::string(n.name));
    to.write(n.value);
  }
  static named_number read(wire_reader& from) {
    const auto* name = kept_name(from.read<std::string>());
    return {name, from.read<double>()};
  }
};

/// The numbers as columns of progress.csv.
std::map<std::string, double> columns_of(std::span<const named_number> numbers);

/// The numbers that the metrics of a run show. The loss is that of the critics if there is none of
/// the whole rule, because an actor's loss does not measure how well it learns.
update_figures figures_of(std::span<const named_number> numbers);

/// Means of named numbers over gradient steps. Learners report them to progress.csv.
class metric_means {
 public:
  void add(std::span<const named_number> of_step);
  /// The mean of each number over the steps that had it. TD3's actor loss, for example, is averaged
  /// over the steps that trained the actor.
  std::vector<named_number> means() const;
  void clear() { sums_.clear(); }

  auto wire_members() { return std::tie(sums_); }

 private:
  struct sum {
    named_number total;
    std::int64_t count = 0;
  };
  std::vector<sum> sums_;
};

}  // namespace troupe
