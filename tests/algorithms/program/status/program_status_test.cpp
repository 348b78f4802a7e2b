#include "algorithms/program/status/program_status.hpp"

#include <limits>
#include <nlohmann/json.hpp>

#include "tests/runtime/metrics/text.hpp"

namespace troupe::command {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

scrape seen_at(double second, const std::string& text) {
  return {second, parse_exposition("troupe_build_info{version=\"1.2\"} 1\n" + text)};
}

/// A service with so many calls answered, half of them within 1 ms and the rest within 10 ms.
std::string service_text(const std::string& labels, int ready, int calls) {
  const auto line = [&](const char* name, const std::string& more, int value) {
    return std::string(name) + '{' + labels + more + "} " + std::to_string(value) + '\n';
  };
  return line("troupe_replicas_ready", "", ready) + line("troupe_replicas_desired", "", 2) +
         line("troupe_requests_in_flight", "", 3) +
         line("troupe_requests_total", ",route=\"act\",outcome=\"ok\"", calls - 1) +
         line("troupe_requests_total", ",route=\"act\",outcome=\"error\"", 1) +
         line("troupe_requests_failed_total", ",reason=\"lost\"", 4) +
         line("troupe_request_duration_seconds_bucket", ",route=\"act\",le=\"0.001\"", calls / 2) +
         line("troupe_request_duration_seconds_bucket", ",route=\"act\",le=\"0.01\"", calls) +
         line("troupe_request_duration_seconds_bucket", ",route=\"act\",le=\"+Inf\"", calls);
}

}  // namespace

TEST_CASE("status: quantiles are those of PromQL's histogram_quantile") {
  CHECK(quantile(0.5, {{1, 10}, {2, 20}, {inf, 20}}) == 1.0);
  CHECK(quantile(0.75, {{1, 10}, {2, 20}, {inf, 20}}) == 1.5);
  CHECK(quantile(0.99, {{1, 10}, {inf, 20}}) == 1.0);  // Larger, but by how much nobody knows.
  CHECK_FALSE(quantile(0.5, {{1, 0}, {inf, 0}}));
  CHECK_FALSE(quantile(0.5, {}));
}

TEST_CASE("status: rates and quantiles are of the time between two scrapes") {
  const auto before = seen_at(10, service_text("service=\"policy\"", 2, 100));
  const auto now = seen_at(12, service_text("service=\"policy\"", 1, 300));
  const auto status = status_of(now, &before);
  CHECK(status.version == "1.2");
  REQUIRE(status.services.size() == 1);
  const auto& policy = status.services.front();
  CHECK(policy.service == "policy");
  CHECK(policy.state == "degraded");
  CHECK(policy.calls_per_s == 100.0);
  CHECK(policy.in_flight == 3);
  CHECK(policy.failed == 5);
  CHECK(*policy.p50_s == Approx(0.001));
  CHECK(*policy.p99_s == Approx(0.001 + 0.009 * 0.98));
  CHECK_FALSE(policy.queue_wait_p99_s);
  CHECK_FALSE(status_of(now, nullptr).services.front().calls_per_s);
  CHECK_FALSE(status_of(before, &now).services.front().calls_per_s);  // Time went back.
}

TEST_CASE("status: other processes have rows of their own, and count for how learning goes") {
  const auto process_text = [](const std::string& labels, int n) {
    const auto line = [&](const char* name, int value) {
      return std::string(name) + '{' + labels + "} " + std::to_string(value) + '\n';
    };
    return line("process_cpu_seconds_total", n) + line("process_resident_memory_bytes", 2'000'000) +
           line("troupe_hosted_replicas", 1) + line("troupe_hosted_calls_total", 100 * n) +
           line("troupe_env_steps_total", 1000 * n) + line("troupe_policy_version", n);
  };
  const auto text = [&](int n) {
    return service_text("service=\"env\"", 2, 10) + "process_cpu_seconds_total 1\n" +
           process_text("node=\"gpu-1\"", n) +
           process_text("node=\"gpu-1\",process=\"env-0\"", 2 * n);
  };
  const auto before = seen_at(0, text(0));
  const auto status = status_of(seen_at(2, text(1)), &before);
  REQUIRE(status.services.size() == 1);
  REQUIRE(status.processes.size() == 2);
  CHECK(status.processes[0].node == "gpu-1");
  CHECK(status.processes[0].process.empty());
  CHECK(status.processes[1].process == "env-0");
  CHECK(status.processes[1].replicas == 1);
  CHECK(status.processes[1].calls_per_s == 100.0);
  CHECK(status.processes[1].cores == 1.0);
  CHECK(status.learning.env_steps_per_s == 1500.0);
  CHECK(status.learning.policy_version == 2.0);
  CHECK(to_json(status).at("processes").at(1).at("env_steps_per_s") == 1000.0);
  CHECK_THAT(to_text(status),
             holds("  gpu-1  env-0    1         100      1000         100 %  2 MB\n"));
}

TEST_CASE("status: a program that claims any number of services is shown in part") {
  std::string text = "troupe_replicas_desired{service=\"\x1b[2J\"} 1\n";
  for (int i = 1; i < 1200; ++i)
    text += "troupe_replicas_desired{service=\"s" + std::to_string(i) + "\"} 1\n";
  for (int i = 0; i < 1100; ++i)
    text += "process_cpu_seconds_total{node=\"n" + std::to_string(i) + "\"} 1\n";
  const auto status = status_of(seen_at(0, text), nullptr);
  CHECK(status.services.size() == 1000);
  CHECK(status.processes.size() == 1000);
  CHECK(status.left_out == 300);
  CHECK(to_json(status).at("left_out") == 300);
  CHECK_THAT(to_text(status), holds("  and 300 more services and processes\n") &&
                                  holds("  \\u001b[2J") && !holds("\x1b"));
}

TEST_CASE("status: the learning figures are those of the last seconds") {
  const auto text = [](int n) {
    const auto number = std::to_string(n);
    return "troupe_env_steps_total " + number + "\ntroupe_episode_return_sum " + number +
           "00\ntroupe_episode_return_count " + number + "\ntroupe_train_loss 0.25\n";
  };
  const auto before = seen_at(0, text(10));
  const auto status = status_of(seen_at(2, text(20)), &before);
  CHECK(status.learning.env_steps == 20.0);
  CHECK(status.learning.env_steps_per_s == 5.0);
  CHECK(status.learning.episode_return == 100.0);
  CHECK(status.learning.loss == 0.25);
  CHECK_FALSE(status.learning.policy_version);
  const auto json = to_json(status);
  CHECK(json.at("learning").at("env_steps_per_s") == 5.0);
  CHECK(json.at("learning").at("policy_version").is_null());
  CHECK_THAT(to_text(status), holds("env steps 20, a second 5, return 100.0, loss 0.25"));
}

TEST_CASE("status: other programs' metrics are refused") {
  const scrape other{0, parse_exposition("go_goroutines 7\n")};
  CHECK_THROWS_WITH(status_of(other, nullptr), holds("no troupe_build_info"));
}

}  // namespace troupe::command
