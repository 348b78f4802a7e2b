#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "actors/llm/tasks/data_problems.hpp"
#include "deploy/troupe/commands.hpp"

namespace troupe::command {

namespace {

using json = nlohmann::ordered_json;

/// What the problems of a good file are.
json summary_of(const llm::data_problems& read) {
  std::set<std::string> prompts;
  std::size_t longest = 0;
  std::vector<std::int64_t> at_level(read.levels.size());
  for (const auto& each : read.problems) {
    prompts.insert(each.question);
    longest = std::max(longest, each.question.size());
    if (!at_level.empty()) ++at_level[each.level];
  }
  json levels = json::object();
  for (std::size_t i = 0; i < at_level.size(); ++i) levels[read.levels[i]] = at_level[i];
  return {{"lines", read.problems.size()},
          {"different_prompts", prompts.size()},
          {"longest_prompt_bytes", longest},
          {"levels", levels}};
}

void print(const json& summary) {
  std::printf("%s lines, %s different prompts of at most %s bytes\n",
              summary["lines"].dump().c_str(), summary["different_prompts"].dump().c_str(),
              summary["longest_prompt_bytes"].dump().c_str());
  for (const auto& [name, count] : summary["levels"].items())
    std::printf("  level %s: %s lines\n", name.c_str(), count.dump().c_str());
}

int tell_faults(const std::vector<std::string>& faults, bool as_json) {
  if (as_json) {
    const json told{{"faults", faults}};
    std::puts(told.dump(-1, ' ', false, json::error_handler_t::replace).c_str());
    return 1;
  }
  for (const auto& fault : faults) std::puts(fault.c_str());
  std::fprintf(stderr, "troupe check-data: %zu lines can't be used\n", faults.size());
  return 1;
}

}  // namespace

int check_data(const check_data_arguments& arguments) {
  const llm::data_fields fields{.prompt = arguments.prompt,
                                .answer = arguments.answer,
                                .needs_answer = !arguments.no_answer,
                                .level = arguments.level,
                                .levels = arguments.levels};
  try {
    auto summary = summary_of(llm::read_data(arguments.file, fields));
    summary["faults"] = json::array();
    if (arguments.json) {
      std::puts(summary.dump().c_str());
    } else {
      print(summary);
    }
    return 0;
  } catch (const llm::data_error& error) {
    return tell_faults(error.faults(), arguments.json);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "troupe check-data: %s\n", error.what());
    return 2;
  }
}

}  // namespace troupe::command
