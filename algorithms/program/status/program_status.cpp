#include "algorithms/program/status/program_status.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace troupe::command {

namespace {

/// The largest number of services, and of processes, whose status is computed: a program may claim
/// any number of them.
constexpr std::size_t shown_max = 1000;

/// A process, by the labels of its samples, and a service in it. An empty service means all.
struct place {
  std::string node, process, service;
  auto operator<=>(const place&) const = default;
};

/// Sums of samples. A place limits a sum to one process or service.
class reading {
 public:
  explicit reading(const scrape& of) : samples_(of.samples) {}

  std::optional<double> sum(const std::string& name, const place* of = nullptr,
                            const std::string& label = "", const std::string& value = "") const {
    std::optional<double> total;
    for (const auto& s : samples_) {
      if (s.name != name || !belongs(s, of) || (!label.empty() && s.label(label) != value))
        continue;
      total = total.value_or(0) + s.value;
    }
    return total;
  }

  std::optional<double> largest(const std::string& name) const {
    std::optional<double> found;
    for (const auto& s : samples_) {
      if (s.name == name) found = std::max(found.value_or(s.value), s.value);
    }
    return found;
  }

  /// Cumulative counts by upper bound, over all series.
  std::map<double, double> buckets(const std::string& name, const place& of) const {
    std::map<double, double> all;
    for (const auto& s : samples_) {
      if (s.name != name + "_bucket" || !belongs(s, &of)) continue;
      const auto& bound = s.label("le");
      all[bound == "+Inf" ? std::numeric_limits<double>::infinity()
                          : std::strtod(bound.c_str(), nullptr)] += s.value;
    }
    return all;
  }

  /// The services of the program itself.
  std::set<place> services() const {
    auto all = places_of("troupe_replicas_desired");
    std::erase_if(all, [](const place& at) { return !at.node.empty() || !at.process.empty(); });
    return all;
  }

  /// The processes other than the program's own.
  std::set<place> processes() const {
    auto all = places_of("process_cpu_seconds_total");
    all.erase(place());
    return all;
  }

 private:
  std::set<place> places_of(const std::string& name) const {
    std::set<place> all;
    for (const auto& s : samples_) {
      if (s.name == name) all.insert({s.label("node"), s.label("process"), s.label("service")});
    }
    return all;
  }
  static bool belongs(const metric_sample& s, const place* of) {
    return !of || (s.label("node") == of->node && s.label("process") == of->process &&
                   (of->service.empty() || s.label("service") == of->service));
  }
  const std::vector<metric_sample>& samples_;
};

class comparison {
 public:
  comparison(const scrape& now, const scrape* before) : now_(now) {
    if (!before || before->at_s >= now.at_s) return;
    before_.emplace(*before);
    seconds_ = now.at_s - before->at_s;
  }

  const reading& now() const { return now_; }

  /// A counter's rate per second. None if there is no earlier scrape, or if a restart has reset the
  /// counter.
  std::optional<double> rate(const std::string& counter, const place* of = nullptr) const {
    const auto after = now_.sum(counter, of);
    if (!before_ || !after) return std::nullopt;
    const double more = *after - before_->sum(counter, of).value_or(0);
    return more < 0 ? std::nullopt : std::optional(more / seconds_);
  }

  std::optional<double> quantile_of(double q, const std::string& histogram, const place& of) const {
    const auto all = now_.buckets(histogram, of);
    std::vector<std::pair<double, double>> recent(all.begin(), all.end());
    if (before_) {
      const auto old = before_->buckets(histogram, of);
      for (auto& [bound, count] : recent) {
        const auto known = old.find(bound);
        if (known != old.end()) count -= known->second;
      }
      if (const auto found = quantile(q, recent)) return found;
    }
    return quantile(q, {all.begin(), all.end()});
  }

  /// The mean of a histogram or summary.
  std::optional<double> mean(const std::string& name) const {
    const auto count = now_.sum(name + "_count").value_or(0);
    const auto sum = now_.sum(name + "_sum").value_or(0);
    if (before_) {
      const auto more = count - before_->sum(name + "_count").value_or(0);
      if (more > 0) return (sum - before_->sum(name + "_sum").value_or(0)) / more;
    }
    return count > 0 ? std::optional(sum / count) : std::nullopt;
  }

