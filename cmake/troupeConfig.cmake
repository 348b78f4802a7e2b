# find_package(troupe) gives troupe::runtime, troupe::actors and troupe::algorithms, each linking the one
# before, troupe::program for troupe::main, and troupe::sft and troupe::grpo for language models. A program is
# compiled as C++20, by a compiler that gets coroutines right; another one is refused here, as its programs would be destroyed twice or hang.
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
