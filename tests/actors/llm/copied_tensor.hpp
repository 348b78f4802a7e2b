#pragma once

#include <deque>
#include <string>

#include "actors/llm/files/safetensors.hpp"

namespace troupe::llm {

/// A tensor of a file for write_safetensors. Its bytes are put into `kept`.
inline tensor_to_write copied_tensor(const tensor_view& view, std::deque<std::string>& kept) {
  kept.push_back(view.file->read(view.offset, static_cast<std::size_t>(view.size)));
  return {view.type, view.shape, kept.back()};
}

}  // namespace troupe::llm
