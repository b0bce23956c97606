# cmake -DINPUT=FILE -DOUTPUT=FILE.c -DNAME=name -P embed.cmake: a C file with the bytes of a file, as the array `name` and
# its length, `name_length`.
file(READ ${INPUT} bytes HEX)
string(LENGTH "${bytes}" length)
math(EXPR length "${length} / 2")
string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "(................................................................................)" "\\1\n" bytes "${bytes}")
get_filename_component(file ${INPUT} NAME)
file(WRITE ${OUTPUT} "/* The bytes of ${file}. Made by cmake/embed.cmake. */
#include <stddef.h>

extern const unsigned char ${NAME}[];
extern const size_t ${NAME}_length;
const unsigned char ${NAME}[] = {
${bytes}
};
const size_t ${NAME}_length = ${length};
")
