#include "actors/environments/environment_report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

namespace troupe {
namespace {

/// True for findings of one check about the same part of the same kind of call.
bool are_alike(const environment_finding& a, const environment_finding& b) {
  return a.check == b.check && a.call.where == b.call.where && a.key == b.key;
}

/// True for findings that tell the same. Exceptions differ by their texts, where other findings
/// have numbers of the single call.
bool are_same(const environment_finding& a, const environment_finding& b) {
  return are_alike(a, b) && a.expected == b.expected && (a.check != "exceptions" || a.got == b.got);
}

std::string place_of(const environment_finding& of) {
  auto place = of.call.where;
  if (!of.call.at.empty()) place += " (" + of.call.at + ")";
  if (!of.key.empty()) place += ", key " + of.key;
  return place;
}

/// Returns the text with each further line indented below the first.
std::string indented(const std::string& text) {
  std::string result;
  for (const char c : text) result += c == '\n' ? std::string("\n    ") : std::string(1, c);
  return result;
}

std::string line_of(const char* kind, const environment_finding& of) {
  const bool long_text = of.got.find('\n') != of.got.npos;
  const auto got = indented((long_text ? "\n" : " ") + of.got);
  const auto times = of.times > 1 ? fmt::format(" ({} times)", of.times) : "";
  return long_text ? fmt::format("{}: {}: expected {}, got{}:{}\n", kind, place_of(of), of.expected,
                                 times, got)
                   : fmt::format("{}: {}: expected {}, got{}{}\n", kind, place_of(of), of.expected,
                                 got, times);
}

std::string count_of(std::size_t n, const char* what) {
  return n == 0 ? fmt::format("no {}", what) : fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

nlohmann::json findings_of(const std::vector<environment_finding>& all) {
  auto list = nlohmann::json::array();
  for (const auto& one : all) {
    list.push_back({{"check", one.check},
                    {"where", one.call.where},
                    {"at", one.call.at},
                    {"key", one.key},
                    {"expected", one.expected},
                    {"got", one.got},
                    {"times", one.times}});
  }
  return list;
}

/// Returns the steps a second; 0 if the clock has not moved.
double rate_of(const environment_speed& of) {
  return of.seconds > 0 ? static_cast<double>(of.steps) / of.seconds : 0;
}

std::string line_of(const environment_speed& of) {
  return fmt::format(
      "speed: {} {}, {}: {:.0f} steps a second ({} steps with random actions, {} episodes ended, "
      "{:.3f} s)\n",
      of.environments, of.environments == 1 ? "environment" : "environments", of.how, rate_of(of),
      of.steps, of.episodes, of.seconds);
}

}  // namespace

void check_listener::measured(environment_speed) {}

void environment_report::found(bool is_fault, environment_finding what) {
  auto& all = is_fault ? faults_ : warnings_;
  environment_finding* last_alike = nullptr;
  std::size_t alike = 0;
  for (auto& one : all) {
    if (!are_alike(one, what)) continue;
    last_alike = &one;
    ++alike;
    if (are_same(one, what)) {
      one.times += what.times;
      return;
    }
  }
  if (alike < alike_max) {
    all.push_back(std::move(what));
  } else {
    last_alike->times += what.times;
  }
}

std::string to_string(const environment_report& report) {
  auto text = fmt::format("{}: {}, {}\n", report.id(), count_of(report.faults().size(), "fault"),
                          count_of(report.warnings().size(), "warning"));
  for (const auto& one : report.faults()) text += line_of("fault", one);
  for (const auto& one : report.warnings()) text += line_of("warning", one);
  for (const auto& [check, reason] : report.not_made())
    text += fmt::format("not checked: {}: {}\n", check, reason);
  for (const auto& one : report.speeds()) text += line_of(one);
  return text;
}

nlohmann::json json_of(const environment_report& report) {
  auto skipped = nlohmann::json::array();
  for (const auto& [check, reason] : report.not_made())
    skipped.push_back({{"check", check}, {"reason", reason}});
  auto speeds = nlohmann::json::array();
  for (const auto& one : report.speeds()) speeds.push_back(json_of(one));
  return {{"env", report.id()},
          {"faults", findings_of(report.faults())},
          {"warnings", findings_of(report.warnings())},
          {"skipped", skipped},
          {"speed", speeds}};
}

nlohmann::json json_of(const environment_speed& speed) {
  return {{"environments", speed.environments},
          {"how", speed.how},
          {"steps", speed.steps},
          {"episodes", speed.episodes},
          {"seconds", speed.seconds},
          {"steps_per_s", rate_of(speed)}};
}

environment_speed speed_of(const nlohmann::json& object) {
  return {.environments = object.at("environments").get<std::int64_t>(),
          .how = object.at("how").get<std::string>(),
          .steps = object.at("steps").get<std::int64_t>(),
          .episodes = object.at("episodes").get<std::int64_t>(),
          .seconds = object.at("seconds").get<double>()};
}

nlohmann::json json_of(bool is_fault, const environment_finding& finding) {
  auto made = findings_of({finding}).at(0);
  made["fault"] = is_fault;
  return made;
}

void tell_json(const nlohmann::json& message, check_listener& to) {
  for (const auto& one : message.at("findings")) {
    const auto text = [&](const char* name) { return one.at(name).get<std::string>(); };
    to.found(one.at("fault").get<bool>(), {.check = text("check"),
                                           .call = {text("where"), text("at")},
                                           .key = text("key"),
                                           .expected = text("expected"),
                                           .got = text("got")});
  }
  for (const auto& one : message.at("skipped"))
    to.skipped({one.at("check").get<std::string>(), one.at("reason").get<std::string>()});
}

}  // namespace troupe
