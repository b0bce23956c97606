/* Whether a record of a block stays, once all records of the block are known, and before the number
 * of halvings is chosen (shares.h). A record for which `until` halvings are enough stays after so
 * many halvings or fewer. For the records of a block that died the octave of its age counts as so
 * many halvings more. */
#pragma once

#include <stdint.h>

struct survival {
  uint16_t octave : 5; /* of the age at which the block died, or one of the SURVIVAL_... below */
  uint16_t before : 5; /* of a resize: the `until` of the record before it, of the same block */
  uint16_t until : 5;
};

enum {
  SURVIVAL_ALIVE = 31,    /* the block did not die: the halvings are those of the living */
  SURVIVAL_LEFT_OUT = 30, /* it stays out, whatever is chosen */
  SURVIVAL_WHOLE = 29,    /* it stays as it is */
  SURVIVAL_OCTAVES = 32
};
/* SPDX-License-Identifier: MIT */
