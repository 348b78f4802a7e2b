#pragma once

#include <string_view>

namespace troupe {

/// Writes "WHO: WHAT" and an end of line to stderr. The error may quote other programs and files:
/// its lines stay, control characters in them become escapes, and one of more than 64 KiB is cut
/// and ends in "... (N bytes)".
void print_error(std::string_view who, std::string_view what);

/// The same without a name.
void print_error(std::string_view what);

}  // namespace troupe
