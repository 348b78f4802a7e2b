#include "actors/environments/metrics_observers.hpp"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>

#include "runtime/base/log.hpp"

namespace troupe {

namespace {

/// The last failure of each environment of this process.
class failure_notes {
 public:
  void note(const std::string& env, const std::string& message) {
    const std::lock_guard lock(mutex_);
    last_[env] = message;
  }
  std::string text_of(const std::string& env) const {
    const std::lock_guard lock(mutex_);
    const auto found = last_.find(env);
    return found == last_.end() ? "" : ": " + found->second;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::string> last_;
};

failure_notes& last_failures() {
  static failure_notes notes;
  return notes;
}

}  // namespace

std::string last_failure_text(const std::string& env) { return last_failures().text_of(env); }

namespace detail {

// The observers are structs and no lambdas, because structs can be sent to other processes, and
// have names, because these processes may execute other programs. The flag and the counter of an
// observer count only what happens in its own process.

struct steps_observer {
  training_metrics metrics;
  std::string id;
  std::shared_ptr<std::atomic_flag> begun = std::make_shared<std::atomic_flag>();

  auto wire_members() { return std::tie(metrics, id); }
  void operator()(std::int64_t steps) const {
    metrics.env_stepped(steps);
    if (begun->test() || begun->test_and_set()) return;
    log::debug("the first environment step was taken", {{"env", id}});
  }
};

struct episode_observer {
  training_metrics metrics;

  void operator()(double episode_return, std::int64_t length, bool truncated) const {
    metrics.episode_ended(episode_return, length, truncated);
  }
};

/// Counts every failure in the metric, and logs the first 20 and then every 1000th.
struct failure_observer {
  training_metrics metrics;
  std::string id;
  std::shared_ptr<std::atomic<std::int64_t>> failures =
      std::make_shared<std::atomic<std::int64_t>>(0);

  auto wire_members() { return std::tie(metrics, id); }
  void operator()(const env_failure& failure) const {
    metrics.env_failed(to_string(failure.reason));
    last_failures().note(id, failure.message);
    const auto count = ++*failures;
    if (count > 20 && count % 1000 != 0) return;
    log::warn("an episode was dropped", {{"env", id},
                                         {"environment", failure.index},
                                         {"reason", to_string(failure.reason)},
                                         {"failures", count},
                                         {"error", failure.message}});
  }
};

struct replacement_observer {
  training_metrics metrics;

  void operator()(const std::string& reason) const { metrics.env_process_replaced(reason); }
};

}  // namespace detail

env_observers observers_of(const training_metrics& metrics, const std::string& id) {
  return {.stepped = detail::steps_observer{metrics, id},
          .episode_ended = detail::episode_observer{metrics},
          .failed = detail::failure_observer{metrics, id},
          .process_replaced = detail::replacement_observer{metrics}};
}

}  // namespace troupe
