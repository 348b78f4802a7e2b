#pragma once
// Pointers in messages between simulated processes, which are all in this one.

#include <cstdint>

#include "runtime/wire/codec.hpp"

namespace troupe::simulation {

/// The codec of a pointer; the object must outlive the messages. wire_codec<T*> derives from it.
template <class T>
struct local_pointer_codec {
  static std::size_t size(T*) { return sizeof(std::uintptr_t); }
  static void write(T* to, wire_writer& out) { out.write(reinterpret_cast<std::uintptr_t>(to)); }
  static T* read(wire_reader& from) { return reinterpret_cast<T*>(from.read<std::uintptr_t>()); }
};

}  // namespace troupe::simulation
