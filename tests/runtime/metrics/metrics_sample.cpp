// Prints a scrape of every kind of metric, fed with what could spoil it, for promtool to judge.

#include <cmath>
#include <cstdio>

#include "runtime/metrics/registry.hpp"

int main() {
  troupe::metrics_registry metrics;
  for (const char* env : {"CartPole-v1", "caf\xc3\xa9", "\xff\xfe", "quote\" slash\\ line\n", ""}) {
    const auto episodes =
        metrics.counter("troupe_episodes_total", "Episodes ended.", {{"env", env}});
    const auto length = metrics.histogram("troupe_episode_length_steps", "Steps of an episode.",
                                          {1, 10, 100}, {{"env", env}});
    const auto loss = metrics.gauge("troupe_train_loss", "Last loss.", {{"kind", env}});
    for (const double value : {1.0, 55.5, std::nan(""), HUGE_VAL, -HUGE_VAL, -1.0}) {
      episodes.increment(value);
      length.observe(value);
      loss.set(value);
    }
  }
  std::fputs(metrics.text().c_str(), stdout);
}
