#pragma once
// A reader of GGUF files, for models and tokenizers (read_model.hpp, read_tokenizer.hpp).

#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "actors/llm/files/tensor_view.hpp"

namespace troupe::llm {

/// A metadata value of a GGUF file. Integers of every width are widened, and arrays hold numbers or
/// texts. Texts are views of what gguf_file has read.
using gguf_value =
    std::variant<bool, std::int64_t, double, std::string_view, std::vector<std::int64_t>,
                 std::vector<double>, std::vector<std::string_view>>;

/// A GGUF file of version 2 or 3 (github.com/ggml-org/ggml, docs/gguf.md), little-endian.
///
/// A model may be cut into several files, whose names end in -00001-of-00003.gguf and so on, by
/// llama.cpp's gguf-split. The path of any of them means the whole model. The first has the
/// metadata, and the tensors are in all of them.
class gguf_file {
 public:
  /// Opens the file, or all parts, and reads the metadata and the lists of tensors. Throws
  /// llm_file_error for a truncated file, impossible counts and lengths, a key or tensor that
  /// occurs twice, an unsupported element type, tensors that aren't aligned, overlap or lie beyond
  /// the end, and parts that are missing or belong to another model.
  explicit gguf_file(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return file_->path(); }
  const std::map<std::string, tensor_view, std::less<>>& tensors() const { return tensors_; }
  const std::map<std::string, gguf_value, std::less<>>& metadata() const { return metadata_; }

  /// The value of a key, or null if there is no such key. Throws llm_file_error for another type.
  template <class T>
  const T* find(std::string_view key) const {
    const auto at = metadata_.find(key);
    if (at == metadata_.end()) return nullptr;
    const auto* value = std::get_if<T>(&at->second);
    if (!value) throw error(key, "expected another type of value");
    return value;
  }

  /// The value of a key. Throws llm_file_error if there is no such key and for another type.
  template <class T>
  const T& get(std::string_view key) const {
    const auto* value = find<T>(key);
    if (!value) throw error(key, "expected it in the metadata");
    return *value;
  }

  /// An error whose message begins with the file and the key.
  llm_file_error error(std::string_view key, const std::string& what) const;

 private:
  gguf_file() = default;
  void read_file(const std::filesystem::path& path);
  void add_other_parts(const std::filesystem::path& path);

  std::shared_ptr<const input_file> file_;
  std::shared_ptr<std::deque<std::string>> header_;  // with the texts of the metadata
  std::map<std::string, gguf_value, std::less<>> metadata_;
  std::map<std::string, tensor_view, std::less<>> tensors_;
};

}  // namespace troupe::llm
