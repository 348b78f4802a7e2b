# Debian's libtorch asks for OpenCV and FFmpeg and calls nothing of them. With what they ask for in turn these are 190
# libraries, and 0.2 s of the start of a program. So our own programs find empty libraries of the same names first, if
# the loader misses no symbol of libtorch's with them.
set(unused_libraries ${CMAKE_BINARY_DIR}/deploy/libexec/troupe/unused)

find_library(TORCH_CPU_LIBRARY torch_cpu HINTS ${TORCH_INSTALL_PREFIX}/lib)
if(TORCH_CPU_LIBRARY AND CMAKE_OBJDUMP AND NOT TROUPE_SANITIZE)
  execute_process(COMMAND ${CMAKE_OBJDUMP} -p ${TORCH_CPU_LIBRARY} OUTPUT_VARIABLE headers)
  string(REGEX MATCHALL "lib(opencv_|av|sw)[a-z0-9_]+\\.so[.0-9]*" names "${headers}")
  file(REMOVE_RECURSE ${unused_libraries})
  file(MAKE_DIRECTORY ${unused_libraries})
  foreach(name ${names})
    execute_process(COMMAND ${CMAKE_CXX_COMPILER} -shared -nostdlib -Wl,-soname,${name} -x c++ /dev/null
                            -o ${unused_libraries}/${name} COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
  execute_process(COMMAND ${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${unused_libraries} ldd -r ${TORCH_CPU_LIBRARY}
                  OUTPUT_VARIABLE loaded ERROR_VARIABLE missed RESULT_VARIABLE status)
  if(names AND status EQUAL 0 AND NOT "${loaded}${missed}" MATCHES "undefined symbol")
    set(TROUPE_UNUSED_LIBRARIES ${unused_libraries})
  endif()
endif()

# The programs of this folder, and of those below it, are not installed and look there.
macro(leave_out_unused_libraries)
  if(TROUPE_UNUSED_LIBRARIES)
    # DT_RPATH holds for what libraries ask for, too; its successor DT_RUNPATH doesn't.
    add_link_options(-Wl,--disable-new-dtags -Wl,-rpath,${TROUPE_UNUSED_LIBRARIES})
  endif()
endmacro()
