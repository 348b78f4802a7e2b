#pragma once
// Warnings about the files of a model. A run reads the same files several times.

#include <string_view>

#include "runtime/base/log.hpp"

namespace troupe::llm {

/// Logs a warning, unless this process has logged the same one before.
void warn_once(std::string_view what, log::fields facts);

}  // namespace troupe::llm
