#include "actors/recorder/run_directory.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <system_error>

#include "actors/checkpoint/disk.hpp"
#include "actors/checkpoint/durable_file.hpp"
#include "runtime/base/regular_file.hpp"
#include "runtime/config/config_error.hpp"
#include "runtime/config/json_text.hpp"

namespace troupe {
namespace {

/// What a run reads and writes in its folder. Other entries are not opened.
constexpr const char* own_names[] = {".lock",        "best_model",    "checkpoints",
                                     "config.json",  "last_model",    "learning_curve.png",
                                     "progress.csv", "samples.jsonl", "summary.json"};
/// Checkpoints are folders in a folder.
constexpr int own_depth = 2;

[[noreturn]] void fail(const std::filesystem::path& path, const std::error_code& error) {
  throw run_directory_error("cannot create the run directory " + path.string() + ": " +
                            error.message() + "; expected a folder that can be written to");
}

std::string folder_name(std::string name, const std::string& what) {
  const auto begin = name.find_first_not_of("./");  // "./my_env.so" has its runs in my_env.so_1
  if (begin == name.npos || name.find('\0') != name.npos)
    throw run_directory_error("expected the " + what + "'s name to name a run directory, got \"" +
                              name + "\"");
  name.erase(0, begin);
  std::ranges::replace_if(name, [](char c) { return c == '/' || c == ':'; }, '-');
  return name;
}

/// Returns the highest k of the entries `prefix` + k in `folder`, or 0 if there is none.
std::int64_t highest_number(const std::filesystem::path& folder, const std::string& prefix) {
  std::int64_t highest = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const auto name = entry.path().filename().string();
    if (!name.starts_with(prefix)) continue;
    std::int64_t number = 0;
    const auto* end = name.data() + name.size();
    const auto [rest, error] = std::from_chars(name.data() + prefix.size(), end, number);
    if (error == std::errc() && rest == end && number < 1'000'000'000)
      highest = std::max(highest, number);
  }
  return highest;
}

}  // namespace

run_directory run_directory::create(const std::filesystem::path& root, const std::string& algo,
                                    const std::string& env) {
  const auto parent = root / folder_name(algo, "algorithm");
  const auto prefix = folder_name(env, "environment") + "_";
  try {
    create_folders_durably(parent);
    for (auto number = highest_number(parent, prefix) + 1;; ++number) {
      const auto path = parent / (prefix + std::to_string(number));
      // mkdir atomically makes the folder or reports that another program was faster.
      if (detail::disk::current().create_folder(path) == 0) {
        // Else a power loss could undo the folder, and all checkpoints in it with it.
        sync_folder(parent);
        return run_directory(path);
      }
      if (errno != EEXIST) fail(path, {errno, std::generic_category()});
    }
  } catch (const std::system_error& error) {
    fail(parent, error.code());
  }
}

std::optional<run_directory> run_directory::newest(const std::filesystem::path& root,
                                                   const std::string& algo,
                                                   const std::string& env) {
  const auto parent = root / folder_name(algo, "algorithm");
  const auto prefix = folder_name(env, "environment") + "_";
  std::error_code ignored;
  if (!std::filesystem::is_directory(parent, ignored)) return std::nullopt;
  const auto number = highest_number(parent, prefix);
  if (number == 0) return std::nullopt;
  return open(parent / (prefix + std::to_string(number)));
}

run_directory run_directory::open(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(path, ignored))
    throw run_directory_error("expected a run directory, got " + path.string() +
                              ", which is not a folder");
  for (const auto* name : own_names) {
    try {
      detail::require_plain(path / name, own_depth);
    } catch (const refused_file& error) {
      throw run_directory_error("the run directory can't be used: " + std::string(error.what()));
    }
  }
  return run_directory(path);
}

nlohmann::json run_directory::config() const { return read_run_config(config_json()); }

nlohmann::json read_run_config(const std::filesystem::path& config_json) {
  const auto place = config_json.string();
  try {
    return parse_json(detail::read_regular_file(config_json, json_bytes_max), place);
  } catch (const refused_file& error) {
    throw config_error("", error.what());
  } catch (const std::system_error& error) {
    throw config_error(place, "expected a readable file, got: " + error.code().message());
  }
}

}  // namespace troupe
