#pragma once
// A memory-mapped file, from which the readers of models take their tensors.

#include <filesystem>
#include <memory>
#include <string_view>

namespace troupe::llm {

/// The bytes of a file, mapped read-only for the lifetime of the object. If another program
/// truncates the file meanwhile, SIGBUS ends this process, as with every mapping. So replace files
/// of models by renaming and never write them in place.
class mapped_file {
 public:
  /// Throws llm_file_error unless `path` is a readable regular file.
  explicit mapped_file(std::filesystem::path path);
  ~mapped_file();
  mapped_file(const mapped_file&) = delete;
  mapped_file& operator=(const mapped_file&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::string_view bytes() const { return bytes_; }

 private:
  std::filesystem::path path_;
  std::string_view bytes_;
};

}  // namespace troupe::llm
