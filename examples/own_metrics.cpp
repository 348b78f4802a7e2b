// Metrics of a program's own: what a role counts in its own process, and what a loop records.
//
// The roles:
//   bandits   levers to pull, two replicas in child processes; each counts in its own process
//   records   Troupe's recorder, which writes progress.csv and the TensorBoard events
//
//   ./own_metrics --metrics-port 9464
//
// The program learns which of two levers pays more. It ends at once, and prints the lines of
// /metrics that are its own. With more updates there is time to look at http://localhost:9464/.

#include <cstdio>
#include <random>
#include <sstream>

#include "actors/recorder/recorder.hpp"
#include "runtime/metrics/registry.hpp"
#include "runtime/system/run.hpp"

// readme: bandit
/// Two levers, of which the right one pays more often.
class bandit {
 public:
  bandit(const troupe::replica_info& info, troupe::metrics_registry* metrics)
      : random_(info.index + 1),
        left_(metrics->counter("bandit_pulls_total", "Levers pulled.", {{"lever", "left"}})),
        right_(metrics->counter("bandit_pulls_total", "Levers pulled.", {{"lever", "right"}})) {}

  double pull(bool right) {
    (right ? right_ : left_).increment();
    return std::bernoulli_distribution(right ? 0.6 : 0.4)(random_) ? 1.0 : 0.0;
  }

 private:
  std::minstd_rand random_;
  troupe::metric_counter left_, right_;
};
// readme: end

// readme: noted
troupe::task<troupe::service<troupe::recorder>> serve_recorder(troupe::system& sys) {
  troupe::metrics_registry* metrics = &sys.metrics();
  troupe::recorder_options options{
      .algo = "greedy",
      .env = "bandit",
      .noted =
          [metrics](const std::string& column, double value) {
            metrics->gauge("bandit_recorded", "Values that the loop records.", {{"column", column}})
                .set(value);
          },
      .on_failure = [](const std::string& what) { std::fprintf(stderr, "%s\n", what.c_str()); }};
  metrics->show("bandit", R"({"title": "A bandit", "tiles": [
    {"label": "pulls a second", "metric": "bandit_pulls_total", "as": "rate"},
    {"each": "column", "metric": "bandit_recorded"}]})");
  return sys.serve<troupe::recorder>({.name = "records", .max_restarts = 0}, std::move(options));
}
// readme: end

constexpr int updates = 500;

/// Prints the lines of a scrape that are this program's own.
void print_metrics(const troupe::metrics_registry& metrics) {
  std::istringstream scrape(metrics.text());
  for (std::string line; std::getline(scrape, line);) {
    if (line.starts_with("bandit_")) std::printf("%s\n", line.c_str());
  }
}

troupe::task<> learn(troupe::system& sys) {
  // readme: serve_bandits
  auto bandits = co_await sys.serve<bandit>(
      {.name = "bandits", .replicas = 2, .placement = troupe::placement::process}, &sys.metrics());
  // readme: end
  auto records = co_await serve_recorder(sys);
  double value[2] = {0.5, 0.5};  // what the left and the right lever pay, by estimate
  for (int update = 1; update <= updates; ++update) {
    const bool explores = update % 10 == 0;
    const bool right = (value[1] > value[0]) != explores;
    const auto paid = co_await bandits.fanout<&bandit::pull>(right);
    for (const double reward : paid) value[right] += 0.05 * (reward - value[right]);
    if (!explores) continue;
    // readme: note
    co_await records.route<&troupe::recorder::note>("bandit/left", value[0]);
    co_await records.route<&troupe::recorder::note>("bandit/right", value[1]);
    const troupe::progress_row row{.step = 2 * update, .values = {}};
    co_await records.route<&troupe::recorder::record>(row);
    // readme: end
  }
  print_metrics(sys.metrics());
}

int main(int argc, char** argv) { return troupe::run(argc, argv, learn); }
