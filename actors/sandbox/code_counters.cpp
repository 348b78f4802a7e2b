#include "actors/sandbox/code_counters.hpp"

namespace troupe {

code_counters::code_counters(metrics_registry* metrics) {
  if (metrics == nullptr) return;
  const auto counter = [&](std::string_view end) {
    return metrics->counter("troupe_code_runs_total",
                            "Programs of a model's that were run, by how they ended.",
                            {{"end", std::string(end)}});
  };
  ends_[0] = counter("exited");
  for (std::size_t i = 1; i < signalled; ++i)
    ends_[i] = counter(name_of(static_cast<code_limit>(i)));
  ends_[signalled] = counter("signalled");
}

void code_counters::count(const code_result& result) {
  const bool is_signalled = result.limit == code_limit::none && result.signal != 0;
  ends_[is_signalled ? signalled : static_cast<std::size_t>(result.limit)].increment();
}

}  // namespace troupe
