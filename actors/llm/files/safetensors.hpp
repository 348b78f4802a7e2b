#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "actors/llm/files/tensor_view.hpp"

namespace troupe::llm {

/// A safetensors file (github.com/huggingface/safetensors, "Format"): eight bytes with the length
/// of a header, the header in JSON, the tensors' bytes one after the other.
struct safetensors_file {
  std::shared_ptr<const mapped_file> file;
  std::map<std::string, tensor_view> tensors;
  std::map<std::string, std::string> metadata;  ///< "__metadata__"
};

/// Maps the file; reads the header alone. Throws llm_file_error for all that the format forbids: a
/// header beyond the file or model_json_bytes_max, a name twice, an element type that is unknown,
/// a length that isn't that of type and shape, bytes that overlap, that no tensor has or that lie
/// beyond the end.
safetensors_file read_safetensors(const std::filesystem::path& path);

/// The tensors of a checkpoint, by name: those of a file, of the files that an index beside them
/// names (`model.safetensors.index.json`), or of a folder with either. Throws llm_file_error, also
/// where a tensor isn't in the file that the index says, or in one that it doesn't.
std::map<std::string, tensor_view> read_checkpoint_tensors(const std::filesystem::path& path);

/// A tensor to be written.
struct tensor_to_write {
  tensor_type type = tensor_type::f32;  ///< not a quantised one
  std::vector<std::int64_t> shape;
  std::string_view bytes;
};

/// Writes a file that every reader of the format takes: header padded to eight bytes, tensors by
/// falling size of their elements, then by name. Written beside `path`, flushed and renamed, so
/// that `path` is the old file or the new one, whole. Throws std::system_error naming the path, and
/// std::invalid_argument for a type that the format has no name for and for bytes that don't match
/// the shape.
void write_safetensors(const std::filesystem::path& path,
                       const std::map<std::string, tensor_to_write>& tensors,
                       const std::map<std::string, std::string>& metadata = {});

}  // namespace troupe::llm
