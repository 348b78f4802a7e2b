#include "runtime/base/log.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <array>
#include <cmath>

#include "runtime/base/utf8.hpp"

namespace troupe::log {

namespace {

// A stack of calls fits.
constexpr std::size_t line_bytes_max = 32'768;

spdlog::logger& logger() {
  static const auto made = [] {
    auto l = spdlog::stderr_logger_mt("troupe");
    l->set_pattern("%H:%M:%S.%e %^%l%$ %v");
    l->flush_on(spdlog::level::warn);
    return l;
  }();
  return *made;
}

void write(spdlog::level::level_enum level, std::string_view what, fields facts) {
  auto& to = logger();
  if (!to.should_log(level)) return;
  std::string line(what);
  for (const auto& fact : facts) {
    const bool quote = fact.value.empty() || fact.value.find(' ') != std::string::npos;
    line += quote ? fmt::format(" {}=\"{}\"", fact.key, fact.value)
                  : fmt::format(" {}={}", fact.key, fact.value);
  }
  // Facts and errors contain texts of other programs and of files. This is the only place where
  // lines are written, so nothing can put an end of line or a control character into the log.
  const auto shown = detail::printable_text(line, line_bytes_max, detail::line_ends::short_escapes);
  to.log(level, std::string_view(shown));
}

}  // namespace

std::string field::to_text(double number) {
  // Whole numbers, such as steps and bytes, keep all digits, as far as a double has them.
  constexpr double exact = 9007199254740992.0;  // 2^53
  const bool whole = number > -exact && number < exact && number == std::trunc(number);
  return whole ? fmt::format("{:.0f}", number) : fmt::format("{:g}", number);
}

void debug(std::string_view what, fields facts) { write(spdlog::level::debug, what, facts); }
void info(std::string_view what, fields facts) { write(spdlog::level::info, what, facts); }
void warn(std::string_view what, fields facts) { write(spdlog::level::warn, what, facts); }
void error(std::string_view what, fields facts) { write(spdlog::level::err, what, facts); }

void set_level(std::string_view level) {
  static constexpr std::array<std::pair<std::string_view, spdlog::level::level_enum>, 5> levels = {
      {{"debug", spdlog::level::debug},
       {"info", spdlog::level::info},
       {"warn", spdlog::level::warn},
       {"error", spdlog::level::err},
       {"off", spdlog::level::off}}};
  for (const auto& [name, value] : levels) {
    if (name == level) return logger().set_level(value);
  }
  throw std::invalid_argument(
      fmt::format("log level: expected debug, info, warn, error or off, got \"{}\"", level));
}

}  // namespace troupe::log
