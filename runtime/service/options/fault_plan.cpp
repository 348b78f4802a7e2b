#include "runtime/service/options/fault_plan.hpp"

#include <charconv>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "runtime/actor/splitmix.hpp"

namespace troupe {

namespace {

[[noreturn]] void refuse(std::string_view part, const std::string& expected) {
  throw fault_plan_error("faults: \"" + std::string(part) + "\": expected " + expected);
}

/// Removes the number at the start of `text` and returns it; NaN if there is none.
double take_number(std::string_view& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nan("");
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

double parse_probability(std::string_view text, std::string_view part) {
  const double value = take_number(text);
  if (!(value >= 0 && value <= 1) || !text.empty()) refuse(part, "a probability from 0 to 1");
  return value;
}

duration parse_time(std::string_view text, std::string_view part) {
  const double value = take_number(text);
  double seconds = text == "us" ? 1e-6 : text == "ms" ? 1e-3 : text == "s" ? 1 : 0;
  seconds *= value;
  if (!(seconds > 0 && seconds <= 3600)) {
    refuse(part, "a time above 0 and up to 3600s after the colon, such as 50ms");
  }
  return std::chrono::duration_cast<duration>(std::chrono::duration<double>(seconds));
}

/// The fields of one fault in the plan; `limit` is null if the fault has no time.
struct field {
  std::string_view name;
  double fault_plan::* probability;
  duration fault_plan::* limit;
};
constexpr field fields[] = {
    {"crash", &fault_plan::crash, nullptr},
    {"drop", &fault_plan::drop, nullptr},
    {"duplicate", &fault_plan::duplicate, nullptr},
    {"delay", &fault_plan::delay, &fault_plan::delay_limit},
    {"slow", &fault_plan::slow, &fault_plan::slow_limit},
};

void parse_part(std::string_view part, fault_plan& plan, std::set<std::string_view>& seen) {
  const auto equals = part.find('=');
  const auto name = part.substr(0, equals);
  for (const auto& f : fields) {
    if (f.name != name) continue;
    if (!seen.insert(f.name).second) refuse(part, "each fault once");
    auto value = equals == part.npos ? std::string_view() : part.substr(equals + 1);
    const auto colon = value.find(':');
    plan.*f.probability = parse_probability(value.substr(0, colon), part);
    if (colon == value.npos) return;
    if (!f.limit) refuse(part, "no time: only delay and slow have one");
    plan.*f.limit = parse_time(value.substr(colon + 1), part);
    return;
  }
  refuse(part, "random, or crash=, drop=, duplicate=, delay= or slow= with a probability");
}

}  // namespace

fault_plan fault_plan::parse(std::string_view text) {
  fault_plan plan;
  if (text == "random") {
    plan.random = true;
    return plan;
  }
  std::set<std::string_view> seen;
  for (std::size_t start = 0; start <= text.size();) {
    const auto comma = std::min(text.find(',', start), text.size());
    parse_part(text.substr(start, comma - start), plan, seen);
    start = comma + 1;
  }
  return plan;
}

std::string fault_plan::text() const {
  if (random) return "random";
  std::string text;
  for (const auto& f : fields) {
    if (this->*f.probability <= 0) continue;
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", f.name, this->*f.probability);
    if (!f.limit) continue;
    text += fmt::format(":{}us", std::chrono::duration<double, std::micro>(this->*f.limit).count());
  }
  return text;
}

namespace detail {

fault_source::fault_source(const fault_plan& plan, std::uint64_t seed)
    : state_(seed ^ 0x6661756c74ULL), plan_(plan) {
  if (plan.random) plan_ = drawn();
}

double fault_source::draw() { return static_cast<double>(next_of(state_) >> 11) * 0x1p-53; }

duration fault_source::up_to(duration limit) {
  return duration(1 + static_cast<duration::rep>(draw() * static_cast<double>(limit.count())));
}

/// Draws a plan. Each fault is left out with probability 0.3; the others get a probability from
/// 1e-4 to about 1/30, because rare faults find other bugs than frequent ones.
fault_plan fault_source::drawn() {
  fault_plan plan;
  for (const auto& f : fields) {
    const double chance = 1e-4 * std::pow(333.0, draw());
    const auto limit = up_to(std::chrono::milliseconds(100));
    if (happens(0.3)) continue;
    plan.*f.probability = chance;
    if (f.limit) plan.*f.limit = limit;
  }
  return plan;
}

}  // namespace detail
}  // namespace troupe
