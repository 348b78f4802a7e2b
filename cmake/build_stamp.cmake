# Writes runtime/base/build_stamp.cpp: cmake -DVERSION=V -DROOT=DIR -DLIST=FILE -DOUTPUT=FILE -P build_stamp.cmake.
# LIST has the paths of the sources that are hashed, one a line, relative to ROOT.
file(STRINGS ${LIST} sources)
set(hashes "")
foreach(source ${sources})
  file(SHA256 ${ROOT}/${source} hash)
  string(APPEND hashes "${source} ${hash}\n")
endforeach()
string(SHA256 hash "${hashes}")
string(SUBSTRING ${hash} 0 16 hash)
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [[
#include "runtime/base/build_stamp.hpp"

namespace troupe::detail {

const std::string& build_stamp() {
  static const std::string stamp = "@VERSION@-@hash@";
  return stamp;
}

}  // namespace troupe::detail
]])
