#pragma once
// Strict reading of YAML texts.

#include <cstddef>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace troupe {

/// The limits of a YAML text. yaml_bytes_max bounds its bytes. yaml_size_max bounds the number of
/// its values plus their bytes, where each alias counts like the value that it stands for.
/// json_depth_max bounds the depth.
inline constexpr std::size_t yaml_bytes_max = std::size_t{1} << 20;
inline constexpr std::size_t yaml_size_max = std::size_t{4} << 20;

/// Reads one YAML document as a JSON value, by the core schema of YAML 1.2
/// (https://yaml.org/spec/1.2.2/#103-core-schema): plain scalars are null, true, false, integers,
/// floats or else strings, so `yes` is a string. Quoted scalars are strings. Anchors and aliases
/// are supported. The following are refused: several documents, keys that are not scalars or occur
/// twice, merge keys (`<<`), tags that are not of the core schema, infinities and NaN, an alias
/// inside its own anchor, and texts that exceed a limit. `source` names the text in messages.
/// Throws config_error with `source` and the line: `train.yaml:3: expected each key once, got "lr"
/// twice`.
nlohmann::json parse_yaml(std::string_view text, const std::string& source = "YAML");

/// Reads the YAML document in a file, as parse_yaml does. Throws config_error also if the file
/// can't be read.
nlohmann::json read_yaml_file(const std::filesystem::path& path);

/// Returns true if load_config reads a file of that name as YAML: the name ends in .yaml or .yml.
bool is_yaml_name(const std::filesystem::path& path);

}  // namespace troupe
