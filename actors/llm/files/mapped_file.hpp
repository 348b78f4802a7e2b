#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

namespace troupe::llm {

/// A file's bytes without a copy, read-only, for as long as this lives. As with every mapping, a
/// file that another program makes shorter meanwhile ends this one with SIGBUS: files of models are
/// replaced by renaming, never written in place.
class mapped_file {
 public:
  /// Throws llm_file_error for what isn't a readable regular file.
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
