#include "algorithms/program/manual.hpp"

#include <cctype>
#include <nlohmann/json.hpp>

namespace troupe::command {

namespace {

using json = nlohmann::ordered_json;

/// The text as roff, in lines that end at the first space behind `width`. What stands between
/// backticks is bold.
std::string roff(const std::string& text, std::size_t width = std::string::npos) {
  std::string out;
  bool bold = false;
  std::size_t line_start = 0;
  for (const char c : text) {
    const bool line_begins = out.size() == line_start;
    if (c == ' ' && out.size() - line_start > width) {
      out += '\n';
      line_start = out.size();
    } else if (c == '`') {
      bold = !bold;
      out += bold ? "\\fB" : "\\fR";
    } else if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      if (line_begins && (c == '.' || c == '\'')) out += "\\&";
      out += c;
    }
  }
  return out;
}

std::string paragraph(const std::string& text) { return roff(text, 60) + '\n'; }

std::string upper(std::string text) {
  for (auto& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

std::string bold(const std::string& text) { return "\\fB" + roff(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + roff(text) + "\\fR"; }

/// A heading of man(7), such as .SH or .SS.
std::string heading(const std::string& macro, const std::string& text) {
  return macro + " \"" + text + "\"\n";
}

std::string joined(const json& words, const std::string& between) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : between) + word.get<std::string>();
  return text;
}

/// "N", or "a|b" if there are choices.
std::string value_of(const json& option) {
  if (option.contains("choices")) return joined(option["choices"], "|");
  return option["argument"].get<std::string>();
}

/// The description with what else is known of the option, as sentences.
std::string sentences_of(const json& option) {
  auto text = option["description"].get<std::string>();
  if (!text.empty() && !text.ends_with('.')) text += '.';
  const auto add = [&](const std::string& before, const std::string& what) {
    if (!what.empty()) text += ' ' + before + ' ' + what + '.';
  };
  add("Range:", option.value("range", ""));
  add("Default:", option["default"].get<std::string>());
  add("Environment variable:", option["environment"].get<std::string>());
  add("Needs", joined(option["needs"], ", "));
  add("Excludes", joined(option["excludes"], ", "));
  if (!text.empty()) text[0] = upper(text.substr(0, 1))[0];
  return text;
}

std::string options_of(const json& command) {
  std::string text;
  for (const auto& option : command["positionals"])
    text +=
        ".TP\n" + italic(joined(option["names"], ", ")) + "\n" + paragraph(sentences_of(option));
  for (const auto& option : command["options"]) {
    const auto value = value_of(option);
    text += ".TP\n";
    bool first = true;
    for (const auto& name : option["names"]) {
      text += (first ? "" : ", ") + bold(name.get<std::string>());
      first = false;
    }
    text += (value.empty() ? "" : " " + italic(value)) + '\n' + paragraph(sentences_of(option));
  }
  return text;
}

/// "[OPTIONS] run_dir": what follows the name of a command.
std::string usage_of(const json& command) {
  std::string text = command["options"].empty() ? "" : " [OPTIONS]";
  for (const auto& positional : command["positionals"]) {
    auto name = joined(positional["names"], ", ");
    if (positional.contains("repeatable")) name += "...";
    text += positional.contains("required") ? ' ' + name : " [" + name + ']';
  }
  return text + (command["commands"].empty() ? "" : " COMMAND");
}

std::string commands_of(const json& above, const std::string& program) {
  std::string text;
  for (const auto& command : above["commands"]) {
    const auto name = program + ' ' + command["name"].get<std::string>();
    text += heading(".SS", roff(name + usage_of(command)));
    text += paragraph(command["description"].get<std::string>()) + options_of(command);
    text += commands_of(command, name);
  }
  return text;
}

/// The environment variables that set options, each once.
std::string variables_of(const json& above) {
  std::string text;
  const auto add = [&](const json& option) {
    const auto name = option["environment"].get<std::string>();
    const auto entry = ".TP\n" + bold(name) + "\nThe value of ";
    if (name.empty() || text.find(entry) != std::string::npos) return;
    text += entry + bold(joined(option["names"], ", ")) + " where the option is not given.\n";
  };
  for (const auto& option : above["options"]) add(option);
  for (const auto& command : above["commands"]) {
    for (const auto& option : command["options"]) add(option);
  }
  return text;
}

}  // namespace

std::string manual_page(const json& of) {
  const auto path = of["program"].get<std::string>();
  const auto program = path.substr(path.find_last_of('/') + 1);
  auto what = of["description"].get<std::string>();
  if (what.ends_with('.')) what.pop_back();

  std::string page = ".TH " + upper(program) + " 1 \"\" \"Troupe " +
                     of["version"].get<std::string>() + "\" \"User Commands\"\n.nh\n.ad l\n";
  page += heading(".SH", "NAME") + roff(program) + " \\- " + roff(what) + '\n';
  page += heading(".SH", "SYNOPSIS") + bold(program) + " [" + italic("OPTIONS") + "] " +
          italic("COMMAND") + " [" + italic("ARGUMENTS") + "]\n";
  page += heading(".SH", "DESCRIPTION") +
          paragraph(
              "The program trains agents by reinforcement learning, evaluates them, and shows "
              "running programs. The first word that is not an option is a command. `" +
              program +
              " COMMAND --help` lists the options of a command. `train` also takes the options of "
              "the algorithm, such as `trainer.lr=3e-4`, which `" +
              program + " config ALGORITHM` lists.");
  page += heading(".SH", "OPTIONS") + options_of(of);
  page += heading(".SH", "COMMANDS") + commands_of(of, program);
  const auto variables = variables_of(of);
  if (!variables.empty()) page += heading(".SH", "ENVIRONMENT") + variables;
  page += heading(".SH", "FILES") + ".TP\n" + bold("runs/ALGORITHM/ENVIRONMENT_N") +
          "\nThe directory of a run, in the current directory unless " + bold("--runs") +
          " names another one.\n";
  page += heading(".SH", "EXIT STATUS") +
          ".TP\n0\nThe command did what it was asked for.\n"
          ".TP\n1\nThe command failed, or a program that was asked did not answer.\n"
          ".TP\n2\nThe command line or the configuration is wrong.\n"
          ".TP\n70\nReplicas hang and can't be ended.\n"
          ".TP\n130\nTraining was stopped by a signal and can't be resumed.\n";
  page += heading(".SH", "EXAMPLES") + ".nf\n";
  for (const auto& example : of["examples"]) page += roff(example.get<std::string>()) + '\n';
  return page + ".fi\n";
}

}  // namespace troupe::command
