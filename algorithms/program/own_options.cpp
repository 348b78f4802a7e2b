#include "algorithms/program/own_options.hpp"

#include <nlohmann/json.hpp>
#include <stdexcept>

namespace troupe {

namespace {

using nlohmann::json;

/// Reads the sections and removes them from the document. Returns their values by name.
nlohmann::ordered_json take_sections(json& document, const std::vector<own_options>& own) {
  nlohmann::ordered_json values;
  for (const auto& one : own) {
    json section = json::object();
    if (document.is_object() && document.contains(one.name)) {
      section = document[one.name];
      document.erase(one.name);
    }
    values[one.name] = one.read(section, "/" + one.name);
  }
  return values;
}

}  // namespace

named_algorithm with_own_options(named_algorithm algorithm, const std::vector<own_options>& own) {
  if (own.empty()) return algorithm;
  const auto known = algorithm.schema();
  for (const auto& one : own) {
    if (one.name.empty()) throw std::invalid_argument("options: expected a name, got \"\"");
    if (known.at("properties").contains(one.name)) {
      throw std::invalid_argument("options: expected a new name, got \"" + one.name +
                                  "\", which is an option of " + algorithm.name);
    }
  }
  algorithm.schema = [schema = algorithm.schema, own] {
    auto all = schema();
    for (const auto& one : own) {
      auto section = one.schema();
      section.erase("$schema");
      all["properties"][one.name] = std::move(section);
    }
    return all;
  };
  algorithm.configure = [configure = algorithm.configure, own](json document,
                                                               const run_permissions& may) {
    const auto values = take_sections(document, own);
    auto made = configure(document, may);
    auto config = nlohmann::ordered_json::parse(made.settings.config);
    config.update(values);
    made.settings.config = config.dump();
    for (const auto& one : own) {
      for (auto& idle : one.idle()) {
        idle.name = one.name + '.' + idle.name;
        made.settings.idle.push_back(std::move(idle));
      }
    }
    return made;
  };
  if (algorithm.evaluate) {
    algorithm.evaluate = [evaluate = algorithm.evaluate, own](
                             json document, const run_permissions& may,
                             const std::filesystem::path& model, std::size_t problems) {
      take_sections(document, own);
      return evaluate(document, may, model, problems);
    };
  }
  return algorithm;
}

}  // namespace troupe
