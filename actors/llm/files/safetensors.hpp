#pragma once
// A reader and a writer of safetensors files, for read_model and write_model (read_model.hpp).

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "actors/llm/files/tensor_view.hpp"

namespace troupe::llm {

/// A safetensors file (github.com/huggingface/safetensors, "Format"). It has eight bytes with the
/// length of the header, the header in JSON, and the bytes of the tensors one after the other.
struct safetensors_file {
  std::shared_ptr<const input_file> file;
  std::map<std::string, tensor_view> tensors;
  std::map<std::string, std::string> metadata;  ///< the header's "__metadata__"
};

/// Opens the file and reads only the header. Throws llm_file_error for a file that the format
/// doesn't allow: a header that is longer than the file or model_json_bytes_max, a name that occurs
/// twice, an unknown element type, a length that doesn't match type and shape, and bytes that
/// overlap, belong to no tensor or lie beyond the end.
safetensors_file read_safetensors(const std::filesystem::path& path);

/// The tensors of a checkpoint by name. `path` is a file, an index of several files
/// (`model.safetensors.index.json`), or a folder with either. Throws llm_file_error, also if the
/// index and the files disagree about where a tensor is.
std::map<std::string, tensor_view> read_checkpoint_tensors(const std::filesystem::path& path);

/// A tensor for write_safetensors.
struct tensor_to_write {
  tensor_type type = tensor_type::f32;  ///< must not be a quantised type
  std::vector<std::int64_t> shape;
  std::string_view bytes;
};

/// Writes a file that every reader of the format accepts. The header is padded to eight bytes, and
/// the tensors are in descending order of their element size, then by name. The file is written
/// beside `path`, flushed and renamed, so that `path` is always complete. Throws std::system_error
/// that names the path, and std::invalid_argument for a type that the format doesn't have and for
/// bytes that don't match the shape.
void write_safetensors(const std::filesystem::path& path,
                       const std::map<std::string, tensor_to_write>& tensors,
                       const std::map<std::string, std::string>& metadata = {});

}  // namespace troupe::llm
