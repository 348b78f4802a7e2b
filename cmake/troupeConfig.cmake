# find_package(troupe) gives troupe::runtime, troupe::actors and troupe::algorithms, each linking the one
# before. A program needs C++20 and a compiler that gets coroutines right: clang-16 or newer.
include("${CMAKE_CURRENT_LIST_DIR}/Dependencies.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/troupeTargets.cmake")
