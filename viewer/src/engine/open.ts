/* Opens the source of answers that this page has: the server that it came from, or the engine and the
 * recording in the page itself. */
import workerCode from 'winnow:worker';
import { openEmbedded } from './embedded.ts';
import { openServer } from './server.ts';
import type { Source } from './source.ts';

export const openSource = (): Promise<Source> =>
  document.querySelector('meta[name="winnow-server"]') ? openServer() : openEmbedded(workerCode);
/* SPDX-License-Identifier: MIT */
