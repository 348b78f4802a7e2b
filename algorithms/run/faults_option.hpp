#pragma once

#include <string>

#include "runtime/config/config.hpp"
#include "runtime/service/fault_plan.hpp"

namespace troupe {

/// A plan as a configuration has it: empty: nothing goes wrong. Throws fault_plan_error.
inline fault_plan fault_plan_of(const std::string& text) {
  return text.empty() ? fault_plan{} : fault_plan::parse(text);
}

/// Whether that can be read.
inline bool is_fault_plan(const std::string& text) {
  try {
    fault_plan_of(text);
    return true;
  } catch (const fault_plan_error&) {
    return false;
  }
}

/// The field `faults` of a Config that has one, and `deterministic`.
template <class Config>
void describe_faults(options_schema<Config>& s) {
  s.field("faults", &Config::faults)
      .help(
          "what goes wrong on purpose in a deterministic run: random, or such as "
          "crash=0.001,delay=0.01:50ms; empty: nothing");
  s.rule("faults", "\"\" where deterministic is false",
         [](const Config& c) { return c.faults.empty() || c.deterministic; });
  s.rule("faults", "random, or faults such as crash=0.001,delay=0.01:50ms",
         [](const Config& c) { return is_fault_plan(c.faults); });
}

}  // namespace troupe
