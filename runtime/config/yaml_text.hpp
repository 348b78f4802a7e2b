#pragma once

#include <cstddef>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace troupe {

/// Limits of a YAML text: its bytes; and its values and their bytes, where each alias counts as
/// what it stands for. json_depth_max bounds the depth.
inline constexpr std::size_t yaml_bytes_max = std::size_t{1} << 20;
inline constexpr std::size_t yaml_size_max = std::size_t{4} << 20;

/// Reads one YAML document as the JSON value that it stands for, by the core schema of YAML 1.2
/// (https://yaml.org/spec/1.2.2/#103-core-schema): plain scalars are null, true, false, integers,
/// floats or else strings, so `yes` is a string; quoted ones are strings. Anchors and aliases are
/// read. Refused are several documents, keys that are no scalars or occur twice, merge keys (`<<`),
/// other tags than the core schema's, infinities and NaN, an alias inside of its own anchor, and
/// what exceeds a limit. `source` names the text in messages. Throws config_error with `source` and
/// the line: `train.yaml:3: expected each key once, got "lr" twice`.
nlohmann::json parse_yaml(std::string_view text, const std::string& source = "YAML");

/// The same for a file. Throws config_error also where it can not be read.
nlohmann::json read_yaml_file(const std::filesystem::path& path);

/// Whether load_config reads a file of that name as YAML: it ends in .yaml or .yml.
bool is_yaml_name(const std::filesystem::path& path);

}  // namespace troupe
