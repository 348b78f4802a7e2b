# find_package(troupe) gives the libraries that docs/guides/installation.md lists. A program is compiled as C++20, by a
# compiler that gets coroutines right; another one is refused here, as its programs would be destroyed twice or hang.
# Without a CMAKE_BUILD_TYPE it is a Release build, as Troupe's own.
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  message(STATUS "troupe: CMAKE_BUILD_TYPE was not given: expected one, took Release")
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo or MinSizeRel" FORCE)
endif()

include("${CMAKE_CURRENT_LIST_DIR}/CoroutineCheck.cmake")
troupe_check_compiler()
if(TROUPE_COMPILER_FAULT)
  set(troupe_FOUND FALSE)
  set(troupe_NOT_FOUND_MESSAGE "${TROUPE_COMPILER_FAULT}")
  return()
endif()
# A program takes the libtorch that Troupe was built with, unless it names another one.
if(NOT Torch_DIR AND EXISTS "@Torch_DIR@")
  set(Torch_DIR "@Torch_DIR@")
endif()
include("${CMAKE_CURRENT_LIST_DIR}/Dependencies.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/troupeTargets.cmake")

# Programs know where Troupe is, which has more programs and files for them.
get_filename_component(TROUPE_PREFIX "${CMAKE_CURRENT_LIST_DIR}/@prefix_from_package@" ABSOLUTE)
configure_file("${CMAKE_CURRENT_LIST_DIR}/found_prefix.cpp.in" "${CMAKE_BINARY_DIR}/troupe_found_prefix.cpp" @ONLY)
set_property(TARGET troupe::runtime APPEND PROPERTY INTERFACE_SOURCES "${CMAKE_BINARY_DIR}/troupe_found_prefix.cpp")
include("${CMAKE_CURRENT_LIST_DIR}/Plugin.cmake")

# troupe_leave_out_unused_libraries(TARGET): the program starts without the libraries that libtorch asks for and
# calls nothing of (OpenCV, FFmpeg). Not for a program that uses one of these itself. Where there are none, it
# changes nothing.
set(TROUPE_UNUSED_LIBRARIES "${TROUPE_PREFIX}/@CMAKE_INSTALL_LIBEXECDIR@/troupe/unused")
function(troupe_leave_out_unused_libraries target)
  if(EXISTS "${TROUPE_UNUSED_LIBRARIES}")
    # DT_RPATH holds for what libraries ask for, too; its successor DT_RUNPATH doesn't.
    target_link_options(${target} PRIVATE -Wl,--disable-new-dtags "-Wl,-rpath,${TROUPE_UNUSED_LIBRARIES}")
  endif()
endfunction()
