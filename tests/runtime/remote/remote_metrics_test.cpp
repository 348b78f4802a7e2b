// What is counted in other processes, in the scrape of the one they work for.

#include "runtime/remote/remote_metrics.hpp"

#include <signal.h>
#include <unistd.h>

#include "runtime/coroutine/combine.hpp"
#include "runtime/coroutine/sleep.hpp"
#include "runtime/metrics/registry.hpp"
#include "runtime/service/call/signal.hpp"
#include "runtime/system/node.hpp"
#include "runtime/system/system_core.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using namespace std::chrono_literals;

class tallier {
 public:
  explicit tallier(metrics_registry* metrics)
      : total_(metrics->counter("troupe_tallied_total", "What was tallied.")),
        last_(metrics->gauge("troupe_tallied_last", "What was tallied last.")) {}

  void tally(int n) {
    total_.increment(n);
    last_.set(n);
  }
  std::int64_t pid() { return getpid(); }
  void die() { throw fatal("told to"); }

 private:
  metric_counter total_;
  metric_gauge last_;
};

/// Has more to tell than an answer holds.
class hoarder {
 public:
  explicit hoarder(metrics_registry* metrics) {
    for (int i = 0; i < 20'000; ++i) {
      metrics->counter("troupe_hoarded_total", "One of many.", {{"n", std::to_string(i)}});
    }
  }
  int ask() { return 1; }
};

bool has(const std::string& text, const std::string& line) {
  return text.find(line + '\n') != std::string::npos;
}

/// A scrape that has the line: an answer may come too late for one, on a machine that is busy.
task<std::string> scrape_with(system& sys, std::string line) {
  for (;;) {
    auto text = sys.metrics().text();
    if (has(text, line)) co_return text;
    co_await sleep_for(5ms);
  }
}

task<> scrape_without(system& sys, std::string word) {
  while (sys.metrics().text().find(word) != std::string::npos) co_await sleep_for(5ms);
}

task<service<tallier>> talliers(system& sys, placement where, std::size_t replicas = 1) {
  const serve_options options{.name = "talliers",
                              .replicas = replicas,
                              .placement = where,
                              .max_restarts = 20,
                              .backoff = 1ms,
                              .backoff_limit = 1ms,
                              .idempotent = {endpoint<&tallier::pid>, endpoint<&tallier::tally>}};
  return sys.serve<tallier>(options, &sys.metrics());
}

task<> count_in_children(system& sys) {
  auto to = co_await talliers(sys, placement::process, 2);
  co_await to.fanout<&tallier::tally>(3);
  const auto text = co_await scrape_with(
      sys, R"(troupe_hosted_calls_total{process="talliers-1",service="talliers"} 1)");
  CHECK(has(text, R"(troupe_tallied_total{process="talliers-0"} 3)"));
  CHECK(has(text, R"(troupe_tallied_total{process="talliers-1"} 3)"));
  CHECK(has(text, R"(troupe_hosted_replicas{process="talliers-0",service="talliers"} 1)"));
  CHECK(text.find(R"(process_resident_memory_bytes{process="talliers-0"} )") != std::string::npos);
  CHECK(text.find(
            R"(troupe_requests_total{outcome="ok",route="tallier::tally",service="talliers"} 2)") !=
        std::string::npos);
}

TEST_CASE(
    "remote metrics: what child processes count is in their parent's scrape, with their names") {
  troupe::system sys;
  sys.run(with_timeout(count_in_children(sys), 30s));
}

task<> lose_a_child(system& sys) {
  auto to = co_await talliers(sys, placement::process);
  co_await to.route<&tallier::tally>(3);
  co_await scrape_with(sys, R"(troupe_tallied_last{process="talliers-0"} 3)");
  const auto pid = co_await to.route<&tallier::pid>();
  kill(static_cast<pid_t>(pid), SIGKILL);
  const auto lost = co_await to.try_route<&tallier::die>();
  CHECK_FALSE(lost.ok());
  co_await scrape_without(sys, "troupe_tallied_last{");
  CHECK(has(sys.metrics().text(), R"(troupe_tallied_total{process="talliers-0"} 3)"));
  co_await to.route<&tallier::tally>(2);
  const auto text = co_await scrape_with(sys, R"(troupe_tallied_last{process="talliers-0"} 2)");
  CHECK(has(text, R"(troupe_tallied_total{process="talliers-0"} 5)"));
}

