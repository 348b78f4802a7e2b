#include "actors/checkpoint/checkpoint_directory.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>

#include "actors/checkpoint/disk.hpp"
#include "actors/checkpoint/durable_file.hpp"
#include "actors/checkpoint/sha256.hpp"
#include "runtime/base/regular_file.hpp"
#include "runtime/base/utf8.hpp"
#include "runtime/config/config_error.hpp"
#include "runtime/config/json_text.hpp"

namespace troupe {

namespace fs = std::filesystem;

namespace {

constexpr int format = 3;
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

/// Returns the manifest's hash as a line in the form of `sha256sum`.
std::string seal_of(const std::string& manifest) { return sha256(manifest) + "  manifest.json\n"; }

void require(bool holds, const fs::path& path, const std::string& what) {
  if (!holds) throw checkpoint_damaged(path.string() + ": " + what);
}

/// Returns true if the error means that a file does not exist, or is not a file.
bool is_of_missing_file(const std::error_code& code) {
  return code == std::errc::no_such_file_or_directory || code == std::errc::not_a_directory ||
         code == std::errc::is_a_directory;
}

void write_folder(const fs::path& folder, const checkpoint& state) {
  remove_tree(folder);
  create_folder(folder);
  for (const auto& [name, bytes] : state.files) write_durably(folder / name, bytes);
  const auto manifest = manifest_of(state);
  write_durably(folder / "manifest.json", manifest);
  write_durably(folder / "manifest.sha256", seal_of(manifest));
  sync_folder(folder);
}

/// Removes what can be removed. Returns true if something was.
bool try_to_remove(const fs::path& path) {
  try {
    return remove_tree(path);
  } catch (const std::system_error&) {
    return false;
  }
}

fs::path with(fs::path place, std::string_view ending) { return place += ending; }

/// Renames `fresh` to `place`, and replaces a folder there. The old folder is at `place` or aside
/// until `fresh` is in place.
void put_in_place(const fs::path& fresh, const fs::path& place) {
  if (detail::disk::current().exchange(fresh, place) == 0) return;
  if (fs::exists(place)) {  // A folder can't be renamed over a non-empty one.
    const auto aside = with(place, replaced);
    remove_tree(aside);
    rename_path(place, aside);
  }
  rename_path(fresh, place);
}

/// Writes a checkpoint. Returns false if the disk is full. If it fails, no part of it stays.
bool try_to_write(const fs::path& temporary, const fs::path& place, const checkpoint& state) {
  // The written part would keep a full disk full.
  const auto give_up = [&] { try_to_remove(temporary); };
  try {
    write_folder(temporary, state);
    put_in_place(temporary, place);
    return true;
  } catch (const std::system_error& e) {
    give_up();
    if (e.code().value() != ENOSPC && e.code().value() != EDQUOT) throw;
    return false;
  } catch (...) {
    give_up();
    throw;
  }
}

/// Returns the entries of a folder that belong to checkpoints; empty if the folder doesn't exist.
/// Links are none of them.
std::vector<fs::path> checkpoint_entries(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  fs::directory_iterator at(folder, error);
  if (error == std::errc::no_such_file_or_directory) return found;
  for (; !error && at != fs::directory_iterator(); at.increment(error)) {
    const bool is_link = at->is_symlink(error);
    if (!is_link && at->path().filename().string().starts_with(prefix)) found.push_back(at->path());
  }
  if (error) throw fs::filesystem_error("cannot list the checkpoints", folder, error);
  return found;
}

/// Reads and verifies the manifest. It doesn't read the other files.
nlohmann::json read_manifest(const fs::path& folder) {
  const auto path = folder / "manifest.json";
  constexpr std::uint64_t seal_bytes_max = 4096;
  const auto text = detail::read_regular_file(path, json_bytes_max);
  const auto seal = detail::read_regular_file(folder / "manifest.sha256", seal_bytes_max);
  require(seal == seal_of(text), path, "its SHA-256 is not the one in manifest.sha256");
  const auto manifest = parse_json(text, path.string());
  if (manifest.at("format") != format) {
    throw checkpoint_mismatch(
        path.string() + ": expected format " + std::to_string(format) + ", got " +
        detail::show(manifest.at("format")) +
        "; another version of this program has written it: go on with that one, or begin "
        "a new run");
  }
  return manifest;
}

bool is_file_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." &&
         name.find_first_of(std::string_view("/\0", 2)) == name.npos;
}

std::string read_verified(const fs::path& path, const nlohmann::json& expected) {
  const auto size = expected.at("size").get<std::size_t>();
  const auto require_size = [&](std::uintmax_t got) {
    require(got == size, path,
            "expected " + std::to_string(size) + " bytes, got " + std::to_string(got));
  };
  // A file of another size may have any size, so it isn't read.
  if (fs::is_regular_file(fs::symlink_status(path))) require_size(fs::file_size(path));
  auto bytes = detail::read_regular_file(path, detail::whole_file_bytes_max());
  require_size(bytes.size());
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

/// Returns the folder from which the checkpoint of a step is read. After a crash while it was
/// replaced, it may only exist under the name of a replaced one.
fs::path checkpoint_directory::found_at(std::int64_t step) const {
  const auto place = place_of(step);
  const auto aside = with(place, replaced);
  std::error_code ignored;
  const bool is_there = fs::is_directory(fs::symlink_status(place, ignored));
  return !is_there && fs::exists(aside, ignored) ? aside : place;
}

fs::path checkpoint_directory::write(const checkpoint& state,
                                     std::span<const std::int64_t> abandoned) const {
  const auto place = place_of(state.step);
  const auto temporary = with(place, unfinished);
  create_folders_durably(folder_);
  restore_replaced();
  while (!try_to_write(temporary, place, state)) {
    if (make_room(state.step)) continue;
    throw std::system_error(ENOSPC, std::generic_category(), "cannot write " + place.string());
  }
  sync_folder(folder_);
  remove_others(state.step, abandoned);
  return place;
}

/// Restores the names of checkpoints that a crash has left only under the name of a replaced one.
void checkpoint_directory::restore_replaced() const {
  for (const auto& path : checkpoint_entries(folder_)) {
    if (path.extension() != replaced) continue;
    const auto place = fs::path(path).replace_extension();
    if (!fs::exists(place)) rename_path(path, place);
  }
}

bool checkpoint_directory::is_whole(std::int64_t step) const {
  try {
    load(step);
    return true;
  } catch (const checkpoint_damaged&) {
    return false;
  }
}

/// Removes the remains of crashes or, if there are none, the oldest checkpoint before `step`, but
/// never the newest undamaged one of these. Returns false if there is nothing to remove.
bool checkpoint_directory::make_room(std::int64_t step) const {
  if (remove_leftovers()) return true;
  auto older = steps();
  std::erase_if(older, [&](std::int64_t each) { return each >= step; });
  const auto newest_whole = std::ranges::find_if(older, [&](auto each) { return is_whole(each); });
  if (newest_whole == older.end()) return false;
  older.erase(newest_whole);
  if (older.empty()) return false;
  return try_to_remove(found_at(older.back()));
}

/// Removes unfinished and replaced checkpoints, and returns true if there were any. A replaced
/// checkpoint that exists only under that name stays.
bool checkpoint_directory::remove_leftovers() const {
  bool any = false;
  for (const auto& path : checkpoint_entries(folder_)) {
    const auto ending = path.extension();
    const bool is_over = ending == replaced && fs::exists(fs::path(path).replace_extension());
    if (ending != unfinished && !is_over) continue;
    if (try_to_remove(path)) any = true;
  }
  return any;
}

/// Failures to remove a checkpoint are ignored, because it does no harm.
void checkpoint_directory::remove_others(std::int64_t newest,
                                         std::span<const std::int64_t> abandoned) const {
  std::size_t kept = 0;
  for (const auto step : steps()) {
    const bool stays =
        step > newest ? std::ranges::find(abandoned, step) == abandoned.end() : kept++ < keep_;
    if (!stays) try_to_remove(place_of(step));
  }
  remove_leftovers();
}

std::vector<std::int64_t> checkpoint_directory::steps() const {
  std::set<std::int64_t, std::greater<>> found;
  for (const auto& path : checkpoint_entries(folder_)) {
    const auto name = (path.extension() == replaced ? path.stem() : path.filename()).string();
    std::int64_t step = 0;
    const auto* end = name.data() + name.size();
    const auto [rest, error] = std::from_chars(name.data() + prefix.size(), end, step);
    if (error == std::errc() && rest == end) found.insert(step);
  }
  return {found.begin(), found.end()};
}

std::vector<std::int64_t> checkpoint_directory::whole_after(std::int64_t step) const {
  std::vector<std::int64_t> found;
  for (const auto later : steps()) {
    if (later <= step) break;
    if (is_whole(later)) found.push_back(later);
  }
  return found;
}

checkpoint checkpoint_directory::load(std::int64_t step) const {
  const auto place = found_at(step);
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
      require(
          is_file_name(name), place / "manifest.json",
          "expected the names of files in its folder, got \"" + detail::printable(name, 100) + '"');
      state.files[name] = read_verified(place / name, expected);
    }
    return state;
  } catch (const nlohmann::json::exception& e) {
    throw checkpoint_damaged((place / "manifest.json").string() + ": " + e.what());
  } catch (const config_error& e) {
    throw checkpoint_damaged(e.what());
  } catch (const std::system_error& e) {
    if (!is_of_missing_file(e.code())) throw;
    throw checkpoint_damaged(e.what());
  }
}

std::optional<checkpoint> checkpoint_directory::load_newest(
    const checkpoint_kind& expected,
    const std::function<void(const fs::path&, const std::string&)>& refused) const {
  std::string damages;
  for (const auto step : steps()) {
    checkpoint state;
    try {
      state = load(step);
    } catch (const checkpoint_damaged& e) {
      if (refused) refused(found_at(step), e.what());
      damages += std::string("; ") + e.what();
      continue;
    }
    require_kind(state, expected, found_at(step).string());
    return state;
  }
  if (damages.empty()) return std::nullopt;
  throw checkpoint_damaged(folder_.string() +
                           ": expected a whole checkpoint, got damaged ones alone" + damages);
}

}  // namespace troupe
