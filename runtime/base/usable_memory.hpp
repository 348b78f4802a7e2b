#pragma once
// How much memory this process may use.

#include <cstddef>
#include <filesystem>

namespace troupe {

/// Returns the bytes of memory that this process may use: the smaller of the machine's memory and
/// the limit of its control group and the groups above it (`docker run --memory`, Kubernetes'
/// memory limits), of either version. The first call reads them, later ones return the same number.
std::size_t usable_memory();

namespace detail {
/// Finds the limits by the files below `root`, as count_cores does; `machine` is in bytes.
std::size_t limit_memory(std::size_t machine, const std::filesystem::path& root);
}  // namespace detail

}  // namespace troupe
