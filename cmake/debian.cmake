# CPack runs this before it packs: names and compresses files as Debian's policy wants them.
set(share ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr/share)
file(RENAME ${share}/doc/winnow/LICENSE ${share}/doc/winnow/copyright)
file(RENAME ${share}/doc/winnow/CHANGES.md ${share}/doc/winnow/changelog)
foreach(file man/man1/winnow.1 doc/winnow/changelog)
  execute_process(COMMAND gzip -9n ${share}/${file} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
