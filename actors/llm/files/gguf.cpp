#include "actors/llm/files/gguf.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <deque>
#include <limits>
#include <optional>
#include <regex>

#include "runtime/base/utf8.hpp"

namespace troupe::llm {
namespace {

static_assert(std::endian::native == std::endian::little);

// The types of values, with the numbers of the format.
enum class value_type : std::uint32_t {
  u8,
  i8,
  u16,
  i16,
  u32,
  i32,
  f32,
  boolean,
  text,
  array,
  u64,
  i64,
  f64,
};

constexpr std::uint64_t metadata_max = 1 << 16;
constexpr std::uint64_t tensors_max = 1 << 20;
constexpr std::uint64_t name_bytes_max = 64;  // the most bytes in a tensor's name
constexpr std::uint64_t key_bytes_max = 65535;
constexpr std::uint32_t rank_max = 4;
// What comes before the tensors. A vocabulary of 256,000 tokens with its merges takes 15 MB.
constexpr std::uint64_t header_bytes_max = std::uint64_t{256} << 20;

std::optional<tensor_type> type_numbered(std::uint32_t number) {
  switch (number) {
    case 0:
      return tensor_type::f32;
    case 1:
      return tensor_type::f16;
    case 2:
      return tensor_type::q4_0;
    case 3:
      return tensor_type::q4_1;
    case 6:
      return tensor_type::q5_0;
    case 7:
      return tensor_type::q5_1;
    case 8:
      return tensor_type::q8_0;
    case 12:
      return tensor_type::q4_k;
    case 13:
      return tensor_type::q5_k;
    case 14:
      return tensor_type::q6_k;
    case 24:
      return tensor_type::i8;
    case 25:
      return tensor_type::i16;
    case 26:
      return tensor_type::i32;
    case 27:
      return tensor_type::i64;
    case 28:
      return tensor_type::f64;
    case 30:
      return tensor_type::bf16;
    default:
      return std::nullopt;
  }
}

std::string in_quotes(std::string_view text) { return '"' + detail::printable(text, 100) + '"'; }

/// Reads values from the file one after the other, and throws at its end.
class cursor {
 public:
  /// Keeps the bytes that it reads in `kept`, so that texts stay valid as long as that.
  cursor(const input_file& file, std::deque<std::string>& kept) : file_(file), kept_(kept) {}

  std::uint64_t offset() const { return at_; }
  std::uint64_t left() const { return file_.size() - at_; }
  /// The bytes that may still be read.
  std::uint64_t room() const {
    return std::min(left(), header_bytes_max - std::min(at_, header_bytes_max));
  }

  std::string_view take(std::uint64_t count, const std::string& what) {
    if (count > left())
      throw error(what + ": expected " + std::to_string(count) +
                  " bytes, got the end of the file at byte " + std::to_string(file_.size()));
    if (count > room())
      throw error(what + ": expected metadata and a list of tensors of at most " +
                  std::to_string(header_bytes_max) + " bytes");
    if (count > here_.size()) {
      constexpr std::uint64_t usual = std::uint64_t{1} << 20;
      const auto size = std::min(std::max(usual, count), left());
      here_ = kept_.emplace_back(file_.read(at_, static_cast<std::size_t>(size)));
    }
    const auto bytes = here_.substr(0, count);
    here_.remove_prefix(count);
    at_ += count;
    return bytes;
  }

  template <class T>
  T number(const std::string& what) {
    T value;
    std::memcpy(&value, take(sizeof value, what).data(), sizeof value);
    return value;
  }

  std::string_view text(std::uint64_t bytes_max, const std::string& what) {
    const auto length = number<std::uint64_t>(what);
    if (length > bytes_max)
      throw error(what + ": expected a text of at most " + std::to_string(bytes_max) +
                  " bytes, got one of " + std::to_string(length));
    return take(length, what);
  }

  llm_file_error error(const std::string& what) const {
    return llm_file_error(file_.path().string() + ": at byte " + std::to_string(at_) + ": " + what);
  }

