#include <cstdio>
#include <deque>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "actors/recorder/score_text.hpp"
#include "deploy/troupe/commands.hpp"

namespace troupe::command {

namespace {

/// The last lines of the run's samples.jsonl. Throws std::invalid_argument if there is no such
/// file.
std::deque<std::string> last_lines(const samples_arguments& arguments) {
  const auto path = std::filesystem::path(arguments.run_directory) / "samples.jsonl";
  std::ifstream file(path);
  if (!file) {
    throw std::invalid_argument(path.string() +
                                ": expected the samples of a language model's run, got no file");
  }
  std::deque<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    lines.push_back(std::move(line));
    if (lines.size() > arguments.last) lines.pop_front();
  }
  return lines;
}

void print_answer(const char* which, const nlohmann::json& answer) {
  const auto text = answer.at("text").dump();  // quoted, since a model may write any characters
  const auto reward = score_text(answer.at("reward").get<double>());
  std::printf("  %-5s %6s  %s%s\n", which, reward.c_str(), text.c_str(),
              answer.at("truncated").get<bool>() ? " (cut at the limit)" : "");
}

void print_group(const nlohmann::json& group) {
  std::printf("update %lld, staleness %lld: %s\n", group.at("update").get<long long>(),
              group.at("staleness").get<long long>(),
              group.at("question").get_ref<const std::string&>().c_str());
  const auto& expected = group.at("expected");  // "" in games and where it is not known
  const auto right = expected == "" ? "" : "right is " + expected.dump() + "; ";
  std::printf("  %s%lld answers, mean reward %s\n", right.c_str(),
              group.at("answers").get<long long>(),
              score_text(group.at("reward_mean").get<double>()).c_str());
  print_answer("best", group.at("best"));
  print_answer("worst", group.at("worst"));
}

}  // namespace

int samples(const samples_arguments& arguments) {
  try {
    for (const auto& line : last_lines(arguments)) {
      if (arguments.json) {
        std::puts(line.c_str());
      } else {
        print_group(nlohmann::json::parse(line));
      }
    }
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "troupe samples: %s\n", e.what());
    return 2;
  }
}

}  // namespace troupe::command
