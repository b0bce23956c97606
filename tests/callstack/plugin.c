/* A library that is loaded and unloaded by tests: calls back, from code at the same place in both
 * of its builds. */
__attribute__((visibility("default"))) const char *plugin_name(void);
__attribute__((visibility("default"))) int plugin_call(int (*callback)(void *), void *context);

const char *plugin_name(void) { return "plugin " PLUGIN_NUMBER; }

int plugin_call(int (*callback)(void *), void *context) { return callback(context) + 1; }
/* SPDX-License-Identifier: MIT */
