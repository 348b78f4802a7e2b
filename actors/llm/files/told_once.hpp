#pragma once
// Log lines about the files of a model. A run reads the same files several times.

#include <string_view>

#include "runtime/base/log.hpp"

namespace troupe::llm {

/// Log a line, unless this process has logged the same one before.
void info_once(std::string_view what, log::fields facts);
void warn_once(std::string_view what, log::fields facts);

}  // namespace troupe::llm
