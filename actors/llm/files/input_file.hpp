#pragma once
// An open file, from which the readers of models take their tensors.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include "runtime/base/descriptor.hpp"

namespace troupe::llm {

/// A file that is open for reading. What is asked for is read then, and nothing is mapped: if
/// another program truncates a mapped file, SIGBUS ends the process, and here it is an error. Any
/// thread may read.
class input_file {
 public:
  /// Throws llm_file_error unless `path` is a readable regular file. It may be a link, as the files
  /// of models in caches are.
  explicit input_file(std::filesystem::path path);

  const std::filesystem::path& path() const { return path_; }
  /// Returns the size that the file had when it was opened.
  std::uint64_t size() const { return size_; }

  /// Reads `count` bytes at `offset` to `to`. Throws llm_file_error if the file has fewer.
  void read(std::uint64_t offset, std::size_t count, char* to) const;
  std::string read(std::uint64_t offset, std::size_t count) const;

 private:
  std::filesystem::path path_;
  troupe::detail::descriptor file_;
  std::uint64_t size_ = 0;
};

/// Reads a whole file of a model. Throws llm_file_error, also for one of more than `bytes_max`
/// bytes, which is not read then.
std::string read_whole_file(const std::filesystem::path& path, std::size_t bytes_max);

}  // namespace troupe::llm
