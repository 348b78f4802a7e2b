#include "runtime/metrics/registry.hpp"

#include <prometheus/metric_family.h>

#include <limits>

#include "tests/runtime/metrics/text.hpp"
#include "tests/test.hpp"

using namespace troupe;
using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

namespace {

constexpr auto not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr auto infinity = std::numeric_limits<double>::infinity();

/// Reports what it is given.
struct fixed_collector : prometheus::Collectable {
  explicit fixed_collector(std::vector<MetricFamily> families) : families(std::move(families)) {}
  std::vector<MetricFamily> Collect() const override { return families; }
  std::vector<MetricFamily> families;
};

MetricFamily family(const std::string& name, MetricType type, double value,
                    const std::string& label = "a") {
  ClientMetric metric;
  metric.label = {{"service", label}};
  metric.counter.value = metric.gauge.value = value;
  return {name, "Help.", type, {metric}};
}

std::string rejected(const std::string& reason) {
  return "troupe_metrics_rejected_total{reason=\"" + reason + "\"}";
}

}  // namespace

TEST_CASE("metrics: a metric that was never touched is exported as 0") {
  metrics_registry metrics;
  metrics.counter("troupe_things_total", "Things.", {{"kind", "big"}});
  metrics.gauge("troupe_level", "Level.");
  metrics.histogram("troupe_wait_seconds", "Wait.", {0.1, 1});
  const auto text = metrics.text();
  CHECK(series(text, "troupe_things_total{kind=\"big\"}") == 0);
  CHECK(series(text, "troupe_level") == 0);
  CHECK(series(text, "troupe_wait_seconds_bucket{le=\"+Inf\"}") == 0);
  CHECK(series(text, rejected("nonfinite")) == 0);
}

TEST_CASE("metrics: handles count, and a handle asked for again is the same metric") {
  metrics_registry metrics;
  const auto things = metrics.counter("troupe_things_total", "Things.");
  things.increment();
  metrics.counter("troupe_things_total", "Things.").increment(2);
  const auto level = metrics.gauge("troupe_level", "Level.");
  level.set(5);
  level.increment(-2);
  const auto wait = metrics.histogram("troupe_wait_seconds", "Wait.", {0.1, 1});
  wait.observe(0.05);
  wait.observe(0.5);
  wait.observe(5);

  const auto text = metrics.text();
  CHECK(things.value() == 3);
  CHECK(series(text, "troupe_things_total") == 3);
  CHECK(series(text, "troupe_level") == 3);
  CHECK(series(text, "troupe_wait_seconds_bucket{le=\"0.1\"}") == 1);
  CHECK(series(text, "troupe_wait_seconds_bucket{le=\"1\"}") == 2);
  CHECK(series(text, "troupe_wait_seconds_bucket{le=\"+Inf\"}") == 3);
  CHECK(series(text, "troupe_wait_seconds_sum") == Approx(5.55));
}

TEST_CASE("metrics: a default constructed handle does nothing") {
  metric_counter().increment();
  metric_gauge().set(1);
  metric_histogram().observe(1);
  CHECK(metric_counter().value() == 0);
}

TEST_CASE("metrics: non-finite values are refused and counted, the last finite one stands") {
  metrics_registry metrics;
  const auto things = metrics.counter("troupe_things_total", "Things.");
  const auto level = metrics.gauge("troupe_level", "Level.");
  const auto wait = metrics.histogram("troupe_wait_seconds", "Wait.", {1});
  level.set(4);
  wait.observe(0.5);
  for (const double bad : {not_a_number, infinity, -infinity}) {
    things.increment(bad);
    level.set(bad);
    level.increment(bad);
    wait.observe(bad);
  }
  const auto text = metrics.text();
  CHECK(series(text, "troupe_things_total") == 0);
  CHECK(series(text, "troupe_level") == 4);
  CHECK(series(text, "troupe_wait_seconds_sum") == 0.5);
  CHECK(series(text, "troupe_wait_seconds_count") == 1);
  CHECK(series(text, rejected("nonfinite")) == 12);
}

