#include "actors/llm/files/safetensors.hpp"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "actors/checkpoint/durable_file.hpp"
#include "actors/llm/files/json_file.hpp"
#include "runtime/base/utf8.hpp"

namespace troupe::llm {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::uint64_t length_bytes = 8;
constexpr std::size_t dimensions_max = 8;

// The type with this name in the format. The types that are not quantised have the format's names.
std::optional<tensor_type> type_named(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(tensor_type::boolean); ++i) {
    if (const auto type = static_cast<tensor_type>(i); name_of(type) == name) return type;
  }
  return std::nullopt;
}

// The value as an integer from 0 to 2^63 - 1, or none.
std::optional<std::uint64_t> whole_number(const json& value) {
  if (!value.is_number_unsigned()) return std::nullopt;
  const auto number = value.get<std::uint64_t>();
  if (number >> 63) return std::nullopt;
  return number;
}

/// Reads the header of one file.
class header_reader {
 public:
  explicit header_reader(std::shared_ptr<const input_file> file) : file_(std::move(file)) {}

  safetensors_file read() {
    if (file_->size() < length_bytes)
      throw error("expected the 8 bytes of the header's length, got a file of " +
                  std::to_string(file_->size()));
    std::uint64_t length = 0;
    file_->read(0, length_bytes, reinterpret_cast<char*>(&length));  // little-endian, as every host
    const auto most = std::min<std::uint64_t>(model_json_bytes_max, file_->size() - length_bytes);
    if (length > most)
      throw error("at byte 0: expected a header of at most " + std::to_string(most) +
                  " bytes, got one of " + std::to_string(length));
    data_ = length_bytes + length;
    const auto header =
        parse_model_json(file_->read(length_bytes, length), file_->path().string() + ": header");
    if (!header.is_object()) throw error("header: expected an object");

    safetensors_file result{.file = file_};
    for (const auto& [name, entry] : header.items()) {
      if (name == "__metadata__")
        read_metadata(entry, result.metadata);
      else
        result.tensors.emplace(name, read_tensor(name, entry));
    }
    check_cover(result.tensors);
    return result;
  }

 private:
  llm_file_error error(const std::string& what) const {
    return llm_file_error(file_->path().string() + ": " + what);
  }
  llm_file_error error(const std::string& tensor, const std::string& what) const {
    return error("tensor \"" + detail::printable(tensor, 100) + "\": " + what);
  }

  void read_metadata(const json& entry, std::map<std::string, std::string>& metadata) const {
    if (!entry.is_object()) throw error("__metadata__: expected an object");
    for (const auto& [key, value] : entry.items()) {
      if (!value.is_string()) throw error("__metadata__: expected texts");
      metadata.emplace(key, value.get<std::string>());
    }
  }

  tensor_view read_tensor(const std::string& name, const json& entry) const {
    if (!entry.is_object() || !entry.contains("dtype") || !entry.contains("shape") ||
        !entry.contains("data_offsets") || entry.size() != 3)
      throw error(name, "expected an object of dtype, shape and data_offsets");
    const auto& dtype = entry["dtype"];
    const auto type = dtype.is_string() ? type_named(dtype.get<std::string>()) : std::nullopt;
    if (!type)
      throw error(name, "dtype: expected F64, F32, F16, BF16, I64, I32, I16, I8, U8 or BOOL, got " +
                            detail::printable(dtype.dump(-1, ' ', true), 60));
    tensor_view view{.name = name, .type = *type, .file = file_};
    const auto& shape = entry["shape"];
    if (!shape.is_array() || shape.size() > dimensions_max)
      throw error(name, "shape: expected at most 8 sizes");
    for (const auto& size : shape) {
      const auto number = whole_number(size);
      if (!number) throw error(name, "shape: expected whole numbers");
      view.shape.push_back(static_cast<std::int64_t>(*number));
    }
    const auto& offsets = entry["data_offsets"];
    const bool two = offsets.is_array() && offsets.size() == 2;
    const auto begin = two ? whole_number(offsets[0]) : std::nullopt;
    const auto end = two ? whole_number(offsets[1]) : std::nullopt;
    if (!begin || !end || *begin > *end || *end > data_bytes())
      throw error(name, "data_offsets: expected [begin, end] within the " +
                            std::to_string(data_bytes()) + " bytes after the header, got " +
                            detail::printable(offsets.dump(-1, ' ', true), 60));
    view.offset = data_ + *begin;
    view.size = *end - *begin;
    std::uint64_t expected = 0;
    try {
      expected = bytes_of(view.type, view.shape);
    } catch (const std::invalid_argument& e) {
      throw view.error(std::string("expected ") + e.what());
    }
    if (view.size != expected)
      throw view.error("expected " + std::to_string(expected) + " bytes for " +
                       std::string(name_of(view.type)) + ' ' + to_string(view.shape) + ", got " +
                       std::to_string(view.size));
    return view;
  }

