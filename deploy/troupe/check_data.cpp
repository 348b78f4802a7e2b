#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "actors/llm/files/known_models.hpp"
#include "actors/llm/tasks/data_problems.hpp"
#include "algorithms/language_models/model/language_model.hpp"
#include "algorithms/language_models/sft/sft_example.hpp"
#include "deploy/troupe/commands.hpp"
#include "runtime/base/print_error.hpp"
#include "runtime/base/utf8.hpp"

namespace troupe::command {

namespace {

using json = nlohmann::ordered_json;

/// The model by whose format rows are written.
language_model format_of(const std::string& model) {
  return language_model_of({.path = model.empty() ? "" : llm::path_of_model(model).string(),
                            .tokens = small_model::bytes});
}

/// Which prompts of so many are held out by default, and why.
std::string held_out_text(std::int64_t prompts) {
  const auto kept = llm::usual_held_out(prompts);
  if (kept == 0)
    return fmt::format(
        "no prompt is held out, as {} are too few to divide (4 are needed); evaluations ask those "
        "that are trained on",
        prompts);
  return fmt::format(
      "{} of {} prompts are held out for evaluations by default: a tenth, at least 2 and at most "
      "200, which the seed draws",
      kept, prompts);
}

json summary_of(std::size_t lines, std::int64_t prompts) {
  return {{"lines", lines},
          {"different_prompts", prompts},
          {"held_out", llm::usual_held_out(prompts)},
          {"held_out_why", held_out_text(prompts)}};
}

/// What the problems of a good file are.
json summary_of(const llm::data_problems& read) {
  std::size_t longest = 0;
  std::vector<std::int64_t> at_level(read.levels.size());
  for (const auto& each : read.problems) {
    std::size_t bytes = 0;
    for (const auto& said : conversation_of(each)) bytes += said.content.size();
    longest = std::max(longest, bytes);
    if (!at_level.empty()) ++at_level[each.level];
  }
  json levels = json::object();
  for (std::size_t i = 0; i < at_level.size(); ++i) levels[read.levels[i]] = at_level[i];
  auto made = summary_of(read.problems.size(), llm::different_prompts(read.problems));
  made["longest_prompt_bytes"] = longest;
  made["levels"] = std::move(levels);
  return made;
}

/// What the examples of a good file are.
json summary_of(const sft_lines& read) {
  std::set<std::string> prompts;
  std::int64_t examples = 0, longest = 0;
  for (const auto& line : read.lines) {
    prompts.insert(line.key);
    examples += std::ssize(line.examples);
    for (const auto& one : line.examples) longest = std::max(longest, one.tokens());
  }
  auto made = summary_of(read.lines.size(), std::ssize(prompts));
  made["examples"] = examples;
  made["longest_example_tokens"] = longest;
  return made;
}

json check_problems(const check_data_arguments& arguments, const llm::data_fields& fields) {
  const auto model = format_of(arguments.model);
  const auto check = [&](const llm::problem& asked) {
    const auto conversation = conversation_of(asked);
    auto format = model.conversations();
    format.chat.tools = asked.tools;
    format.prompt(model.tokens, conversation);
    if (format.style) llm::require_written(model.tokens, *format.style, conversation, format.chat);
  };
  return summary_of(llm::read_data(arguments.file, fields, check));
}

json check_examples(const check_data_arguments& arguments, const llm::data_fields& fields) {
  const auto model = format_of(arguments.model);
  const auto format = model.conversations();
  return summary_of(
      read_sft_lines(arguments.file, {.tokens = &model.tokens,
                                      .style = format.style,
                                      .end = format.end,
                                      .chat = format.chat,
                                      .max_tokens = std::numeric_limits<std::int64_t>::max(),
                                      .fields = fields,
                                      .keep_thoughts = format.keep_thoughts}));
}

void print(const json& summary) {
  const auto number = [&](const char* name) { return summary[name].dump(); };
  if (summary.contains("examples")) {
    std::printf("%s lines, %s different prompts, %s examples of at most %s tokens\n",
                number("lines").c_str(), number("different_prompts").c_str(),
                number("examples").c_str(), number("longest_example_tokens").c_str());
  } else {
    std::printf("%s lines, %s different prompts of at most %s bytes\n", number("lines").c_str(),
                number("different_prompts").c_str(), number("longest_prompt_bytes").c_str());
    for (const auto& [name, count] : summary["levels"].items())
      std::printf("  level %s: %s lines\n", detail::printable_lines(name).c_str(),
                  count.dump().c_str());
  }
  std::printf("%s\n", summary["held_out_why"].get_ref<const std::string&>().c_str());
}

int tell_faults(const std::vector<std::string>& faults, bool as_json) {
  if (as_json) {
    const json told{{"faults", faults}};
    std::puts(told.dump(-1, ' ', false, json::error_handler_t::replace).c_str());
    return 1;
  }
  for (const auto& fault : faults) std::puts(detail::printable_lines(fault).c_str());
  std::fprintf(stderr, "troupe check-data: %zu lines can't be used\n", faults.size());
  return 1;
}

}  // namespace

int check_data(const check_data_arguments& arguments) {
  const llm::data_fields fields{.prompt = arguments.prompt,
                                .answer = arguments.answer,
                                .needs_answer = !arguments.no_answer,
                                .level = arguments.level,
                                .levels = arguments.levels,
                                .text = arguments.text,
                                .python = {.interpreter = arguments.python}};
  try {
    auto summary = arguments.algo == "sft" ? check_examples(arguments, fields)
                                           : check_problems(arguments, fields);
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
    print_error("troupe check-data", error.what());
    return 2;
  }
}

}  // namespace troupe::command