 private:
  const input_file& file_;
  std::deque<std::string>& kept_;
  std::string_view here_;  // what was read and not yet taken
  std::uint64_t at_ = 0;
};

std::int64_t whole_number(cursor& from, value_type type, const std::string& what) {
  switch (type) {
    case value_type::u8:
      return from.number<std::uint8_t>(what);
    case value_type::i8:
      return from.number<std::int8_t>(what);
    case value_type::u16:
      return from.number<std::uint16_t>(what);
    case value_type::i16:
      return from.number<std::int16_t>(what);
    case value_type::u32:
      return from.number<std::uint32_t>(what);
    case value_type::i32:
      return from.number<std::int32_t>(what);
    case value_type::i64:
      return from.number<std::int64_t>(what);
    default:
      break;
  }
  const auto number = from.number<std::uint64_t>(what);
  if (number > std::uint64_t(std::numeric_limits<std::int64_t>::max()))
    throw from.error(what + ": expected at most 2^63 - 1, got " + std::to_string(number));
  return static_cast<std::int64_t>(number);
}

double real_number(cursor& from, value_type type, const std::string& what) {
  return type == value_type::f32 ? from.number<float>(what) : from.number<double>(what);
}

bool truth(cursor& from, const std::string& what) {
  const auto byte = from.number<std::uint8_t>(what);
  if (byte > 1) throw from.error(what + ": expected a bool, 0 or 1, got " + std::to_string(byte));
  return byte == 1;
}

bool is_whole(value_type type) {
  return type <= value_type::i32 || type == value_type::u64 || type == value_type::i64;
}
bool is_real(value_type type) { return type == value_type::f32 || type == value_type::f64; }

// The smallest number of bytes that a value takes in the file.
std::uint64_t least_bytes(value_type type) {
  switch (type) {
    case value_type::u8:
    case value_type::i8:
    case value_type::boolean:
      return 1;
    case value_type::u16:
    case value_type::i16:
      return 2;
    case value_type::u32:
    case value_type::i32:
    case value_type::f32:
      return 4;
    default:
      return 8;
  }
}

template <class T, class Read>
std::vector<T> read_array(std::uint64_t count, Read read) {
  std::vector<T> values;
  values.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) values.push_back(read());
  return values;
}

gguf_value read_array_value(cursor& from, const std::string& what) {
  const auto type = static_cast<value_type>(from.number<std::uint32_t>(what));
  if (type > value_type::f64 || type == value_type::array)
    throw from.error(what + ": expected an array of numbers or texts, got elements of type " +
                     std::to_string(static_cast<std::uint32_t>(type)));
  const auto count = from.number<std::uint64_t>(what);
  if (count > from.room() / least_bytes(type))
    throw from.error(what + ": expected an array that fits into the " +
                     std::to_string(from.room()) + " bytes left, got " + std::to_string(count) +
                     " elements");
  if (is_whole(type)) {
    return read_array<std::int64_t>(count, [&] { return whole_number(from, type, what); });
  }
  if (type == value_type::boolean) {
    return read_array<std::int64_t>(count, [&] { return std::int64_t{truth(from, what)}; });
  }
  if (is_real(type)) {
    return read_array<double>(count, [&] { return real_number(from, type, what); });
  }
  return read_array<std::string_view>(count, [&] { return from.text(from.left(), what); });
}

gguf_value read_value(cursor& from, const std::string& what) {
  const auto type = static_cast<value_type>(from.number<std::uint32_t>(what));
  if (type > value_type::f64)
    throw from.error(what + ": expected a type of value from 0 to 12, got " +
                     std::to_string(static_cast<std::uint32_t>(type)));
  if (type == value_type::array) return read_array_value(from, what);
  if (type == value_type::boolean) return truth(from, what);
  if (type == value_type::text) return from.text(from.left(), what);
  if (is_real(type)) return real_number(from, type, what);
  return whole_number(from, type, what);
}

/// An entry of the list of tensors. The tensor's bytes begin `offset` bytes after the list.
struct listed_tensor {
  tensor_view view;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

listed_tensor read_listed(cursor& from, const std::shared_ptr<const input_file>& file) {
  const auto name = from.text(name_bytes_max, "a tensor's name");
  const auto what = "tensor " + in_quotes(name);
  listed_tensor tensor;
  tensor.view.name = name;
  tensor.view.file = file;
  const auto rank = from.number<std::uint32_t>(what);
  if (rank > rank_max)
    throw from.error(what + ": expected at most 4 dimensions, got " + std::to_string(rank));
  for (std::uint32_t i = 0; i < rank; ++i) {
    tensor.view.shape.push_back(whole_number(from, value_type::u64, what));
  }
  // In the file the first dimension is the contiguous one.
  std::reverse(tensor.view.shape.begin(), tensor.view.shape.end());
  const auto number = from.number<std::uint32_t>(what);
  const auto type = type_numbered(number);
  if (!type)
    throw from.error(what +
                     ": expected elements of F32, F16, BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q4_K, "
                     "Q5_K or Q6_K, got ggml's type " +
                     std::to_string(number));
  tensor.view.type = *type;
  tensor.offset = from.number<std::uint64_t>(what);
  try {
    tensor.size = bytes_of(*type, tensor.view.shape);
  } catch (const std::invalid_argument& e) {
    throw from.error(what + ": expected " + e.what());
  }
  return tensor;
}

void check_overlap(const std::map<std::string, tensor_view, std::less<>>& tensors) {
  std::vector<const tensor_view*> in_order;
  for (const auto& [name, view] : tensors) {
    if (view.size > 0) in_order.push_back(&view);
  }
  std::sort(in_order.begin(), in_order.end(),
            [](const auto* a, const auto* b) { return a->offset < b->offset; });
  for (std::size_t i = 1; i < in_order.size(); ++i) {
    const auto& before = *in_order[i - 1];
    if (before.offset + before.size > in_order[i]->offset)
      throw in_order[i]->error("expected it after tensor " + in_quotes(before.name) +
                               ", got bytes of both");
  }
}

}  // namespace

namespace {

/// The name of a part, "stem-00002-of-00003.gguf".
struct part_name {
  std::filesystem::path folder;
  std::string stem;
  std::int64_t number, count;

