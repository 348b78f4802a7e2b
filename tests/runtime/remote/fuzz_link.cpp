// Sends random messages at peers of every side, and counts what they bring about that they may
// not.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "runtime/base/log.hpp"
#include "tests/runtime/remote/link_fuzzer.hpp"

int main(int argc, char** argv) {
  CLI::App app("Random messages at each side of a link.");
  std::uint64_t count = 100'000, seed = 1;
  bool as_json = false;
  app.add_option("count", count, "how many")->check(CLI::Range(1, 1'000'000'000));
  app.add_option("--seed", seed, "what they are drawn from");
  app.add_flag("--json", as_json, "end with one JSON object");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  troupe::log::set_level("off");
  const auto report = troupe::testing::fuzz_links(seed, count);
  const auto number = [](std::uint64_t n) { return static_cast<unsigned long long>(n); };
  std::printf(
      "%llu messages over %llu links, %llu answers; %llu roles made and %llu calls executed "
      "as they may be\nat most %llu bytes kept of links that had ended\n%llu effects outside\n",
      number(report.messages), number(report.links), number(report.answers), number(report.made),
      number(report.executed), number(report.kept_bytes), number(report.effects_outside()));
  for (const auto& [what, times] : report.outside) {
    std::printf("  %s: %llu\n", what.c_str(), number(times));
  }
  if (as_json) {
    const nlohmann::json fields{{"messages", report.messages},
                                {"links", report.links},
                                {"answers", report.answers},
                                {"roles_made", report.made},
                                {"calls_executed", report.executed},
                                {"kept_bytes", report.kept_bytes},
                                {"effects_outside", report.effects_outside()}};
    std::printf("%s\n", fields.dump().c_str());
  }
  return report.effects_outside() > 0 ? 1 : 0;
}