 private:
  const reading now_;
  std::optional<reading> before_;
  double seconds_ = 0;
};

std::string state_of(const service_status& s) {
  if (s.ready >= s.desired) return "ready";
  return s.ready > 0 ? "degraded" : "down";
}

service_status status_of(const comparison& seen, const place& at) {
  const auto value = [&](const char* name) { return seen.now().sum(name, &at).value_or(0); };
  service_status s;
  s.service = at.service;
  s.ready = value("troupe_replicas_ready");
  s.desired = value("troupe_replicas_desired");
  s.draining = value("troupe_replicas_draining");
  s.in_long_turn = value("troupe_replicas_in_long_turn");
  s.state = state_of(s);
  s.in_flight = value("troupe_requests_in_flight");
  s.waiting = value("troupe_callers_waiting");
  s.calls_per_s = seen.rate("troupe_requests_total", &at);
  s.p50_s = seen.quantile_of(0.5, "troupe_request_duration_seconds", at);
  s.p99_s = seen.quantile_of(0.99, "troupe_request_duration_seconds", at);
  s.queue_wait_p99_s = seen.quantile_of(0.99, "troupe_queue_wait_seconds", at);
  s.failed = value("troupe_requests_failed_total") +
             seen.now().sum("troupe_requests_total", &at, "outcome", "error").value_or(0);
  s.restarts = value("troupe_replica_restarts_total");
  return s;
}

process_status process_of(const comparison& seen, const place& at) {
  return {.node = at.node,
          .process = at.process,
          .replicas = seen.now().sum("troupe_hosted_replicas", &at).value_or(0),
          .calls_per_s = seen.rate("troupe_hosted_calls_total", &at),
          .env_steps_per_s = seen.rate("troupe_env_steps_total", &at),
          .cores = seen.rate("process_cpu_seconds_total", &at),
          .memory_bytes = seen.now().sum("process_resident_memory_bytes", &at)};
}

/// Returns the first places, and adds the number of the others to `left_out`.
std::vector<place> first_of(const std::set<place>& all, std::size_t& left_out) {
  const auto shown = std::min(all.size(), shown_max);
  left_out += all.size() - shown;
  return {all.begin(), std::next(all.begin(), static_cast<std::ptrdiff_t>(shown))};
}

learning_status learning_of(const comparison& seen) {
  const auto& now = seen.now();
  return {.env_steps = now.sum("troupe_env_steps_total"),
          .env_steps_per_s = seen.rate("troupe_env_steps_total"),
          .episodes = now.sum("troupe_episodes_total"),
          .episode_return = seen.mean("troupe_episode_return"),
          .episode_length = seen.mean("troupe_episode_length_steps"),
          .policy_version = now.largest("troupe_policy_version"),
          .staleness = seen.mean("troupe_policy_staleness_versions"),
          .train_steps = now.sum("troupe_train_steps_total"),
          .train_steps_per_s = seen.rate("troupe_train_steps_total"),
          .loss = now.sum("troupe_train_loss"),
          .replay_items = now.sum("troupe_replay_items")};
}

}  // namespace

std::optional<double> quantile(double q, const std::vector<std::pair<double, double>>& buckets) {
  if (buckets.empty() || !(buckets.back().second > 0)) return std::nullopt;
  const double rank = q * buckets.back().second;
  double lower = 0, below = 0;
  for (const auto& [bound, count] : buckets) {
    if (count >= rank && count > below) {
      if (std::isinf(bound)) return lower;  // It is only known that the value is larger.
      return lower + (bound - lower) * (rank - below) / (count - below);
    }
    if (!std::isinf(bound)) lower = bound;
    below = count;
  }
  return lower;
}

program_status status_of(const scrape& now, const scrape* before) {
  program_status status;
  const auto build =
      std::ranges::find(now.samples, "troupe_build_info", [](const auto& s) { return s.name; });
  if (build == now.samples.end()) {
    throw std::invalid_argument(
        "expected a Troupe program's metrics, got others (no troupe_build_info)");
  }
  status.version = build->label("version");
  const comparison seen(now, before);
  for (const auto& at : first_of(seen.now().services(), status.left_out))
    status.services.push_back(status_of(seen, at));
  for (const auto& at : first_of(seen.now().processes(), status.left_out))
    status.processes.push_back(process_of(seen, at));
  status.learning = learning_of(seen);
  return status;
}

}  // namespace troupe::command
