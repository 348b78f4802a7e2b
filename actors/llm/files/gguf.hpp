#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "actors/llm/files/tensor_view.hpp"

namespace troupe::llm {

/// A value of a GGUF file's metadata. Whole numbers of every width are widened, and an array holds
/// numbers or texts. Texts lie in the file.
using gguf_value =
    std::variant<bool, std::int64_t, double, std::string_view, std::vector<std::int64_t>,
                 std::vector<double>, std::vector<std::string_view>>;

/// A GGUF file of version 2 or 3 (github.com/ggml-org/ggml, docs/gguf.md), little-endian.
class gguf_file {
 public:
  /// Maps the file; reads metadata and the list of tensors. Throws llm_file_error for a file that
  /// isn't whole, for counts and lengths that can't be true, a key or tensor twice, an element type
  /// that isn't read here, and tensors that aren't aligned, overlap or lie beyond the end.
  explicit gguf_file(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return file_->path(); }
  const std::map<std::string, tensor_view, std::less<>>& tensors() const { return tensors_; }
  const std::map<std::string, gguf_value, std::less<>>& metadata() const { return metadata_; }

  /// The value of a key, null where it isn't there. Throws llm_file_error for another type.
  template <class T>
  const T* find(std::string_view key) const {
    const auto at = metadata_.find(key);
    if (at == metadata_.end()) return nullptr;
    const auto* value = std::get_if<T>(&at->second);
    if (!value) throw error(key, "expected another type of value");
    return value;
  }

  /// The same, and throws llm_file_error where it isn't there.
  template <class T>
  const T& get(std::string_view key) const {
    const auto* value = find<T>(key);
    if (!value) throw error(key, "expected it in the metadata");
    return *value;
  }

  /// An error that begins with the file and the key.
  llm_file_error error(std::string_view key, const std::string& what) const;

 private:
  std::shared_ptr<const mapped_file> file_;
  std::map<std::string, gguf_value, std::less<>> metadata_;
  std::map<std::string, tensor_view, std::less<>> tensors_;
};

}  // namespace troupe::llm
