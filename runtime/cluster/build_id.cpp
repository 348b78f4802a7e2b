#include "runtime/cluster/build_id.hpp"

#include <link.h>

#include <cstring>
#include <span>

#include "runtime/base/hexadecimal.hpp"

namespace troupe::detail {

namespace {

constexpr std::size_t padded(std::size_t size) { return (size + 3) & ~std::size_t{3}; }

/// Finds the build id among notes in the layout of elf(5); empty if there is none.
std::string find_build_id(std::span<const std::byte> notes) {
  ElfW(Nhdr) header;
  while (notes.size() >= sizeof header) {
    std::memcpy(&header, notes.data(), sizeof header);
    const auto name_at = sizeof header;
    const auto text_at = name_at + padded(header.n_namesz);
    const auto end = text_at + padded(header.n_descsz);
    if (end > notes.size()) break;
    if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 &&
        std::memcmp(notes.data() + name_at, "GNU", 4) == 0) {
      return hexadecimal(notes.subspan(text_at, header.n_descsz));
    }
    notes = notes.subspan(end);
  }
  return {};
}

/// Reads the id of the first object that the loader has, which is the executable.
int look_at(dl_phdr_info* object, std::size_t, void* found) {
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    const auto* const at = reinterpret_cast<const std::byte*>(object->dlpi_addr + segment.p_vaddr);
    auto& text = *static_cast<std::string*>(found);
    text = find_build_id({at, segment.p_memsz});
    if (!text.empty()) return 1;
  }
  return 1;
}

}  // namespace

const std::string& build_id() {
  static const std::string id = [] {
    std::string found;
    dl_iterate_phdr(look_at, &found);
    return found.empty() ? "unknown" : found;
  }();
  return id;
}

}  // namespace troupe::detail
