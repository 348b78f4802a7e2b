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
  set(CMAKE_CXX_COMPILER_LAUNCHER ${PROJECT_SOURCE_DIR}/cmake/compile.sh ${PROJECT_SOURCE_DIR} ${CCACHE})
endif()

find_program(LLD NAMES ld.lld-19 ld.lld)
if(LLD)
  add_link_options(--ld-path=${LLD})
endif()

# Processes that talk to each other compare the builds of their executables.
add_link_options(-Wl,--build-id)

# C++20, the include root, and for Troupe's own targets alone the warnings: who links an installed
# Troupe has flags of their own.
add_library(troupe_options INTERFACE)
target_compile_features(troupe_options INTERFACE cxx_std_20)
target_include_directories(troupe_options INTERFACE "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>")
set(lenient "$<NOT:$<BOOL:$<TARGET_PROPERTY:TROUPE_EVERY_WARNING>>>")  # the examples have it
target_compile_options(troupe_options INTERFACE "$<BUILD_INTERFACE:-Wall;-Wextra>"
                                                "$<BUILD_INTERFACE:$<${lenient}:-Wno-unused-parameter>>"
                                                "$<BUILD_INTERFACE:$<${lenient}:-Wno-missing-field-initializers>>")
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  target_compile_options(troupe_options INTERFACE "$<BUILD_INTERFACE:SHELL:-Xclang -fno-pch-timestamp>")
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

include(CoroutineCheck)
troupe_check_compiler()
if(TROUPE_COMPILER_FAULT)
  message(FATAL_ERROR "${TROUPE_COMPILER_FAULT}")
endif()
