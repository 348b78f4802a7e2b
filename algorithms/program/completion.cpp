#include "algorithms/program/completion.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>

#include "algorithms/program/description.hpp"

namespace troupe::command {

namespace {

/// The words before the one that is completed.
struct typed_words {
  const CLI::App* command;
  const CLI::Option* awaits_value = nullptr;  ///< The option whose value comes next.
  std::set<const CLI::Option*> given = {};
  std::size_t positionals = 0;
  bool options_ended = false;  ///< By the word "--".
  std::string algorithm = "ppo";
  std::string runs = "runs";
};

/// The option of the command, or of one above it. Null if there is none.
const CLI::Option* find_option(const CLI::App* command, const std::string& name) {
  for (; command; command = command->get_parent()) {
    if (const auto* option = command->get_option_no_throw(name)) return option;
  }
  return nullptr;
}

bool looks_like_option(const std::string& word) { return word.starts_with('-'); }

void take_value(const CLI::Option& option, const std::string& value, typed_words& to) {
  if (describe_argument(option).name == "ALGORITHM") to.algorithm = value;
  if (option.check_lname("runs")) to.runs = value;
}

void take_word(const std::string& word, typed_words& to) {
  if (to.awaits_value) {
    take_value(*to.awaits_value, word, to);
    to.awaits_value = nullptr;
    return;
  }
  if (!to.options_ended && word == "--") {
    to.options_ended = true;
    return;
  }
  if (!to.options_ended && looks_like_option(word)) {
    const auto equals = word.find('=');
    const auto* option = find_option(to.command, word.substr(0, equals));
    if (!option) return;
    to.given.insert(option);
    if (is_flag(*option)) return;
    if (equals == std::string::npos) to.awaits_value = option;
    if (equals != std::string::npos) take_value(*option, word.substr(equals + 1), to);
    return;
  }
  if (to.positionals == 0) {
    for (const auto* command : shown_commands(*to.command)) {
      if (command->get_name() != word) continue;
      to.command = command;
      return;
    }
  }
  ++to.positionals;
}

/// The positional argument that comes next. Null if the command takes no further one.
const CLI::Option* next_positional(const typed_words& typed) {
  const auto all = typed.command->get_options([](const auto* o) { return o->get_positional(); });
  if (typed.positionals < all.size()) return all[typed.positionals];
  return !all.empty() && is_repeatable(*all.back()) ? all.back() : nullptr;
}

/// Whether a shell takes a path as it is. Bash inserts what is offered without quoting it, so a
/// name such as "$(command)" must not be offered.
bool needs_no_quotes(const std::string& path) {
  constexpr std::string_view others = "._+=:@%/-";
  return std::ranges::all_of(path, [&](char c) {
    const bool is_word = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    return is_word || others.find(c) != others.npos;
  });
}

/// The run directories below `root`, each in a folder of its algorithm, whose names need no quotes
/// in a shell. The shell's own completion of files offers the others.
std::vector<known_name> runs_in(const std::filesystem::path& root) {
  std::vector<known_name> runs;
  std::error_code error;
  for (const auto& algorithm : std::filesystem::directory_iterator(root, error)) {
    for (const auto& run : std::filesystem::directory_iterator(algorithm, error)) {
      auto name = run.path().string();
      if (needs_no_quotes(name) && std::filesystem::exists(run.path() / "config.json", error))
        runs.push_back({std::move(name)});
    }
  }
  std::ranges::sort(runs, {}, &known_name::name);
  return runs;
}

std::vector<known_name> values_of(const CLI::Option& option, const std::string& prefix,
                                  const typed_words& typed, const name_source& names) {
  const auto argument = describe_argument(option);
  if (!argument.choices.empty()) {
    std::vector<known_name> choices;
    for (const auto& choice : argument.choices) choices.push_back({choice});
    return choices;
  }
  if (argument.name == "RUN") return runs_in(typed.runs);
  static const std::set<std::string> asked{"ALGORITHM", "ENVIRONMENT", "TASK", "OPTION=VALUE"};
  if (!names || !asked.contains(argument.name)) return {};
  auto values = names(argument.name, typed.algorithm);
  if (argument.name == "OPTION=VALUE") {
    // First the option is completed, and then its value.
    const bool has_option = prefix.find('=') != std::string::npos;
    std::erase_if(values, [&](const auto& v) { return v.name.ends_with('=') == has_option; });
  }
  return values;
}

/// "directories", "files", or an empty string if the value is not a path.
std::string paths_of(const CLI::Option& option) {
  const auto name = describe_argument(option).name;
  if (name == "DIR") return "directories";
  return name == "RUN" || name == "FILE" ? "files" : "";
}

/// The first sentence of a help text on one line.
std::string first_sentence(std::string help) {
  help = help.substr(0, help.find(". "));
  if (help.ends_with('.')) help.pop_back();
  std::ranges::replace_if(help, [](char c) { return c == '\t' || c == '\n'; }, ' ');
  return help;
}

/// The lines for the words that begin with `prefix`.
class answer {
 public:
  explicit answer(std::string prefix) : prefix_(std::move(prefix)) {}