TEST_CASE("metrics: a counter does not shrink") {
  metrics_registry metrics;
  const auto things = metrics.counter("troupe_things_total", "Things.");
  things.increment(3);
  things.increment(-1);
  CHECK(things.value() == 3);
  CHECK(series(metrics.text(), rejected("negative")) == 1);
}

TEST_CASE("metrics: label values that are not UTF-8 or too long become other") {
  const std::string bad = GENERATE(as<std::string>(), "\xff", "caf\xc3", "\xc0\xaf", "\xed\xa0\x80",
                                   "\xf4\x90\x80\x80", std::string(65, 'a'));
  metrics_registry metrics;
  metrics.counter("troupe_things_total", "Things.", {{"env", bad}}).increment();
  const auto text = metrics.text();
  CHECK(series(text, "troupe_things_total{env=\"other\"}") == 1);
  CHECK(series(text, rejected("label_value")) == 1);
}

TEST_CASE("metrics: label values that only look odd are kept and escaped") {
  const auto [value, written] = GENERATE(table<std::string, std::string>({
      {"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"},
      {"a\"b\\c\nd", "a\\\"b\\\\c\\nd"},
      {std::string(64, 'a'), std::string(64, 'a')},
  }));
  metrics_registry metrics;
  metrics.counter("troupe_things_total", "Things.", {{"env", value}}).increment();
  CHECK(series(metrics.text(), "troupe_things_total{env=\"" + written + "\"}") == 1);
}

TEST_CASE("metrics: names that Prometheus or its conventions refuse are refused") {
  metrics_registry metrics;
  CHECK_THROWS_WITH(metrics.counter("2things_total", "Things."),
                    holds("2things_total") && holds("begins with no digit"));
  CHECK_THROWS_AS(metrics.counter("troupe_things", "Things."), std::invalid_argument);
  CHECK_THROWS_AS(metrics.gauge("troupe_things_total", "Things."), std::invalid_argument);
  CHECK_THROWS_AS(metrics.gauge("troupe_bad-name", "Things."), std::invalid_argument);
  CHECK_THROWS_AS(metrics.gauge("troupe_level", ""), std::invalid_argument);
  CHECK_THROWS_AS(metrics.gauge("troupe_level", "two\nlines 1"), std::invalid_argument);
  CHECK_THROWS_AS(metrics.gauge("troupe_level", "Level.", {{"bad-label", "a"}}),
                  std::invalid_argument);
  CHECK_THROWS_AS(metrics.gauge("troupe_level", "Level.", {{"le", "a"}}), std::invalid_argument);
  metrics.gauge("troupe_level", "Level.");
  CHECK_THROWS_WITH(metrics.histogram("troupe_level", "Level.", {1}), holds("troupe_level"));
}

TEST_CASE("metrics: a program's own names begin with what it likes") {
  metrics_registry metrics;
  metrics.counter("warehouse_parcels_total", "Parcels.").increment(3);
  metrics.gauge("warehouse:level", "Level.").set(2);
  metrics.add(
      std::make_shared<fixed_collector>(std::vector{family("other_name", MetricType::Gauge, 1)}));
  const auto text = metrics.text();
  CHECK(series(text, "warehouse_parcels_total") == 3);
  CHECK(series(text, "warehouse:level") == 2);
  CHECK(series(text, "other_name{service=\"a\"}") == 1);
  CHECK(series(text, rejected("name")) == 0);
}

TEST_CASE("metrics: histogram bounds must be finite and increase") {
  metrics_registry metrics;
  const auto bounds = GENERATE(as<std::vector<double>>(), std::vector<double>{},
                               std::vector<double>{1, 1}, std::vector<double>{2, 1},
                               std::vector<double>{1, infinity}, std::vector<double>{not_a_number});
  CHECK_THROWS_AS(metrics.histogram("troupe_wait_seconds", "Wait.", bounds), std::invalid_argument);
}

