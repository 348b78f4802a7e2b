#include "actors/torch/torch.hpp"

#include "algorithms/run/model_path.hpp"

#include <stdexcept>
#include <system_error>

#include "actors/networks/model_file.hpp"

namespace troupe {

std::filesystem::path model_of_run(const run_directory& run, const std::string& which,
                                   const std::string& option) {
  if (which != "best_model" && which != "last_model") {
    throw std::invalid_argument("model: expected last_model or best_model, got \"" + which + '"');
  }
  const bool best = which == "best_model";
  const auto path = best ? run.best_model() : run.last_model();
  const auto other = best ? run.last_model() : run.best_model();
  std::error_code ignored;
  // run_directory::open has seen that it is no link.
  if (std::filesystem::exists(path, ignored)) return path;
  std::string message = path.string() + ": expected a model, got no file";
  if (std::filesystem::exists(other, ignored)) {
    const auto name = other.filename().string();
    message += "; there is a " + name + (option.empty() ? "" : ": " + option + name);
  }
  throw std::invalid_argument(message);
}

std::filesystem::path model_path(const std::filesystem::path& path, const std::string& which) {
  if (path.empty()) {
    throw std::invalid_argument(
        "model: expected a run directory or a model file, got an empty path");
  }
  std::error_code ignored;
  if (!std::filesystem::is_directory(path, ignored)) return path;
  const auto run = run_directory::open(path);
  const auto in_run = [&](const std::filesystem::path& file) {
    return std::filesystem::exists(file, ignored);
  };
  // The folder of a language model has a config.json, too, but it has no model beside it.
  const bool is_run = in_run(run.last_model()) || in_run(run.best_model()) ||
                      (in_run(run.config_json()) && !in_run(path / "model.safetensors"));
  if (!is_run) load_model(path);  // throws, with what the folder is
  return model_of_run(run, which);
}

}  // namespace troupe