  std::filesystem::path path_of(std::int64_t which) const {
    char ending[32];
    std::snprintf(ending, sizeof ending, "-%05d-of-%05d.gguf", int(which), int(count));
    return folder / (stem + ending);
  }
};

std::optional<part_name> part_name_of(const std::filesystem::path& path) {
  static const std::regex form(R"((.*)-(\d{5})-of-(\d{5})\.gguf)");
  const auto name = path.filename().string();
  std::smatch found;
  if (!std::regex_match(name, found, form)) return std::nullopt;
  part_name made{path.parent_path(), found[1], std::stoll(found[2]), std::stoll(found[3])};
  if (made.number < 1 || made.number > made.count) return std::nullopt;
  return made;
}

}  // namespace

gguf_file::gguf_file(const std::filesystem::path& path) {
  const auto part = part_name_of(path);
  const bool is_cut = part && part->count > 1;
  read_file(is_cut ? part->path_of(1) : path);
  const auto* parts = find<std::int64_t>("split.count");
  if (parts && *parts > 1 && !is_cut)
    throw error("split.count", "this is one of " + std::to_string(*parts) +
                                   " files: expected a name that ends in -00001-of-" +
                                   "0000N.gguf, by which the others are found");
  if (is_cut) add_other_parts(path);
}

void gguf_file::add_other_parts(const std::filesystem::path& path) {
  const auto part = *part_name_of(path);
  const auto* parts = find<std::int64_t>("split.count");
  if (!parts || *parts != part.count)
    throw error("split.count", "expected " + std::to_string(part.count) +
                                   ", as the name of the file says, got " +
                                   (parts ? std::to_string(*parts) : "none"));
  for (std::int64_t which = 2; which <= part.count; ++which) {
    const auto name = part.path_of(which);
    if (!std::filesystem::exists(name))
      throw llm_file_error(name.string() + ": expected part " + std::to_string(which) + " of " +
                           std::to_string(part.count) + " of the model, got no such file");
    gguf_file one;
    one.read_file(name);
    const auto* number = one.find<std::int64_t>("split.no");  // counted from 0
    if (!number || *number != which - 1)
      throw one.error("split.no", "expected " + std::to_string(which - 1) + ", got " +
                                      (number ? std::to_string(*number) : "none"));
    for (const auto& [tensor, view] : one.tensors_) {
      if (!tensors_.emplace(tensor, view).second)
        throw view.error("expected it in one part of the model, got it in two");
    }
  }
  const auto* count = find<std::int64_t>("split.tensors.count");
  if (count && *count != std::ssize(tensors_))
    throw error("split.tensors.count", "expected " + std::to_string(*count) +
                                           " tensors in all parts, got " +
                                           std::to_string(tensors_.size()));
}

void gguf_file::read_file(const std::filesystem::path& path) {
  file_ = std::make_shared<const input_file>(path);
  header_ = std::make_shared<std::deque<std::string>>();
  cursor from(*file_, *header_);
  if (const auto magic = from.take(4, "magic"); magic != "GGUF")
    throw llm_file_error(path.string() + ": expected a GGUF file, got one that begins with " +
                         in_quotes(magic));
  const auto version = from.number<std::uint32_t>("version");
  if (version != 2 && version != 3)
    throw from.error("expected GGUF version 2 or 3, got " + std::to_string(version));
  const auto tensor_count = from.number<std::uint64_t>("number of tensors");
  const auto value_count = from.number<std::uint64_t>("number of values");
  if (tensor_count > tensors_max || value_count > metadata_max)
    throw from.error("expected at most " + std::to_string(tensors_max) + " tensors and " +
                     std::to_string(metadata_max) + " values, got " + std::to_string(tensor_count) +
                     " and " + std::to_string(value_count));

  for (std::uint64_t i = 0; i < value_count; ++i) {
    const auto key = from.text(key_bytes_max, "a key");
    const auto what = "metadata " + in_quotes(key);
    if (metadata_.contains(key)) throw from.error(what + ": expected each key once");
    metadata_.emplace(key, read_value(from, what));
  }
  const auto* asked = find<std::int64_t>("general.alignment");
  const auto alignment = asked ? *asked : 32;
  if (alignment < 8 || alignment > 65536 || !std::has_single_bit(std::uint64_t(alignment)))
    throw error("general.alignment",
                "expected a power of two from 8 to 65536, got " + std::to_string(alignment));

  std::vector<listed_tensor> listed;
  for (std::uint64_t i = 0; i < tensor_count; ++i) listed.push_back(read_listed(from, file_));
  const auto step = std::uint64_t(alignment);
  const auto data = (from.offset() + step - 1) / step * step;
  const auto size = file_->size();
  for (auto& [view, offset, bytes] : listed) {
    if (offset % step != 0)
      throw view.error("expected an offset that " + std::to_string(step) + " divides, got " +
                       std::to_string(offset));
    if (data > size || offset > size - data || bytes > size - data - offset)
      throw view.error("expected " + std::to_string(bytes) + " bytes from byte " +
                       std::to_string(data) + " + " + std::to_string(offset) +
                       " on, got the end of the file at byte " + std::to_string(size));
    view.offset = data + offset;
    view.size = bytes;
    const auto name = view.name;
    if (!tensors_.emplace(name, std::move(view)).second)
      throw llm_file_error(path.string() + ": tensor " + in_quotes(name) + ": expected it once");
  }
  check_overlap(tensors_);
}

llm_file_error gguf_file::error(std::string_view key, const std::string& what) const {
  return llm_file_error(path().string() + ": metadata " + in_quotes(key) + ": " + what);
}

}  // namespace troupe::llm
