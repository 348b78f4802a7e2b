// `troupe status`, which asks running programs for their metrics and prints their status.

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>
#include <thread>

#include "algorithms/program/commands.hpp"
#include "algorithms/program/http_get.hpp"
#include "algorithms/program/status/address.hpp"
#include "algorithms/program/status/keyboard.hpp"
#include "algorithms/program/status/program_status.hpp"

namespace troupe::command {

namespace {

constexpr auto answer_limit = std::chrono::seconds(2);
constexpr auto period = std::chrono::seconds(1);

double clock_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// A program and its last scrape.
class watched_program {
 public:
  /// `advice` goes after the error if the program does not answer.
  explicit watched_program(program_address at, std::string advice = {})
      : at_(std::move(at)), advice_(std::move(advice)) {}

  std::string name() const { return at_.text(); }
  const std::string& advice() const { return advice_; }

  /// Scrapes the program. Throws std::exception if the address or the answer is wrong.
  program_status look() {
    const auto answer = http_get(at_.host, at_.port, "/metrics", answer_limit);
    if (answer.status != 200) {
      // A server that refuses a Host says which it expects.
      const auto why = answer.status == 400 ? ": " + answer.first_line() : std::string();
      throw std::runtime_error("expected metrics, got HTTP status " +
                               std::to_string(answer.status) + why);
    }
    scrape now{clock_seconds(), parse_exposition(answer.body)};
    auto status = status_of(now, before_ ? &*before_ : nullptr);
    before_ = std::move(now);
    return status;
  }

 private:
  program_address at_;
  std::string advice_;
  std::optional<scrape> before_;
};

/// The programs of this machine at the usual port and at those that a program takes where it is
/// busy. If none answers, the usual port alone.
std::vector<watched_program> find_programs(const std::string& program) {
  const std::string here = "127.0.0.1";
  const auto last = metrics_place::usual_port + metrics_place::next_ports_max;
  std::vector<watched_program> found;
  for (int port = metrics_place::usual_port; port <= last; ++port) {
    watched_program one({here, static_cast<std::uint16_t>(port)});
    try {
      one.look();
    } catch (const std::exception&) {
      continue;  // nobody is there, or another kind of program
    }
    found.push_back(std::move(one));
  }
  if (found.empty()) {
    found.emplace_back(program_address{here, metrics_place::usual_port},
                       "; no program answers at a port up to " + std::to_string(last) +
                           " either; `" + program + " status HOST:PORT` asks another address");
  }
  return found;
}

/// Asks each program once and writes its status or its error to `text`. Returns the number of
/// programs that answered.
std::size_t ask_all(std::vector<watched_program>& programs, bool json, std::string& text) {
  std::size_t answered = 0;
  auto list = nlohmann::ordered_json::array();
  for (auto& program : programs) {
    nlohmann::ordered_json entry{{"address", program.name()}};
    try {
      const auto status = program.look();
      ++answered;
      entry.update(to_json(status));
      text += program.name() + ", Troupe " + status.version + '\n' + to_text(status);
    } catch (const std::exception& e) {
      const auto why = e.what() + program.advice();
      entry["error"] = why;
      text += (why.starts_with("http://") ? "" : program.name() + ": ") + why + '\n';
    }
    list.push_back(std::move(entry));
  }
  if (json) text = nlohmann::ordered_json{{"programs", std::move(list)}}.dump() + '\n';
  return answered;
}

int watch(std::vector<watched_program>& programs) {
  keyboard keys;  // also switches to another screen, and back at the end
  for (;;) {
    std::string text;
    ask_all(programs, false, text);
    std::printf("\x1b[H\x1b[2J%s\n  q quits\n", text.c_str());
    std::fflush(stdout);
    if (keys.quits_within(period)) return 0;
  }
}

/// Asks twice, one period apart, since rates need two scrapes.
int print_once(std::vector<watched_program>& programs, bool json) {
  std::string text;
  auto answered = ask_all(programs, json, text);
  if (answered > 0) {
    std::this_thread::sleep_for(period);
    text.clear();
    answered = ask_all(programs, json, text);
  }
  std::fputs(text.c_str(), answered > 0 || json ? stdout : stderr);
  return answered == programs.size() ? 0 : 1;
}

}  // namespace

int status(const status_arguments& arguments, const std::string& program) {
  std::vector<watched_program> programs;
  try {
    for (const auto& text : arguments.addresses) {
      programs.emplace_back(parse_address(text, arguments.port));
    }
  } catch (const std::invalid_argument& e) {
    std::fprintf(stderr, "%s status: %s\n", program.c_str(), e.what());
    return 2;
  }
  if (programs.empty() && arguments.port_asked) {
    programs.emplace_back(program_address{"127.0.0.1", arguments.port});
  } else if (programs.empty()) {
    programs = find_programs(program);
  }
  if (arguments.watch && !arguments.json && isatty(STDOUT_FILENO)) return watch(programs);
  return print_once(programs, arguments.json);
}

}  // namespace troupe::command
