# How every file is compiled: C++20, warnings, ccache, sanitizers.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_CXX_FLAGS_DEBUG "-Og -g1")
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

find_program(CCACHE ccache)
if(CCACHE)
  # A precompiled header is cached too: its time stamp is left out, see the ccache manual.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      ${CCACHE})
endif()

find_program(LLD NAMES ld.lld-19 ld.lld)
if(LLD)
  add_link_options(--ld-path=${LLD})
endif()

# Warnings, the include root and sanitizers of every target of Troupe's.
add_library(troupe_options INTERFACE)
target_include_directories(troupe_options INTERFACE "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>")
target_compile_options(troupe_options INTERFACE -Wall -Wextra -Wno-unused-parameter
                                                -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  target_compile_options(troupe_options INTERFACE "SHELL:-Xclang -fno-pch-timestamp")
endif()

set(TROUPE_SANITIZE "" CACHE STRING "address or thread: build with that sanitizer")
if(TROUPE_SANITIZE STREQUAL "address")
  # CAF 0.17.6's headers bind null references: no null check there.
  add_compile_options(-fsanitize=address,undefined -fno-sanitize=null,vptr -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
elseif(TROUPE_SANITIZE STREQUAL "thread")
  add_compile_options(-fsanitize=thread -fno-omit-frame-pointer)
  add_link_options(-fsanitize=thread)
elseif(TROUPE_SANITIZE)
  message(FATAL_ERROR "TROUPE_SANITIZE is '${TROUPE_SANITIZE}': expected address or thread")
endif()

# g++ 12 miscompiles everyday co_await expressions (double destruction, silent hangs), so a small
# known-bad program is run, and a compiler that gets it wrong is refused.
if(NOT DEFINED TROUPE_COROUTINES_WORK)
  try_run(run_status compile_status ${CMAKE_BINARY_DIR}/coroutine_check
          ${CMAKE_CURRENT_LIST_DIR}/coroutine_check.cpp
          COMPILE_DEFINITIONS -std=c++20
          COMPILE_OUTPUT_VARIABLE compile_output)
  set(compiler "${CMAKE_CXX_COMPILER} (${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION})")
  set(remedy "Install clang-19 (apt-get install clang-19) and configure with "
             "-DCMAKE_CXX_COMPILER=clang++-19.")
  if(NOT compile_status)
    message(FATAL_ERROR "${compiler} does not compile cmake/coroutine_check.cpp. " ${remedy}
            "\n${compile_output}")
  elseif(NOT run_status EQUAL 0)
    message(FATAL_ERROR "${compiler} compiles coroutines wrongly: cmake/coroutine_check.cpp "
            "destroyed an object twice or did not finish. " ${remedy})
  endif()
  set(TROUPE_COROUTINES_WORK TRUE CACHE INTERNAL "cmake/coroutine_check.cpp ran correctly")
endif()