TEST_CASE("metrics: families of one name are merged, counters of one series add up") {
  metrics_registry metrics;
  metrics.add(std::make_shared<fixed_collector>(
      std::vector{family("troupe_calls_total", MetricType::Counter, 2, "a"),
                  family("troupe_busy", MetricType::Gauge, 2, "a")}));
  metrics.add(std::make_shared<fixed_collector>(
      std::vector{family("troupe_calls_total", MetricType::Counter, 3, "a"),
                  family("troupe_calls_total", MetricType::Counter, 7, "b"),
                  family("troupe_busy", MetricType::Gauge, 1, "a")}));
  const auto text = metrics.text();
  CHECK(occurrences(text, "# TYPE troupe_calls_total counter") == 1);
  CHECK(series(text, "troupe_calls_total{service=\"a\"}") == 5);
  CHECK(series(text, "troupe_calls_total{service=\"b\"}") == 7);
  CHECK(series(text, "troupe_busy{service=\"a\"}") == 1);
}

TEST_CASE("metrics: what a collector reports wrongly is left out of the scrape and counted") {
  struct throwing : prometheus::Collectable {
    std::vector<MetricFamily> Collect() const override { throw std::runtime_error("broken"); }
  };
  metrics_registry metrics;
  metrics.add(std::make_shared<throwing>());
  auto with_bad_help = family("troupe_help", MetricType::Gauge, 1);
  with_bad_help.help = "two\nlines";
  metrics.add(std::make_shared<fixed_collector>(std::vector{
      family("troupe_nan", MetricType::Gauge, not_a_number),
      family("bad-name", MetricType::Gauge, 1), family("troupe_mixed", MetricType::Gauge, 1),
      family("troupe_mixed", MetricType::Counter, 1),
      family("troupe_bad_label", MetricType::Gauge, 1, "\xff"), with_bad_help,
      family("troupe_good", MetricType::Gauge, 1)}));
  const auto text = metrics.text();
  CHECK(series(text, "troupe_good{service=\"a\"}") == 1);
  CHECK(series(text, "troupe_mixed{service=\"a\"}") == 1);
  CHECK(series(text, "troupe_bad_label{service=\"other\"}") == 1);
  CHECK(occurrences(text, "troupe_nan") == 0);
  CHECK(occurrences(text, "bad-name") == 0);
  CHECK(occurrences(text, "# HELP troupe_help two lines\n") == 1);
  for (const char* reason : {"nonfinite", "name", "kind", "label_value", "collector"}) {
    CAPTURE(reason);
    CHECK(series(text, rejected(reason)) == 1);
  }
}

TEST_CASE("metrics: a watched collector is forgotten when its owner lets go") {
  metrics_registry metrics;
  auto collector = std::make_shared<fixed_collector>(
      std::vector{family("troupe_calls_total", MetricType::Counter, 2)});
  metrics.watch(collector);
  CHECK(occurrences(metrics.text(), "troupe_calls_total") > 0);
  collector.reset();
  CHECK(occurrences(metrics.text(), "troupe_calls_total") == 0);
}

TEST_CASE("metrics: what a watched collector counted is in each scrape once when it is retired") {
  metrics_registry metrics;
  const auto collector = std::make_shared<fixed_collector>(
      std::vector{family("troupe_calls_total", MetricType::Counter, 2)});
  metrics.watch(collector);
  metrics.retire(collector);  // Its owner keeps it.
  CHECK(series(metrics.text(), "troupe_calls_total{service=\"a\"}") == 2);
}

