# Writes c_flags.sexp and c_library_flags.sexp: how to compile and link with libwinnow, by pkg-config or by WINNOW_CFLAGS and WINNOW_LIBS.
set -eu
echo "(${WINNOW_CFLAGS-$(pkg-config --cflags winnow)})" >c_flags.sexp
echo "(${WINNOW_LIBS-$(pkg-config --libs winnow)})" >c_library_flags.sexp
