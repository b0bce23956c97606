/* What runtimes call the functions that they made, taken apart. */
#pragma once

#include "callstack/capture.h"

/* The place of a name, whose text is changed and is where the place's texts are.
 *
 * V8: "JS:*serve /srv/app.js:12:7" is the function `serve` in line 12 of /srv/app.js; the sign
 * before it tells how it was compiled, and does not make another function of it. Without a name it
 * is "<anonymous>". OpenJDK: "int A.handle(int)" is A.handle(int). LuaJIT: "TRACE_12::app.lua:7" is
 * TRACE_12, which begins in line 7 of app.lua. Other names stay as they are. */
struct callstack_place code_name_place(char *name);
/* SPDX-License-Identifier: MIT */
