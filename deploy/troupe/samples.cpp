#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "actors/recorder/quartiles.hpp"
#include "actors/recorder/score_text.hpp"
#include "deploy/troupe/commands.hpp"
#include "runtime/base/print_error.hpp"
#include "runtime/base/regular_file.hpp"
#include "runtime/base/utf8.hpp"

namespace troupe::command {

namespace {

constexpr std::size_t line_bytes_max = std::size_t{64} << 20;

/// Opens the run's samples.jsonl. Throws std::invalid_argument if there is no such file, and
/// refused_file for a link or another kind of file.
detail::descriptor open_samples(const std::filesystem::path& path) {
  try {
    return detail::open_file(path, O_RDONLY, detail::file_kinds::regular);
  } catch (const refused_file&) {
    throw;
  } catch (const std::system_error&) {
    throw std::invalid_argument(path.string() +
                                ": expected the samples of a language model's run, got no file");
  }
}

/// The last lines of the run's samples.jsonl. Throws as open_samples does, and
/// std::invalid_argument for a line that is too long.
std::deque<std::string> last_lines(const samples_arguments& arguments) {
  const auto path = std::filesystem::path(arguments.run_directory) / "samples.jsonl";
  const auto file = open_samples(path);
  std::deque<std::string> lines;
  std::string line;
  const auto end_line = [&] {
    lines.push_back(std::exchange(line, {}));
    if (lines.size() > arguments.last) lines.pop_front();
  };
  std::vector<char> block(1 << 16);
  for (;;) {
    const auto got = ::read(file.number(), block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0)
      throw std::system_error(errno, std::generic_category(), "cannot read " + path.string());
    if (got == 0) break;
    for (const char c : std::span(block).first(static_cast<std::size_t>(got))) {
      if (c == '\n') {
        end_line();
      } else if (line.size() < line_bytes_max) {
        line += c;
      } else {
        throw std::invalid_argument(
            fmt::format("{}: expected lines of at most {} bytes", path.string(), line_bytes_max));
      }
    }
  }
  if (!line.empty()) end_line();
  return lines;
}

/// Returns a text of the samples as one line that a terminal may see.
std::string shown(const std::string& text) {
  return detail::printable_text(text, text.max_size(), detail::line_ends::short_escapes);
}

/// Returns the text in quotes.
std::string quoted(const nlohmann::json& text) {
  return shown(text.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

std::string versions_of(const nlohmann::json& turn) {
  const auto first = turn.at("versions").at(0).get<long long>();
  const auto last = turn.at("versions").at(1).get<long long>();
  return first == last ? fmt::format("version {}", first)
                       : fmt::format("versions {} to {}", first, last);
}

/// Texts are quoted, since a model may write any characters.
void print_turns(const nlohmann::json& turns) {
  for (const auto& turn : turns) {
    std::string notes = versions_of(turn);
    if (turn.value("refused", false)) notes += ", refused";
    if (!turn.at("trained").get<bool>()) notes += ", shared and not trained on";
    std::printf("        shown %s\n        says %s: reward %s (%lld tokens, %s)\n",
                quoted(turn.at("shown")).c_str(), quoted(turn.at("said")).c_str(),
                score_text(turn.at("reward").get<double>()).c_str(),
                turn.at("tokens").get<long long>(), notes.c_str());
  }
}

void print_answer(const char* which, const nlohmann::json& answer) {
  const auto reward = score_text(answer.at("reward").get<double>());
  const auto* const cut =
      answer.at("truncated").get<bool>() ? " (a limit of tokens or turns was reached)" : "";
  if (!answer.contains("turns")) {
    std::printf("  %-5s %6s  %s%s\n", which, reward.c_str(), quoted(answer.at("text")).c_str(),
                cut);
    return;
  }
  std::printf("  %-5s %6s  advantage %s%s\n", which, reward.c_str(),
              score_text(answer.at("advantage").get<double>()).c_str(), cut);
  print_turns(answer.at("turns"));
}

/// The messages of a conversation before its last one, which is the question.
void print_conversation(const nlohmann::json& group) {
  const auto messages = group.find("messages");
  if (messages == group.end()) return;
  for (const auto& said : *messages)
    if (&said != &messages->back())
      std::printf(
          "  %s: %s\n", shown(said.at("role").get_ref<const std::string&>()).c_str(),
          detail::printable_lines(said.at("content").get_ref<const std::string&>()).c_str());
}

void print_group(const nlohmann::json& group) {
  std::printf("update %lld, staleness %lld: %s\n", group.at("update").get<long long>(),
              group.at("staleness").get<long long>(),
              detail::printable_lines(group.at("question").get_ref<const std::string&>()).c_str());
  print_conversation(group);
  const auto& expected = group.at("expected");  // "" in games and where it is not known
  const auto right = expected == "" ? "" : "right is " + quoted(expected) + "; ";
  std::printf("  %s%lld answers, mean reward %s\n", right.c_str(),
              group.at("answers").get<long long>(),
              score_text(group.at("reward_mean").get<double>()).c_str());
  print_answer("best", group.at("best"));
  print_answer("worst", group.at("worst"));
}

void print_distribution(const char* name, const std::vector<double>& values) {
  if (values.empty()) return;
  std::printf("  %-10s", name);
  for (const double each : quartiles(values)) std::printf(" %8s", score_text(each).c_str());
  std::printf("\n");
}

/// The distributions over all answers of the groups, and what was dropped.
void print_summary(const std::vector<nlohmann::json>& groups) {
  std::vector<double> rewards, lengths, staleness;
  std::map<std::string, long long> dropped;
  for (const auto& group : groups) {
    for (const auto& each : group.value("rewards", nlohmann::json::array()))
      rewards.push_back(each.get<double>());
    for (const auto& each : group.value("lengths", nlohmann::json::array()))
      lengths.push_back(each.get<double>());
    staleness.push_back(group.at("staleness").get<double>());
    for (const auto& [reason, count] : group.value("dropped", nlohmann::json::object()).items())
      dropped[reason] += count.get<long long>();
  }
  std::printf("%zu groups          least      25%%   median      75%%     most\n", groups.size());
  print_distribution("reward", rewards);
  print_distribution("tokens", lengths);
  print_distribution("staleness", staleness);
  for (const auto& [reason, count] : dropped)
    std::printf("  dropped: %lld (%s)\n", count, shown(reason).c_str());
}

}  // namespace

int samples(const samples_arguments& arguments) {
  try {
    std::vector<nlohmann::json> groups;
    for (const auto& line : last_lines(arguments)) {
      if (arguments.json) {
        std::puts(shown(line).c_str());
      } else {
        // A run that was killed may have left a part of a line.
        auto group = nlohmann::json::parse(line, nullptr, false);
        if (group.is_object()) {
          print_group(groups.emplace_back(std::move(group)));
        } else {
          std::fprintf(stderr, "troupe samples: a line that is no JSON object is left out\n");
        }
      }
    }
    if (!groups.empty()) print_summary(groups);
    return 0;
  } catch (const std::exception& e) {
    print_error("troupe samples", e.what());
    return 2;
  }
}

}  // namespace troupe::command
