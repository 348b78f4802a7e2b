#include "runtime/cluster/refusals.hpp"

#include <utility>

#include "runtime/base/log.hpp"

namespace troupe::detail {

namespace {

constexpr std::chrono::seconds log_every(10);

}  // namespace

refusals::refusals(metrics_registry* counted_in) {
  for (const auto* reason : refusal_reasons) {
    auto& kind = kinds_[reason];
    if (!counted_in) continue;
    kind.counter =
        counted_in->counter("troupe_refused_peers_total",
                            "Connections and peers that were not admitted.", {{"reason", reason}});
  }
}

void refusals::add(const join_refusal& why) {
  const auto now = std::chrono::steady_clock::now();
  std::size_t unsaid = 0;
  {
    const std::lock_guard held(mutex_);
    auto& kind = kinds_[why.reason];
    kind.counter.increment();
    const bool first = kind.logged == decltype(kind.logged){};
    if (!first && now - kind.logged < log_every) {
      ++kind.unsaid;
      return;
    }
    kind.logged = now;
    unsaid = std::exchange(kind.unsaid, 0);
  }
  log::warn("a peer was refused",
            {{"reason", why.reason}, {"why", why.text}, {"unlogged", unsaid}});
}

}  // namespace troupe::detail
