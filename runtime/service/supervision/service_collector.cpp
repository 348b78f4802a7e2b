#include "runtime/service/supervision/service_collector.hpp"

#include <map>

namespace troupe::detail {

namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using labels = std::vector<ClientMetric::Label>;

/// The metric families of one scrape, in the order in which they are first named.
class scrape {
 public:
  void counter(const std::string& name, const std::string& help, labels on, double value) {
    add(name, help, MetricType::Counter, std::move(on)).counter.value = value;
  }
  void gauge(const std::string& name, const std::string& help, labels on, double value) {
    add(name, help, MetricType::Gauge, std::move(on)).gauge.value = value;
  }
  template <std::size_t N>
  void histogram(const std::string& name, const std::string& help, labels on,
                 const std::array<double, N>& bounds, const std::vector<const tally<N>*>& parts) {
    auto& to = add(name, help, MetricType::Histogram, std::move(on)).histogram;
    for (std::size_t i = 0; i <= N; ++i) {
      for (const auto* part : parts) to.sample_count += part->buckets[i].load();
      const double bound = i < N ? bounds[i] : std::numeric_limits<double>::infinity();
      to.bucket.push_back({to.sample_count, bound});
    }
    for (const auto* part : parts) to.sample_sum += part->sum.load();
  }

  std::vector<MetricFamily> families;

 private:
  ClientMetric& add(const std::string& name, const std::string& help, MetricType type, labels on) {
    const auto [place, fresh] = known_.emplace(name, families.size());
    if (fresh) families.push_back({name, help, type, {}});
    auto& metrics = families[place->second].metric;
    metrics.emplace_back();
    metrics.back().label = std::move(on);
    return metrics.back();
  }

  std::map<std::string, std::size_t> known_;
};

double number(const std::atomic<std::uint64_t>& count) {
  return static_cast<double>(count.load(std::memory_order_relaxed));
}

std::vector<MetricFamily> families_of(const service_state& service) {
  scrape to;
  const ClientMetric::Label name{"service", service.options.name};
  const auto counts = service.counts();
  const auto endpoints = service.endpoint_names();

  for (std::size_t row = 0; row < max_endpoints; ++row) {
    std::vector<const tally<duration_bounds.size()>*> durations, waits;
    double threw = 0;
    for (const auto& replica : counts) {
      const auto* counted = replica->endpoints[row].load(std::memory_order_acquire);
      if (!counted) continue;
      durations.push_back(&counted->duration);
      waits.push_back(&counted->queue_wait);
      threw += number(counted->threw);
    }
    if (durations.empty()) continue;
    const ClientMetric::Label route{"route", endpoints[row]};
    to.histogram("troupe_request_duration_seconds",
                 "Seconds from the sending of a call to its answer in the replica.", {name, route},
                 duration_bounds, durations);
    to.histogram("troupe_queue_wait_seconds",
                 "Seconds from the sending of a call to its start in the replica.", {name, route},
                 duration_bounds, waits);
    double answered = 0;
    for (const auto* d : durations) {
      for (const auto& bucket : d->buckets) answered += number(bucket);
    }
    const auto outcome = [&](const char* what, double value) {
      to.counter("troupe_requests_total", "Calls that a replica has answered.",
                 {name, route, {"outcome", what}}, value);
    };
    outcome("ok", answered - threw);
    outcome("error", threw);
  }

  static constexpr std::array<const char*, static_cast<std::size_t>(refusal::count_)> reasons = {
      "overloaded", "deadline", "cancelled", "lost", "down", "poison"};
  for (std::size_t i = 0; i < reasons.size(); ++i) {
    to.counter("troupe_requests_failed_total", "Calls that ended without an answer.",
               {name, {"reason", reasons[i]}}, number(service.refused[i]));
  }
  to.counter("troupe_replica_restarts_total", "Replicas that were restarted after a death.", {name},
             number(service.restarts));
  if (service.options.autoscale.max > 0) {
    const auto decided = [&](const char* direction, double value) {
      to.counter("troupe_autoscale_decisions_total",
                 "Changes of the number of replicas that the autoscaler has decided.",
                 {name, {"direction", direction}}, value);
    };
    decided("up", number(service.upscales));
    decided("down", number(service.downscales));
  }
  to.counter("troupe_replicas_abandoned_total",
             "Replicas that were abandoned because their endpoint or their start hung.", {name},
             number(service.abandoned));
  to.counter("troupe_requests_overran_total",
             "Coroutine calls that were cancelled after max_call_time.", {name},
             number(service.overran));
  to.counter("troupe_hedges_total", "Second attempts of hedged calls.", {name},
             number(service.hedges));
  to.counter("troupe_hedges_won_total", "Second attempts of hedged calls that were answered first.",
             {name}, number(service.hedges_won));
  to.counter("troupe_retries_total", "Idempotent calls that were sent again after a loss.", {name},
             number(service.retries));
  to.counter("troupe_requests_stalled_total",
             "Calls without a deadline that had no answer after 30 s.", {name},
             number(service.stalled));
  to.counter("troupe_service_cycles_total",
             "Cycles of full services waiting for each other that this service was part of.",
             {name}, number(service.in_cycles));

  double in_flight = 0;
  std::vector<const tally<batch_bounds.size()>*> batches;
  for (const auto& replica : counts) {
    in_flight += static_cast<double>(replica->in_flight());
    batches.push_back(&replica->batch_size);
  }
  to.gauge("troupe_requests_in_flight", "Calls that are sent and not answered.", {name}, in_flight);
  to.gauge("troupe_callers_waiting", "Callers that wait for room in a queue.", {name},
           static_cast<double>(service.waiting()));
  to.gauge("troupe_queue_limit", "The largest number of calls that one replica holds.", {name},
           static_cast<double>(service.options.max_queued));
  to.gauge("troupe_replicas_desired", "Replicas that should serve.", {name},
           static_cast<double>(service.desired.load()));
  to.gauge("troupe_replicas_ready", "Replicas that serve.", {name},
           static_cast<double>(service.ready()));
  to.gauge("troupe_replicas_in_long_turn", "Replicas that have been in one turn for 10 s.", {name},
           static_cast<double>(service.in_long_turns.load()));
  to.gauge("troupe_replicas_draining", "Replicas that are being removed and finish their calls.",
           {name}, static_cast<double>(service.draining()));
  to.histogram("troupe_batch_size", "Calls in one batch of a batched endpoint.", {name},
               batch_bounds, batches);
  return std::move(to.families);
}

}  // namespace

void service_collector::stop() {
  std::lock_guard lock(mutex_);
  stopped_ = true;
}

void service_collector::end(const service_state& service) {
  std::lock_guard lock(mutex_);
  last_ = families_of(service);
  service_.reset();  // The caller of `end` lives until it returns.
  ended_.notify_all();
}

std::vector<MetricFamily> service_collector::Collect() const {
  std::vector<MetricFamily> families;
  std::unique_lock lock(mutex_);
  if (auto service = service_.lock()) {
    lock.unlock();
    families = families_of(*service);
    service = nullptr;  // Dropped without the lock, because this may be the last holder.
    lock.lock();
  } else {
    ended_.wait(lock, [&] { return last_.has_value(); });  // The last counts are on their way.
    families = *last_;
  }
  if (stopped_) {
    std::erase_if(families, [](const auto& f) { return f.type == MetricType::Gauge; });
  }
  return families;
}

}  // namespace troupe::detail
