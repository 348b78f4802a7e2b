# troupe_check_compiler() sets TROUPE_COMPILER_FAULT to what is wrong with the C++ compiler, empty where
# nothing is. g++ 12 miscompiles everyday co_await expressions (double destruction, silent hangs), so a
# small known-bad program is run; g++ 14 passes. Troupe's own build asks, and so does
# find_package(troupe).
set(TROUPE_COROUTINE_PROGRAM ${CMAKE_CURRENT_LIST_DIR}/coroutine_check.cpp)

function(troupe_check_compiler)
  set(TROUPE_COMPILER_FAULT "" PARENT_SCOPE)
  set(compiler "${CMAKE_CXX_COMPILER} (${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION})")
  if("${TROUPE_COROUTINES_WORK}" STREQUAL compiler OR CMAKE_CROSSCOMPILING)
    return()
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 16)
    set(fault "is older than clang 16, the first that compiles Troupe's headers.")
  else()
    try_run(run_status compile_status ${CMAKE_BINARY_DIR}/coroutine_check ${TROUPE_COROUTINE_PROGRAM}
            COMPILE_DEFINITIONS -std=c++20
            COMPILE_OUTPUT_VARIABLE compile_output)
    if(NOT compile_status)
      set(fault "does not compile coroutine_check.cpp:\n${compile_output}\n")
    elseif(NOT run_status EQUAL 0)
      set(fault "compiles coroutines wrongly: coroutine_check.cpp destroyed an object twice or did not finish.")
    endif()
    unset(run_status CACHE)
    unset(compile_status CACHE)
  endif()
  if(NOT fault)
    set(TROUPE_COROUTINES_WORK "${compiler}" CACHE INTERNAL "the compiler that coroutine_check.cpp ran with")
    return()
  endif()
  set(remedy "Install clang-19 (apt-get install clang-19) and configure with -DCMAKE_CXX_COMPILER=clang++-19.")
  set(TROUPE_COMPILER_FAULT "${compiler} ${fault} ${remedy}" PARENT_SCOPE)
endfunction()
