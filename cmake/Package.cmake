# What `make package` makes: Debian packages, split as Debian splits such a source. The command preloads libwinnow-malloc.
set(soversion ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}) # of the sonames
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME winnow)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "") # each package has its own
set(CPACK_PACKAGE_VENDOR "The Winnow developers")
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_COMPONENTS_ALL winnow winnow_malloc winnow_heap winnow_dev)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "The Winnow developers <winnow@packages.invalid>") # policy wants an address
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SOURCE winnow)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=") # a version with the same soname may add functions
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/debian.cmake)
set(CPACK_POST_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/debian_fields.cmake)

set(what
"Winnow shows which functions of a program allocate memory, how much they
hold at any moment and how long their blocks live, with a 95 % confidence
interval for each number. It samples allocated words at random.")
# winnow_package(COMPONENT NAME SECTION DEPENDS SUMMARY DESCRIPTION)
macro(winnow_package component name section depends summary description)
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name})
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section})
  set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "${depends}")
  set(CPACK_DEBIAN_${upper}_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_${upper}_DESCRIPTION "${summary}\n${what}\n\n${description}")
endmacro()
set(same "(= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")
winnow_package(winnow winnow devel "libwinnow-malloc${soversion} ${same}" "statistical memory profiler"
"Any dynamically linked program can be profiled without recompiling it.")
set(CPACK_DEBIAN_WINNOW_PACKAGE_SUGGESTS libcurl4) # loaded by `winnow ship` and `winnow fleet`
winnow_package(winnow_malloc libwinnow-malloc${soversion} libs "" "statistical memory profiler - malloc library"
"This package has the library that the command preloads, and that programs
link with which profile their own malloc heap.")
winnow_package(winnow_heap libwinnow${soversion} libs "" "statistical memory profiler - garbage-collected heap"
"This package has a library for programs that use a garbage-collected heap
which can be profiled.")
winnow_package(winnow_dev libwinnow-dev libdevel "libwinnow-malloc${soversion} ${same}, libwinnow${soversion} ${same}"
"statistical memory profiler - development files"
"This package has the headers and build files of both libraries, the heap with
checks of a program's mistakes, static libraries of both heaps, and the
sources of the binding for OCaml.")
include(CPack)
