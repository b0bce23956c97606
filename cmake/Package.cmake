# What `make package` makes: one Debian package of what is installed.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME winnow)
set(CPACK_PACKAGE_VENDOR "The Winnow developers")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "statistical memory profiler, and its libraries for C programs")
set(CPACK_PACKAGE_DESCRIPTION
"Winnow shows which functions of a program allocate memory, how much they
hold at any moment and how long their blocks live, with a 95 % confidence
interval for each number. It samples allocated words at random. Any
dynamically linked program can be profiled without recompiling it.

The package also has the libraries, headers and build files for programs
that profile their own malloc heap (libwinnow-malloc), or that use a
garbage-collected heap which can be profiled (libwinnow).")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "The Winnow developers")
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=") # a version with the same soname may add functions
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/debian.cmake)
include(CPack)
