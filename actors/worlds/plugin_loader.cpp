#include "actors/worlds/plugin_loader.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <system_error>

#include "runtime/base/build_stamp.hpp"

namespace troupe {

namespace {

constexpr std::string_view suffix = ".so";

/// The two parts of a name.
struct plugin_name {
  /// `name` must name a plug-in.
  explicit plugin_name(std::string_view name) : file(name) {
    const auto colon = name.rfind(std::string(suffix) + ':');
    if (name.ends_with(suffix) || colon == name.npos) return;
    file = name.substr(0, colon + suffix.size());
    id = name.substr(colon + suffix.size() + 1);
  }
  std::string file;
  std::string id;  // Empty if the name has none.
};

template <class Part>
std::vector<std::string> ids_of(const std::vector<Part>& all) {
  std::vector<std::string> ids;
  for (const auto& each : all) ids.push_back(each.id);
  return ids;
}

/// Returns the error of the last call of dlopen or dlsym, without the file's path.
std::string loader_error(const std::string& file) {
  const char* error = dlerror();
  std::string text = error ? error : "an error without a message";
  if (text.starts_with(file + ": ")) text.erase(0, file.size() + 2);
  return text;
}

bool can_be_made(const plugin_world& world) { return world.one || world.many; }
bool can_be_made(const plugin_encoder& network) { return static_cast<bool>(network.function); }
bool can_be_made(const plugin_algorithm& algorithm) { return algorithm.rule != nullptr; }

/// Throws plugin_error if some of these parts of a plug-in are not usable. `what` are
/// "environments", "networks" or "algorithms".
template <class Part>
void check(const std::string& file, const char* what, const std::vector<Part>& all) {
  std::set<std::string> seen;
  for (const auto& each : all) {
    if (each.id.empty() || !can_be_made(each)) {
      throw plugin_error(
          fmt::format("{}: expected {} with an id and a function that makes them, got \"{}\"", file,
                      what, each.id));
    }
    if (!seen.insert(each.id).second) {
      throw plugin_error(fmt::format("{}: expected {} with different ids, got two of \"{}\"", file,
                                     what, each.id));
    }
  }
}

/// Loads the plug-in of an absolute path. `file` is the path as it was given.
const detail::plugin_descriptor& load(const std::string& file, const std::string& path) {
  // Its environments may be used until the program ends, so it is never closed.
  void* object = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (object == nullptr) {
    throw plugin_error(file + ": expected a plug-in that troupe_add_plugin has built, got a file " +
                       "that can't be loaded: " + loader_error(path));
  }
  using describe_function = const detail::plugin_descriptor* (*)();
  const auto describe = reinterpret_cast<describe_function>(dlsym(object, "troupe_plugin"));
  if (describe == nullptr) {
    throw plugin_error(file +
                       ": expected a plug-in with TROUPE_PLUGIN in its source, got a shared "
                       "object without");
  }
  const auto* told = describe();
  if (told == nullptr || told->magic != detail::plugin_descriptor::magic_number) {
    throw plugin_error(file + ": expected a plug-in of Troupe, got something else");
  }
  if (told->build != detail::build_stamp()) {
    throw plugin_error(fmt::format(
        "{}: expected a plug-in built with Troupe {}, as this program, got one built with {}; "
        "build it again",
        file, detail::build_stamp(), told->build));
  }
  if (std::strcmp(told->abi, detail::plugin_abi()) != 0) {
    throw plugin_error(fmt::format("{}: expected a plug-in for {}, as this program, got one for {}",
                                   file, detail::plugin_abi(), told->abi));
  }
  check(file, "environments", *told->worlds);
  check(file, "networks", *told->encoders);
  check(file, "algorithms", *told->algorithms);
  return *told;
}

/// The plug-ins by their absolute paths.
struct loaded_plugins {
  std::mutex guard;
  std::map<std::string, const detail::plugin_descriptor*> known;
};

loaded_plugins& all_plugins() {
  static loaded_plugins made;
  return made;
}

const detail::plugin_descriptor& loaded(const std::string& file) {
  std::error_code error;
  const auto path = std::filesystem::canonical(file, error).string();
  if (error) {
    throw plugin_error(file + ": expected the path of a plug-in: " + error.message());
  }
  // The loader would wait for the writer of a FIFO.
  if (!std::filesystem::is_regular_file(path, error)) {
    throw plugin_error(file + ": expected a plug-in, got something that is not a regular file");
  }
  auto& all = all_plugins();
  const std::lock_guard lock(all.guard);
  auto& found = all.known[path];
  if (found == nullptr) found = &load(file, path);
  return *found;
}

}  // namespace

bool names_plugin(std::string_view name) {
  return name.size() > suffix.size() && name.find("://") == name.npos &&
         (name.ends_with(suffix) || name.find(std::string(suffix) + ':') != name.npos);
}

bool is_loaded_plugin(std::string_view name) {
  if (!names_plugin(name)) return false;
  std::error_code error;
  const auto path = std::filesystem::canonical(plugin_name(name).file, error).string();
  auto& all = all_plugins();
  const std::lock_guard lock(all.guard);
  const auto at = all.known.find(path);
  return !error && at != all.known.end() && at->second != nullptr;
}

namespace {

/// Returns the part of that name. `what` is "environment", "network" or "algorithm", and `one` the
/// same with its article.
template <class Part>
const Part& part_of(std::string_view name, const char* what, const char* one,
                    const std::vector<Part>* detail::plugin_descriptor::* member) {
  const plugin_name wanted(name);
  const auto& all = *(loaded(wanted.file).*member);
  if (all.empty()) {
    throw plugin_error(fmt::format("{}: expected a plug-in with {}s, got none", wanted.file, what));
  }
  if (wanted.id.empty()) {
    if (all.size() == 1) return all.front();
    throw plugin_error(fmt::format("{}: expected {}:ID, for it has several {}s: {}", name,
                                   wanted.file, what, fmt::join(ids_of(all), ", ")));
  }
  const auto found = std::ranges::find(all, wanted.id, &Part::id);
  if (found != all.end()) return *found;
  throw plugin_error(fmt::format("{}: expected {} of {}, which has {}, got {}", name, one,
                                 wanted.file, fmt::join(ids_of(all), ", "), wanted.id));
}

}  // namespace

const plugin_world& plugin_world_of(std::string_view name) {
  return part_of(name, "environment", "an environment", &detail::plugin_descriptor::worlds);
}

const plugin_encoder& plugin_encoder_of(std::string_view name) {
  return part_of(name, "network", "a network", &detail::plugin_descriptor::encoders);
}

const plugin_algorithm& plugin_algorithm_of(std::string_view name) {
  return part_of(name, "algorithm", "an algorithm", &detail::plugin_descriptor::algorithms);
}

}  // namespace troupe
