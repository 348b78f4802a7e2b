#pragma once
// GGUF files that tests write.

#include <cstdint>
#include <string>
#include <vector>

namespace troupe::llm {

/// Writes a GGUF file value by value.
struct gguf_bytes {
  std::string bytes = "GGUF";

  template <class T>
  gguf_bytes& add(T value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  gguf_bytes& text(const std::string& value) {
    add<std::uint64_t>(value.size());
    bytes += value;
    return *this;
  }
  gguf_bytes& begin(std::uint64_t tensors, std::uint64_t values, std::uint32_t version = 3) {
    return add(version).add(tensors).add(values);
  }
  gguf_bytes& tensor(const std::string& name, std::vector<std::uint64_t> sizes, std::uint32_t type,
                     std::uint64_t offset) {
    text(name).add<std::uint32_t>(static_cast<std::uint32_t>(sizes.size()));
    for (const auto size : sizes) add(size);
    return add(type).add(offset);
  }
  /// A value of the metadata, with its key.
  gguf_bytes& whole(const std::string& key, std::uint32_t value) {
    return text(key).add<std::uint32_t>(4).add(value);
  }
  gguf_bytes& real(const std::string& key, float value) {
    return text(key).add<std::uint32_t>(6).add(value);
  }
  gguf_bytes& word(const std::string& key, const std::string& value) {
    return text(key).add<std::uint32_t>(8).text(value);
  }
  gguf_bytes& words(const std::string& key, const std::vector<std::string>& values) {
    text(key).add<std::uint32_t>(9).add<std::uint32_t>(8).add<std::uint64_t>(values.size());
    for (const auto& value : values) text(value);
    return *this;
  }
  gguf_bytes& wholes(const std::string& key, const std::vector<std::uint32_t>& values) {
    text(key).add<std::uint32_t>(9).add<std::uint32_t>(4).add<std::uint64_t>(values.size());
    for (const auto value : values) add(value);
    return *this;
  }
  gguf_bytes& data(std::size_t count) {
    bytes.resize((bytes.size() + 31) / 32 * 32);
    bytes.append(count, '\0');
    return *this;
  }
};

}  // namespace troupe::llm