  void add(const std::string& word, const std::string& help) {
    if (!word.starts_with(prefix_) || !said_.insert(word).second) return;
    lines_ += word;
    if (!help.empty()) lines_ += '\t' + first_sentence(help);
    lines_ += '\n';
  }

  /// Adds the values of an option, each preceded by `before`.
  void add_values(const CLI::Option& option, const std::string& before, const typed_words& typed,
                  const name_source& names) {
    const auto prefix = prefix_.substr(before.size());
    for (const auto& value : values_of(option, prefix, typed, names))
      add(before + value.name, value.help);
    paths_ = paths_of(option);
  }

  void add_commands(const typed_words& typed) {
    for (const auto* command : shown_commands(*typed.command))
      add(command->get_name(), command->get_description());
  }

  /// Adds the options of the command and those of the commands above it, without those that were
  /// given and those that these exclude.
  void add_options(const typed_words& typed) {
    const auto was_given = [&](const CLI::Option* option) { return typed.given.contains(option); };
    for (const auto* command = typed.command; command; command = command->get_parent()) {
      for (const auto* option : command->get_options()) {
        if (option->get_positional() || option->get_group().empty()) continue;
        if (was_given(option) && !is_repeatable(*option)) continue;
        if (std::ranges::any_of(option->get_excludes(), was_given)) continue;
        add(option->get_name(), option->get_description());
      }
    }
  }

  bool empty() const { return lines_.empty() && paths_.empty(); }

  std::string text() const {
    if (lines_.empty() && !paths_.empty()) return ':' + paths_ + '\n';
    return lines_;
  }

 private:
  std::string prefix_, lines_, paths_;
  std::set<std::string> said_;
};

}  // namespace

std::string complete(const CLI::App& app, const std::vector<std::string>& words,
                     const name_source& names) {
  if (words.empty()) return {};
  typed_words typed{.command = &app};
  for (auto word = words.begin(); word + 1 != words.end(); ++word) take_word(*word, typed);
  const auto& last = words.back();
  answer to(last);
  if (typed.awaits_value) {
    to.add_values(*typed.awaits_value, "", typed, names);
    return to.text();
  }
  if (!typed.options_ended && looks_like_option(last)) {
    const auto equals = last.find('=');
    if (equals == std::string::npos) {
      to.add_options(typed);
    } else if (const auto* option = find_option(typed.command, last.substr(0, equals))) {
      to.add_values(*option, last.substr(0, equals + 1), typed, names);
    }
    return to.text();
  }
  if (typed.positionals == 0) to.add_commands(typed);
  if (const auto* next = next_positional(typed)) to.add_values(*next, "", typed, names);
  if (to.empty() && last.empty()) to.add_options(typed);
  return to.text();
}

}  // namespace troupe::command