TEST_CASE("metrics: what a retired collector counted stays, its gauges go") {
  metrics_registry metrics;
  for (int i = 0; i < 3; ++i) {
    const auto collector = std::make_shared<fixed_collector>(
        std::vector{family("troupe_calls_total", MetricType::Counter, 2),
                    family("troupe_calls_in_flight", MetricType::Gauge, 1)});
    metrics.add(collector);
    CHECK(series(metrics.text(), "troupe_calls_total{service=\"a\"}") == 2 * (i + 1));
    metrics.retire(collector);
    CHECK(collector.use_count() == 1);
  }
  const auto text = metrics.text();
  CHECK(series(text, "troupe_calls_total{service=\"a\"}") == 6);
  CHECK(occurrences(text, "troupe_calls_in_flight") == 0);
}

TEST_CASE("metrics: what retired collectors leave has a bound, and the rest is counted") {
  metrics_registry metrics;
  const auto retire = [&](std::vector<prometheus::MetricFamily> families) {
    const auto collector = std::make_shared<fixed_collector>(std::move(families));
    metrics.add(collector);
    metrics.retire(collector);
  };
  const auto text_of = [](int number) { return std::to_string(number) + std::string(40, 'x'); };
  retire({family("troupe_calls_total", MetricType::Counter, 2)});
  for (int round = 0; round < 60; ++round) {
    auto labels = family("troupe_rude_total", MetricType::Counter, 1, text_of(0));
    for (int i = 1; i < 800; ++i) {
      labels.metric.push_back(labels.metric.front());
      labels.metric.back().label[0].value = text_of(1000 * round + i);
    }
    std::vector<prometheus::MetricFamily> all{labels};
    for (int i = 0; i < 200; ++i) {
      all.push_back(family("troupe_rude_" + std::to_string(1000 * round + i) + "_total",
                           MetricType::Counter, 1, "a"));
      all.back().help = std::string(1000, 'h');
    }
    retire(std::move(all));
  }
  retire({family("troupe_calls_total", MetricType::Counter, 3)});
  const auto text = metrics.text();
  CHECK(text.size() < (std::size_t{32} << 20));
  CHECK(series(text, "troupe_calls_total{service=\"a\"}") == 5);  // It was there before.
  CHECK(series(text, "troupe_rude_total{service=\"" + text_of(0) + "\"}") == 60);
  CHECK(series(text, "troupe_rude_total{service=\"" + text_of(1) + "\"}") == 1);
  CHECK(occurrences(text, text_of(59001)) == 0);
  CHECK(series(text, rejected("memory")) > 10000);
}

TEST_CASE("metrics: a retired histogram that gets other buckets has the same bound") {
  metrics_registry metrics;
  const auto histogram_of = [](int buckets) {
    auto made = family("troupe_rude_seconds", MetricType::Histogram, 0);
    for (int i = 0; i < buckets; ++i) {
      auto& bucket = made.metric[0].histogram.bucket.emplace_back();
      bucket.upper_bound = i;
    }
    return made;
  };
  const auto retire = [&](MetricFamily one) {
    const auto collector = std::make_shared<fixed_collector>(std::vector{std::move(one)});
    metrics.add(collector);
    metrics.retire(collector);
  };
  retire(histogram_of(10));
  retire(histogram_of(2'500'000));
  CHECK(occurrences(metrics.text(), "troupe_rude_seconds_bucket") == 11);  // With that of infinity.
  CHECK(series(metrics.text(), rejected("memory")) == 1);
}

TEST_CASE("metrics: the process is described under the standard names") {
  const auto text = metrics_registry().text();
  CHECK(series(text, "process_resident_memory_bytes") > 1e6);
  CHECK(series(text, "process_open_fds") >= 3);
  CHECK(series(text, "process_max_fds") >= series(text, "process_open_fds"));
  CHECK(series(text, "process_cpu_seconds_total") >= 0);
  CHECK(series(text, "process_threads") >= 1);
  const double started = series(text, "process_start_time_seconds");
  const auto now = static_cast<double>(std::time(nullptr));
  CHECK(started <= now + 1);
  CHECK(started > now - 24 * 3600);
  CHECK(occurrences(text, "troupe_build_info{version=\"") == 1);
}
