/* The state of the server that answers. */
import { signal } from '@preact/signals-core';
import type { ServerState } from '../engine/source.ts';

/** Null in a page that has its recording in it. */
export const server = signal<ServerState | null>(null);
/** Whether the program still ran when what is shown was read, so that the end of the trace is now. */
export const running = signal(false);
/* SPDX-License-Identifier: MIT */
