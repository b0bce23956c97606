/* The state of the server that answers. */
import { computed, signal } from '@preact/signals-core';
import type { ServerState } from '../engine/source.ts';

/** Null in a page that has its recording in it. */
export const server = signal<ServerState | null>(null);
/** Whether the program still runs, so that the end of the trace is now. */
export const running = computed(() => server.value?.growing === true);
/* SPDX-License-Identifier: MIT */
