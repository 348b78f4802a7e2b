# Run by cpack between the installation into a folder of its own and the writing of the packages.
set(installed ${CPACK_TEMPORARY_INSTALL_DIRECTORY})
set(debian ${CPACK_TROUPE_DEBIAN_FOLDER})

function(compress file)
  execute_process(COMMAND gzip -9nf ${file} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

compress(${installed}/command/usr/share/man/man1/troupe.1)
foreach(package command:troupe development:troupe-dev)
  string(REGEX REPLACE "(.*):(.*)" "${installed}/\\1/usr/share" share ${package})
  string(REGEX REPLACE ".*:" "" name ${package})
  file(COPY ${debian}/copyright ${debian}/changelog DESTINATION ${share}/doc/${name}
       FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
  compress(${share}/doc/${name}/changelog)
endforeach()
