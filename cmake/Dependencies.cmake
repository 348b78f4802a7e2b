# Every outside library that Troupe's own link, found once; find_package(troupe) finds them the same way.
# The names of their packages, on Debian 12 and 13, stand in deploy/packages.txt.

# The folder of a current libtorch has headers of fmt and Protobuf, too, which are not those of the system's libraries.
# So nothing but libtorch is looked for in it.
foreach(folder ${CMAKE_PREFIX_PATH})
  if(EXISTS ${folder}/share/cmake/Torch/TorchConfig.cmake)
    set(Torch_DIR ${folder}/share/cmake/Torch CACHE PATH "the folder of TorchConfig.cmake" FORCE)
    list(REMOVE_ITEM CMAKE_PREFIX_PATH ${folder})
  endif()
endforeach()

find_package(Threads REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(spdlog REQUIRED)
find_package(fmt REQUIRED)
find_package(CLI11 REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(prometheus-cpp REQUIRED COMPONENTS core)
find_package(Boost 1.74 REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(Protobuf REQUIRED)
find_package(box2d REQUIRED)

# Debian's CAF ships no CMake package.
find_library(CAF_CORE_LIBRARY caf_core REQUIRED)
find_path(CAF_INCLUDE_DIR caf/actor_system.hpp REQUIRED)
if(NOT TARGET caf_core)
  add_library(caf_core INTERFACE IMPORTED)
  target_link_libraries(caf_core INTERFACE ${CAF_CORE_LIBRARY})
  target_include_directories(caf_core SYSTEM INTERFACE ${CAF_INCLUDE_DIR})
  if(TARGET troupe_options)  # in Troupe's own build
    target_compile_options(caf_core INTERFACE -Wno-deprecated-declarations)
  endif()
endif()

# Nor does its RE2.
find_path(RE2_INCLUDE_DIR re2/re2.h REQUIRED)
find_library(RE2_LIBRARY re2 REQUIRED)
if(NOT TARGET re2)
  add_library(re2 INTERFACE IMPORTED)
  target_link_libraries(re2 INTERFACE ${RE2_LIBRARY})
  target_include_directories(re2 SYSTEM INTERFACE ${RE2_INCLUDE_DIR})
endif()

# Nor do PCRE2 and utf8proc, which cut texts into tokens, cairo and giflib, which make pictures, and libseccomp, which
# filters the system calls of programs in sandboxes.
set(troupe_libraries pcre2 utf8proc cairo gif seccomp)
set(troupe_headers pcre2.h utf8proc.h cairo.h gif_lib.h seccomp.h)
foreach(name header IN ZIP_LISTS troupe_libraries troupe_headers)
  string(TOUPPER ${name} NAME)
  find_path(${NAME}_INCLUDE_DIR ${header} PATH_SUFFIXES ${name} REQUIRED)
  find_library(${NAME}_LIBRARY NAMES ${name}-8 ${name} REQUIRED)
  if(NOT TARGET ${name})
    add_library(${name} INTERFACE IMPORTED)
    target_link_libraries(${name} INTERFACE ${${NAME}_LIBRARY})
    target_include_directories(${name} SYSTEM INTERFACE ${${NAME}_INCLUDE_DIR})
  endif()
endforeach()

# The checksums of links, whose functions are in the header.
find_path(XXHASH_INCLUDE_DIR xxhash.h REQUIRED)
if(NOT TARGET xxhash)
  add_library(xxhash INTERFACE IMPORTED)
  target_include_directories(xxhash SYSTEM INTERFACE ${XXHASH_INCLUDE_DIR})
endif()

# libtorch: Debian's (1.13 on Debian 12, 2.6 on 13), or a current one, whose folder CMAKE_PREFIX_PATH names.
if(Torch_DIR)
  get_filename_component(torch_folder ${Torch_DIR}/../../.. ABSOLUTE)
  list(PREPEND CMAKE_PREFIX_PATH ${torch_folder})  # Its package looks for the libraries and for Caffe2 there.
endif()
find_package(Torch QUIET)
if(NOT Torch_FOUND)
  message(FATAL_ERROR "libtorch was not found: apt-get install libtorch-dev, or give the folder of "
                      "another libtorch with -DCMAKE_PREFIX_PATH=DIR")
endif()

# The compiler finds the system's fmt and Protobuf before those beside libtorch's headers: a file that is compiled with
# the headers of one version does not link with the library of another.
if(EXISTS ${TORCH_INSTALL_PREFIX}/include/fmt AND NOT TORCH_INSTALL_PREFIX STREQUAL "/usr")
  set(system_headers ${CMAKE_BINARY_DIR}/system_headers)
  file(MAKE_DIRECTORY ${system_headers})
  get_target_property(fmt_folder fmt::fmt INTERFACE_INCLUDE_DIRECTORIES)
  file(CREATE_LINK ${fmt_folder}/fmt ${system_headers}/fmt SYMBOLIC)
  file(CREATE_LINK ${Protobuf_INCLUDE_DIRS}/google ${system_headers}/google SYMBOLIC)
  get_target_property(torch_folders torch INTERFACE_INCLUDE_DIRECTORIES)
  set_target_properties(torch PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${system_headers};${torch_folders}")
endif()