TEST_CASE(
    "remote metrics: of a child that was killed the counts stay, and its successor's add to them") {
  const auto metrics = std::make_shared<metrics_registry>();
  {
    troupe::system sys({.metrics = metrics});
    sys.run(with_timeout(lose_a_child(sys), 30s));
  }
  CHECK(has(metrics->text(), R"(troupe_tallied_total{process="talliers-0"} 5)"));
  CHECK(metrics->text().find("troupe_tallied_last") == std::string::npos);
}

task<> stop_a_child(system& sys) {
  auto to = co_await talliers(sys, placement::process);
  co_await to.route<&tallier::tally>(3);
  co_await scrape_with(sys, R"(troupe_tallied_total{process="talliers-0"} 3)");
  const auto pid = co_await to.route<&tallier::pid>();
  kill(static_cast<pid_t>(pid), SIGSTOP);
  for (int i = 0; i < 3; ++i) {
    CHECK(has(sys.metrics().text(), R"(troupe_tallied_total{process="talliers-0"} 3)"));
  }
  kill(static_cast<pid_t>(pid), SIGCONT);
}

TEST_CASE("remote metrics: of a child that does not answer the last answer is shown") {
  troupe::system sys;
  sys.run(with_timeout(stop_a_child(sys), 30s));
}

detail::link_client_options at(const system& controller) {
  return {.address = "127.0.0.1:" + std::to_string(controller.port()), .name = "gpu-1", .slots = 2};
}

task<> count_on_a_node(system& sys, std::string whose) {
  auto to = co_await talliers(sys, placement::node("gpu-*"));
  co_await to.route<&tallier::tally>(3);
  const auto text = co_await scrape_with(sys, "troupe_tallied_total{" + whose + "} 3");
  CHECK(text.find(R"(process_threads{node="gpu-1"} )") != std::string::npos);
  CHECK(has(text, "troupe_hosted_calls_total{" + whose + R"(,service="talliers"} 1)"));
}

/// With a node that leaves when it has counted.
void count_and_leave(bool isolate, const std::string& whose) {
  troupe::system sys({.listen = "127.0.0.1:0"});
  troupe::system there({.isolate = isolate});
  {
    const detail::node joined(there, at(sys));
    sys.run(with_timeout(count_on_a_node(sys, whose), 30s));
  }
  sys.run(with_timeout(scrape_without(sys, R"(process_threads{node="gpu-1"})"), 30s));
  CHECK(has(sys.metrics().text(), "troupe_tallied_total{" + whose + "} 3"));
}

TEST_CASE("remote metrics: what a node counts has its name, and stays when it leaves") {
  SECTION("in the node") { count_and_leave(false, R"(node="gpu-1")"); }
  SECTION("in a child process of it") {
    count_and_leave(true, R"(node="gpu-1",process="talliers-0")");
  }
}

task<> wait_for(std::shared_ptr<detail::signal> answered) {
  co_await detail::signal::awaiter(answered);
}

task<> tell_too_much(system& sys) {
  auto to = co_await sys.serve<hoarder>({.name = "hoarders", .placement = placement::process},
                                        &sys.metrics());
  co_await to.route<&hoarder::ask>();
  const auto answered = std::make_shared<detail::signal>();
  detail::core_of(sys).remote_metrics()->ask([answered] { detail::signal::set(answered); });
  co_await wait_for(answered);
  CHECK(sys.metrics().text().find("hoarders-0") == std::string::npos);
}

TEST_CASE("remote metrics: a process that has more than a megabyte to tell tells nothing") {
  troupe::system sys;
  sys.run(with_timeout(tell_too_much(sys), 30s));
}

task<> restart_often(system& sys, system& there) {
  auto to = co_await talliers(sys, placement::node("gpu-*"));
  for (int i = 0; i < 10; ++i) {
    co_await to.route<&tallier::tally>(1);
    co_await to.try_route<&tallier::die>();
  }
  co_await to.route<&tallier::tally>(1);
  CHECK(detail::core_of(there).services() <= 2);
  CHECK(has(there.metrics().text(), "troupe_tallied_total 11"));
}

TEST_CASE("remote metrics: a node forgets the replicas that have ended") {
  troupe::system sys({.listen = "127.0.0.1:0"});
  troupe::system there;
  const detail::node joined(there, at(sys));
  sys.run(with_timeout(restart_often(sys, there), 30s));
}

}  // namespace
}  // namespace troupe
