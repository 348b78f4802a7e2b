#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "algorithms/learner/rule_check.hpp"
#include "algorithms/program/commands.hpp"
#include "algorithms/program/context.hpp"
#include "algorithms/program/text_table.hpp"
#include "algorithms/run/settings.hpp"
#include "runtime/base/print_error.hpp"
#include "runtime/base/utf8.hpp"

namespace troupe::command {

namespace {

const nlohmann::json::json_pointer backend("/policy/backend");

/// What was found on one engine.
struct engine_report {
  std::string engine;   ///< fused or libtorch, as policy.backend says it.
  std::string refused;  ///< Why the rule has no learner with it; empty if it was checked.
  rule_report found;
};

nlohmann::json document_of(const check_rule_arguments& arguments) {
  std::vector<std::string> overrides;
  if (arguments.env) overrides.push_back("env.id=" + nlohmann::json(*arguments.env).dump());
  overrides.insert(overrides.end(), arguments.overrides.begin(), arguments.overrides.end());
  return load_config(arguments.config_file, overrides);
}

engine_report check_on(const std::string& engine, nlohmann::json document,
                       const named_algorithm& which, std::uint64_t seed) {
  engine_report report{.engine = engine};
  document[backend] = engine;
  const auto made = which.configure(document, {});
  const auto shape = shape_for(made.settings, spec_of(made.settings.env));
  try {
    made.make_update(shape, seed);
  } catch (const std::invalid_argument& refusal) {
    report.refused = refusal.what();
    return report;
  }
  report.found = troupe::check_rule([&] { return made.make_update(shape, seed); }, seed);
  return report;
}

/// Checks the rule on the engine that the configuration names, else on both.
std::vector<engine_report> check_all(const check_rule_arguments& arguments, const context& of) {
  const auto document = document_of(arguments);
  const auto& which = of.algorithm_in(document, arguments.algo);
  const auto made = which.configure(document, {});
  if (!made.make_update) {
    throw std::invalid_argument(
        which.name +
        ": expected an algorithm whose learner takes a batch of transitions or of rollouts and "
        "differentiates its losses on a graph");
  }
  made.check();
  std::vector<std::string> engines{"fused", "libtorch"};
  if (document.contains(backend) && document[backend] != "automatic") {
    engines = {document[backend].get<std::string>()};
  }
  std::vector<engine_report> reports;
  for (const auto& engine : engines) {
    reports.push_back(check_on(engine, document, which, arguments.seed));
  }
  for (const auto& each : reports) {
    if (each.refused.empty()) return reports;
  }
  throw std::invalid_argument(reports.front().refused);
}

nlohmann::ordered_json json_of(const std::vector<engine_report>& reports) {
  auto list = nlohmann::ordered_json::array();
  for (const auto& report : reports) {
    nlohmann::ordered_json one{{"engine", report.engine}};
    if (!report.refused.empty()) one["refused"] = report.refused;
    auto& tensors = one["tensors"] = nlohmann::ordered_json::array();
    for (const auto& each : report.found.tensors) {
      tensors.push_back({{"loss", each.loss},
                         {"tensor", each.tensor},
                         {"largest", each.largest},
                         {"difference", each.difference},
                         {"verdict", to_string(each.verdict)}});
    }
    list.push_back(std::move(one));
  }
  return list;
}

void print(const std::vector<engine_report>& reports) {
  std::set<std::string> advice;
  for (const auto& report : reports) {
    fmt::print("policy.backend={}\n", report.engine);
    if (!report.refused.empty()) {
      fmt::print("  not checked: {}\n", detail::printable_lines(report.refused));
      continue;
    }
    std::vector<std::vector<std::string>> rows{
        {"loss", "tensor", "largest derivative", "difference", "verdict"}};
    for (const auto& each : report.found.tensors) {
      rows.push_back({each.loss, each.tensor, fmt::format("{:.3g}", each.largest),
                      fmt::format("{:.2g} %", 100 * each.difference), to_string(each.verdict)});
      const auto sentence = advice_of(each.verdict);
      if (!sentence.empty()) advice.insert(sentence);
    }
    fmt::print("{}", text_table(rows));
  }
  for (const auto& sentence : advice) fmt::print("{}\n", sentence);
}

}  // namespace

int check_rule(const check_rule_arguments& arguments, const context& of) {
  try {
    quiet_log(true);
    const auto reports = check_all(arguments, of);
    if (arguments.json) {
      std::puts(
          json_of(reports).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
    } else {
      print(reports);
    }
    for (const auto& each : reports) {
      if (!each.found.is_right()) return 1;
    }
    return 0;
  } catch (const std::exception& error) {
    print_error(of.program + " check-rule", error.what());
    return 2;
  }
}

}  // namespace troupe::command
