/* The stages of loading a trace share one line of a terminal. */
#include "cli/load.h"

#include "cli/text.h"

struct stages {
  struct progress progress;
  const char *doing;
};

static void show_stage(const char *doing, double done, void *context) {
  struct stages *stages = context;
  if (stages->doing != doing) {
    if (stages->doing) progress_end(&stages->progress);
    progress_begin(&stages->progress, doing);
    stages->doing = doing;
  }
  progress_show(done, &stages->progress);
}

wn_status load_recording(const char *path, const struct recording_options *options,
                         struct recording **recording) {
  struct stages stages = {.doing = NULL};
  struct recording_options wanted = *options;
  wanted.progress = show_stage;
  wanted.progress_context = &stages;
  wn_status error = recording_load(path, &wanted, recording);
  if (stages.doing) progress_end(&stages.progress);
  return error;
}
/* SPDX-License-Identifier: MIT */
