# CPack runs this before it packs: names and compresses files as Debian's policy wants them.
set(usr ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr)
file(RENAME ${usr}/share/doc/winnow/LICENSE ${usr}/share/doc/winnow/copyright)
file(RENAME ${usr}/share/doc/winnow/CHANGES.md ${usr}/share/doc/winnow/changelog)
foreach(file man/man1/winnow.1 doc/winnow/changelog)
  execute_process(COMMAND gzip -9n ${usr}/share/${file} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
# Whatever the umask is, all users may enter the folders.
file(CHMOD_RECURSE ${usr} DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
