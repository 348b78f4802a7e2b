#include "actors/checkpoint/checkpoint_directory.hpp"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <system_error>

#include "actors/checkpoint/durable_file.hpp"
#include "actors/checkpoint/sha256.hpp"

namespace troupe {

namespace fs = std::filesystem;

namespace {

constexpr int format = 1;
constexpr std::string_view prefix = "ckpt-";
constexpr std::string_view unfinished = ".tmp";
constexpr std::string_view replaced = ".old";

std::string manifest_of(const checkpoint& state) {
  nlohmann::ordered_json manifest{{"format", format},
                                  {"algorithm", state.kind.algorithm},
                                  {"environment", state.kind.environment},
                                  {"network", state.kind.network},
                                  {"step", state.step},
                                  {"config_sha256", state.config_sha256},
                                  {"files", nlohmann::ordered_json::object()}};
  for (const auto& [name, bytes] : state.files) {
    manifest["files"][name] = {{"size", bytes.size()}, {"sha256", sha256(bytes)}};
  }
  return manifest.dump(2) + '\n';
}

/// A line of `sha256sum`.
std::string seal_of(const std::string& manifest) { return sha256(manifest) + "  manifest.json\n"; }

void require(bool holds, const fs::path& path, const std::string& what) {
  if (!holds) throw std::runtime_error(path.string() + ": " + what);
}

void write_folder(const fs::path& folder, const checkpoint& state) {
  fs::remove_all(folder);
  fs::create_directory(folder);
  for (const auto& [name, bytes] : state.files) write_durably(folder / name, bytes);
  const auto manifest = manifest_of(state);
  write_durably(folder / "manifest.json", manifest);
  write_durably(folder / "manifest.sha256", seal_of(manifest));
  sync_folder(folder);
}

/// The manifest's values, verified; the files are still to be read.
nlohmann::json read_manifest(const fs::path& folder) {
  const auto path = folder / "manifest.json";
  const auto text = read_whole(path);
  require(read_whole(folder / "manifest.sha256") == seal_of(text), path,
          "its SHA-256 is not the one in manifest.sha256");
  const auto manifest = nlohmann::json::parse(text);
  require(manifest.at("format") == format, path,
          "expected format " + std::to_string(format) + ", got " + manifest.at("format").dump());
  return manifest;
}

std::string read_verified(const fs::path& path, const nlohmann::json& expected) {
  auto bytes = read_whole(path);
  const auto size = expected.at("size").get<std::size_t>();
  require(bytes.size() == size, path,
          "expected " + std::to_string(size) + " bytes, got " + std::to_string(bytes.size()));
  require(sha256(bytes) == expected.at("sha256").get<std::string>(), path,
          "its SHA-256 is not the one in the manifest");
  return bytes;
}

}  // namespace

std::string to_string(const checkpoint_kind& kind) {
  return kind.algorithm + " on " + kind.environment + " with a network of " + kind.network;
}

void require_kind(const checkpoint& state, const checkpoint_kind& expected,
                  const std::string& where) {
  if (state.kind == expected) return;
  throw checkpoint_mismatch(where + ": expected a checkpoint of " + to_string(expected) +
                            ", got one of " + to_string(state.kind));
}

std::size_t checkpoint::size() const {
  std::size_t sum = 0;
  for (const auto& [name, bytes] : files) sum += bytes.size();
  return sum;
}

checkpoint_directory::checkpoint_directory(fs::path folder, std::size_t keep)
    : folder_(std::move(folder)), keep_(keep) {
  if (keep == 0) throw std::invalid_argument("checkpoints: keep: expected a number > 0, got 0");
}

fs::path checkpoint_directory::place_of(std::int64_t step) const {
  return folder_ / (std::string(prefix) + std::to_string(step));
}

fs::path checkpoint_directory::write(const checkpoint& state) const {
  const auto place = place_of(state.step);
  auto temporary = place, aside = place;
  temporary += unfinished;
  aside += replaced;

  fs::create_directories(folder_);
  try {
    write_folder(temporary, state);
    // A folder is not renamed over another that is not empty.
    fs::remove_all(aside);
    if (fs::exists(place)) fs::rename(place, aside);
    fs::rename(temporary, place);
  } catch (...) {
    std::error_code ignored;
    fs::remove_all(temporary, ignored);  // what was written of it fills a full disk
    throw;
  }
  sync_folder(folder_);
  remove_others(state.step);
  return place;
}

/// What can't be removed is in nobody's way.
void checkpoint_directory::remove_others(std::int64_t newest) const {
  std::error_code ignored;
  std::size_t kept = 0;
  for (const auto step : steps()) {
    if (step <= newest && kept++ < keep_) continue;
    fs::remove_all(place_of(step), ignored);
  }
  std::vector<fs::path> leftovers;
  for (const auto& entry : fs::directory_iterator(folder_, ignored)) {
    const auto name = entry.path().filename().string();
    if (!name.starts_with(prefix)) continue;
    if (name.ends_with(unfinished) || name.ends_with(replaced)) leftovers.push_back(entry.path());
  }
  for (const auto& path : leftovers) fs::remove_all(path, ignored);
}

std::vector<std::int64_t> checkpoint_directory::steps() const {
  std::vector<std::int64_t> found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder_, ignored)) {
    const auto name = entry.path().filename().string();
    if (!name.starts_with(prefix)) continue;
    std::int64_t step = 0;
    const auto* end = name.data() + name.size();
    const auto [rest, error] = std::from_chars(name.data() + prefix.size(), end, step);
    if (error == std::errc() && rest == end) found.push_back(step);
  }
  std::sort(found.rbegin(), found.rend());
  return found;
}

checkpoint checkpoint_directory::load(std::int64_t step) const {
  const auto place = place_of(step);
  try {
    const auto manifest = read_manifest(place);
    checkpoint state{.kind = {.algorithm = manifest.at("algorithm"),
                              .environment = manifest.at("environment"),
                              .network = manifest.at("network")},
                     .step = manifest.at("step"),
                     .config_sha256 = manifest.at("config_sha256"),
                     .files = {}};
    require(state.step == step, place / "manifest.json",
            "expected step " + std::to_string(step) + ", got " + std::to_string(state.step));
    for (const auto& [name, expected] : manifest.at("files").items()) {
      state.files[name] = read_verified(place / name, expected);
    }
    return state;
  } catch (const nlohmann::json::exception& e) {
    throw std::runtime_error((place / "manifest.json").string() + ": " + e.what());
  }
}

std::optional<checkpoint> checkpoint_directory::load_newest(
    const checkpoint_kind& expected,
    const std::function<void(const fs::path&, const std::string&)>& refused) const {
  for (const auto step : steps()) {
    checkpoint state;
    try {
      state = load(step);
    } catch (const std::exception& e) {
      if (refused) refused(place_of(step), e.what());
      continue;
    }
    require_kind(state, expected, place_of(step).string());
    return state;
  }
  return std::nullopt;
}

}  // namespace troupe
