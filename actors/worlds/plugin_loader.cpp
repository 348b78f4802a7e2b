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

using worlds = std::vector<plugin_world>;

std::vector<std::string> ids_of(const worlds& all) {
  std::vector<std::string> ids;
  for (const auto& world : all) ids.push_back(world.id);
  return ids;
}

/// Returns the error of the last call of dlopen or dlsym, without the file's path.
std::string loader_error(const std::string& file) {
  const char* error = dlerror();
  std::string text = error ? error : "an error without a message";
  if (text.starts_with(file + ": ")) text.erase(0, file.size() + 2);
  return text;
}

/// Throws plugin_error if the environments of a plug-in are not usable.
void check(const std::string& file, const worlds& all) {
  if (all.empty()) throw plugin_error(file + ": expected a plug-in with environments, got none");
  std::set<std::string> seen;
  for (const auto& world : all) {
    if (world.id.empty() || (!world.one && !world.many)) {
      throw plugin_error(fmt::format(
          "{}: expected environments with an id and a function that makes them, got \"{}\"", file,
          world.id));
    }
    if (!seen.insert(world.id).second) {
      throw plugin_error(file + ": expected environments with different ids, got two of \"" +
                         world.id + '"');
    }
  }
}

/// Loads the plug-in of an absolute path. `file` is the path as it was given.
const worlds& load(const std::string& file, const std::string& path) {
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
  check(file, *told->worlds);
  return *told->worlds;
}

const worlds& loaded(const std::string& file) {
  std::error_code error;
  const auto path = std::filesystem::canonical(file, error).string();
  if (error) {
    throw plugin_error(file + ": expected the path of a plug-in: " + error.message());
  }
  // The loader would wait for the writer of a FIFO.
  if (!std::filesystem::is_regular_file(path, error)) {
    throw plugin_error(file + ": expected a plug-in, got something that is not a regular file");
  }
  static std::mutex guard;
  static std::map<std::string, const worlds*> known;
  const std::lock_guard lock(guard);
  auto& found = known[path];
  if (found == nullptr) found = &load(file, path);
  return *found;
}

}  // namespace

bool names_plugin(std::string_view name) {
  return name.size() > suffix.size() && name.find("://") == name.npos &&
         (name.ends_with(suffix) || name.find(std::string(suffix) + ':') != name.npos);
}

const plugin_world& plugin_world_of(std::string_view name) {
  const plugin_name wanted(name);
  const auto& all = loaded(wanted.file);
  if (wanted.id.empty()) {
    if (all.size() == 1) return all.front();
    throw plugin_error(fmt::format("{}: expected {}:ID, for it has several environments: {}", name,
                                   wanted.file, fmt::join(ids_of(all), ", ")));
  }
  const auto found = std::ranges::find(all, wanted.id, &plugin_world::id);
  if (found != all.end()) return *found;
  throw plugin_error(fmt::format("{}: expected an environment of {}, which has {}, got {}", name,
                                 wanted.file, fmt::join(ids_of(all), ", "), wanted.id));
}

}  // namespace troupe
