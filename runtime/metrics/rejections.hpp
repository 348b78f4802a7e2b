#pragma once
// Counts the values that the metrics registry refuses. Internal to runtime/metrics/.

#include <prometheus/counter.h>
#include <prometheus/family.h>

#include <array>

namespace troupe::detail {

enum class rejection {
  nonfinite,    ///< A value was NaN or infinite.
  negative,     ///< The amount for a counter was negative.
  label_value,  ///< A label value was not UTF-8 or too long; it became "other".
  name,         ///< A collector reported an invalid name, of a metric or of a label.
  kind,         ///< Two collectors reported one name as different kinds of metric.
  collector,    ///< A collector threw.
  memory,       ///< The counts of processes that have gone, or of services, take too much memory.
  count_
};

/// The counters troupe_metrics_rejected_total, one for each reason.
class metric_rejections {
 public:
  explicit metric_rejections(prometheus::Family<prometheus::Counter>& family) {
    static constexpr std::array names = {"nonfinite", "negative",  "label_value", "name",
                                         "kind",      "collector", "memory"};
    static_assert(names.size() == std::tuple_size_v<decltype(counts_)>);
    for (std::size_t i = 0; i < names.size(); ++i) counts_[i] = &family.Add({{"reason", names[i]}});
  }

  void count(rejection reason) { counts_[static_cast<std::size_t>(reason)]->Increment(); }

 private:
  std::array<prometheus::Counter*, static_cast<std::size_t>(rejection::count_)> counts_;
};

}  // namespace troupe::detail