  // Checks that every byte belongs to exactly one tensor.
  void check_cover(const std::map<std::string, tensor_view>& tensors) const {
    std::vector<const tensor_view*> in_order;
    for (const auto& [name, view] : tensors) in_order.push_back(&view);
    std::sort(in_order.begin(), in_order.end(), [](const auto* a, const auto* b) {
      return std::pair(a->offset, a->size) < std::pair(b->offset, b->size);
    });
    auto covered = data_;
    for (const auto* view : in_order) {
      if (view->offset != covered)
        throw view->error("expected it to begin where the one before ends, at byte " +
                          std::to_string(covered));
      covered += view->size;
    }
    if (covered != file_->size())
      throw error("expected tensors up to the end, byte " + std::to_string(file_->size()) +
                  ", got the last one's end at byte " + std::to_string(covered));
  }

  std::uint64_t data_bytes() const { return file_->size() - data_; }

  std::shared_ptr<const input_file> file_;
  std::uint64_t data_ = 0;  ///< the offset of the first byte after the header
};

std::map<std::string, tensor_view> read_sharded(const fs::path& index_path) {
  const auto index = read_model_json(index_path);
  const auto refuse = [&](const std::string& what) {
    return llm_file_error(index_path.string() + ": " + what);
  };
  if (!index.is_object() || !index.contains("weight_map") || !index["weight_map"].is_object())
    throw refuse("expected an object with a weight_map");
  std::map<std::string, std::set<std::string>> names_of_file;
  for (const auto& [tensor, file] : index["weight_map"].items()) {
    if (!file.is_string()) throw refuse("weight_map: expected names of files");
    const auto name = file.get<std::string>();
    if (name.empty() || name == "." || name == ".." || name.find('/') != name.npos)
      throw refuse("weight_map: expected names of files beside it, got \"" +
                   detail::printable(name, 100) + '"');
    names_of_file[name].insert(tensor);
  }
  std::map<std::string, tensor_view> all;
  for (const auto& [name, tensors] : names_of_file) {
    auto shard = read_safetensors(index_path.parent_path() / name);
    for (const auto& tensor : tensors) {
      if (!shard.tensors.contains(tensor))
        throw refuse("expected tensor \"" + detail::printable(tensor, 100) + "\" in " + name +
                     ", which doesn't have it");
    }
    for (auto& [tensor, view] : shard.tensors) {
      if (!tensors.contains(tensor))
        throw view.error("expected only tensors that " + index_path.filename().string() +
                         " says are in this file");
      all.emplace(tensor, std::move(view));
    }
  }
  return all;
}

}  // namespace

safetensors_file read_safetensors(const fs::path& path) {
  return header_reader(std::make_shared<const input_file>(path)).read();
}

std::map<std::string, tensor_view> read_checkpoint_tensors(const fs::path& path) {
  if (fs::is_directory(path)) {
    const auto single = path / "model.safetensors";
    const auto index = path / "model.safetensors.index.json";
    if (fs::exists(single)) return read_checkpoint_tensors(single);
    if (fs::exists(index)) return read_sharded(index);
    throw llm_file_error(path.string() +
                         ": expected model.safetensors or model.safetensors.index.json in it");
  }
  if (path.extension() == ".json") return read_sharded(path);
  return read_safetensors(path).tensors;
}

void write_safetensors(const fs::path& path, const std::map<std::string, tensor_to_write>& tensors,
                       const std::map<std::string, std::string>& metadata) {
  std::vector<std::pair<const std::string*, const tensor_to_write*>> in_order;
  for (const auto& [name, tensor] : tensors) {
    if (elements_of_block(tensor.type) != 1 ||
        tensor.bytes.size() != bytes_of(tensor.type, tensor.shape))
      throw std::invalid_argument("write_safetensors: tensor \"" + name + "\": expected " +
                                  std::to_string(bytes_of(tensor.type, tensor.shape)) +
                                  " bytes of a type that isn't quantised, got " +
                                  std::to_string(tensor.bytes.size()) + " of " +
                                  std::string(name_of(tensor.type)));
    in_order.emplace_back(&name, &tensor);
  }
  std::stable_sort(in_order.begin(), in_order.end(), [](const auto& a, const auto& b) {
    return bytes_of_block(a.second->type) > bytes_of_block(b.second->type);
  });

  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::uint64_t offset = 0;
  for (const auto& [name, tensor] : in_order) {
    auto& entry = header[*name];
    entry["dtype"] = name_of(tensor->type);
    entry["shape"] = tensor->shape;
    entry["data_offsets"] = {offset, offset + tensor->bytes.size()};
    offset += tensor->bytes.size();
  }
  std::string begin(length_bytes, '\0');
  begin += header.dump();
  begin.resize((begin.size() + 7) / 8 * 8, ' ');
  const std::uint64_t length = begin.size() - length_bytes;
  std::memcpy(begin.data(), &length, length_bytes);

  std::vector<std::string_view> pieces{begin};
  for (const auto& [name, tensor] : in_order) pieces.push_back(tensor->bytes);
  replace_durably(path, pieces);
}

}  // namespace troupe::llm
