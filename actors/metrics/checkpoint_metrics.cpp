#include "actors/metrics/checkpoint_metrics.hpp"

#include <chrono>

namespace troupe {

checkpoint_metrics::checkpoint_metrics(metrics_registry& r) {
  const auto outcome = [&](const char* which) {
    return r.counter("troupe_checkpoints_total", "Checkpoints written or refused, by outcome.",
                     {{"outcome", which}});
  };
  ok_ = outcome("ok");
  write_error_ = outcome("write_error");
  refused_ = outcome("refused");
  last_success_ = r.gauge("troupe_checkpoint_last_success_timestamp_seconds",
                          "Time of the last checkpoint in seconds since 1970; 0 means none yet.");
  step_ = r.gauge("troupe_checkpoint_step", "Environment steps of the last checkpoint.");
  bytes_ = r.gauge("troupe_checkpoint_bytes", "Size of the last checkpoint in bytes.");
  duration_ = r.histogram("troupe_checkpoint_duration_seconds",
                          "Time to write a checkpoint to disk, in seconds.",
                          {.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 60, 300});
}

void checkpoint_metrics::written(std::int64_t step, std::size_t bytes, double seconds) const {
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  ok_.increment();
  last_success_.set(now.count());
  step_.set(static_cast<double>(step));
  bytes_.set(static_cast<double>(bytes));
  duration_.observe(seconds);
}

void checkpoint_metrics::not_written() const { write_error_.increment(); }

void checkpoint_metrics::refused() const { refused_.increment(); }

}  // namespace troupe
