# CPack runs this before it packs: names and compresses files as Debian's policy wants them.
set(folder ${CPACK_TEMPORARY_INSTALL_DIRECTORY})
set(sources ${folder}/winnow/usr/share/doc/winnow)
file(RENAME ${sources}/LICENSE ${folder}/copyright)
file(RENAME ${sources}/CHANGES.md ${folder}/changelog)
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC) # that of SOURCE_DATE_EPOCH, if it is set
file(STRINGS ${folder}/changelog release REGEX "^## " LIMIT_COUNT 1 ENCODING UTF-8)
if(release MATCHES "[0-9]+-[0-9]+-[0-9]+$") # a release has its day
  execute_process(COMMAND date -u -R -d ${CMAKE_MATCH_0} OUTPUT_VARIABLE date OUTPUT_STRIP_TRAILING_WHITESPACE
    COMMAND_ERROR_IS_FATAL ANY)
endif()
file(WRITE ${folder}/changelog.Debian
"winnow (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium

  * Version ${CPACK_PACKAGE_VERSION}; changelog.gz has its changes.

 -- ${CPACK_DEBIAN_PACKAGE_MAINTAINER}  ${date}
")
execute_process(COMMAND gzip -9n ${folder}/winnow/usr/share/man/man1/winnow.1 ${folder}/changelog ${folder}/changelog.Debian
  COMMAND_ERROR_IS_FATAL ANY)
foreach(component ${CPACK_COMPONENTS_ALL})
  string(TOUPPER ${component} upper)
  file(COPY ${folder}/copyright ${folder}/changelog.gz ${folder}/changelog.Debian.gz
    DESTINATION ${folder}/${component}/usr/share/doc/${CPACK_DEBIAN_${upper}_PACKAGE_NAME}
    FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
endforeach()
file(REMOVE ${folder}/copyright ${folder}/changelog.gz ${folder}/changelog.Debian.gz)
# Whatever the umask is, all users may enter the folders.
execute_process(COMMAND find ${folder} -type d -exec chmod 755 {} + COMMAND_ERROR_IS_FATAL ANY)
