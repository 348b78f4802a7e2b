#include "actors/coder/recorded_runs.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "actors/data/jsonl.hpp"
#include "runtime/base/utf8.hpp"

namespace troupe {

namespace {

using nlohmann::json;

/// Bytes as the characters of these numbers (ISO 8859-1), in UTF-8.
std::string text_of(const std::string& bytes) {
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      text += c;
    } else {
      text += static_cast<char>(0xc0 | byte >> 6);
      text += static_cast<char>(0x80 | (byte & 0x3f));
    }
  }
  return text;
}

std::string bytes_of(const std::string& text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c < 0x80) {
      bytes += text[i];
      continue;
    }
    if (c > 0xc3 || i + 1 == text.size())
      throw std::invalid_argument("expected characters up to U+00FF, got others");
    bytes += static_cast<char>((c & 3) << 6 | (static_cast<unsigned char>(text[++i]) & 0x3f));
  }
  return bytes;
}

json files_of(const std::map<std::string, std::string>& files) {
  json made = json::object();
  for (const auto& [name, content] : files) made[text_of(name)] = text_of(content);
  return made;
}

json request_of(const code_request& asked) {
  json made{{"program", text_of(asked.program)}, {"input", text_of(asked.input)}};
  if (!asked.files.empty()) made["files"] = files_of(asked.files);
  if (!asked.results.empty()) made["results"] = asked.results;
  return made;
}

// The texts of a result that a recording has.
constexpr std::pair<const char*, std::string code_result::*> texts[] = {
    {"output", &code_result::output},
    {"errors", &code_result::errors},
    {"reported", &code_result::reported}};

code_result result_of(const json& line) {
  code_result made{.exit_code = line.value("exit_code", 0),
                   .signal = line.value("signal", 0),
                   .limit = limit_named(line.value("limit", "")),
                   .truncated = line.value("truncated", false)};
  for (const auto& [name, text] : texts) made.*text = bytes_of(line.value(name, ""));
  const auto files = line.value("files", json::object());
  for (const auto& [name, content] : files.items())
    made.files[bytes_of(name)] = bytes_of(content.get<std::string>());
  return made;
}

}  // namespace

std::string line_of(const code_request& asked, const code_result& result) {
  json line = request_of(asked);
  json& told = line["result"] = json::object();
  if (result.exit_code != 0) told["exit_code"] = result.exit_code;
  if (result.signal != 0) told["signal"] = result.signal;
  if (result.limit != code_limit::none) told["limit"] = name_of(result.limit);
  if (result.truncated) told["truncated"] = true;
  for (const auto& [name, text] : texts)
    if (!(result.*text).empty()) told[name] = text_of(result.*text);
  if (!result.files.empty()) told["files"] = files_of(result.files);
  return line.dump() + '\n';
}

recorded_runs::recorded_runs(const std::filesystem::path& path) : path_(path) {
  for_each_jsonl(
      path,
      [&](json line) {
        if (!line.contains("result") || !line["result"].is_object())
          throw std::invalid_argument("expected the field \"result\", an object, got none");
        const auto result = result_of(line["result"]);
        line.erase("result");
        of_[line.dump()].all.push_back(result);
      },
      {.file_bytes_max = std::uint64_t{1} << 40, .line_bytes_max = std::size_t{1} << 30});
}

code_result recorded_runs::next(const code_request& asked) {
  const auto found = of_.find(request_of(asked).dump());
  if (found == of_.end())
    throw missing_run(
        path_.string() +
        ": expected a run of this program and input, got none. A replay needs the seed and the "
        "options of the run that was recorded, and all of its recording: " +
        detail::printable(asked.input.empty() ? asked.program : asked.input, 200));
  auto& [all, given] = found->second;
  return all[std::min(given++, all.size() - 1)];
}

}  // namespace troupe
