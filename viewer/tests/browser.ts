/* The browser of the tests: CHROMIUM names it. Without windows Chromium is another program, which opens a page with a third
 * of the work. */
import { existsSync } from 'node:fs';

const known = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];
export const executablePath = process.env['CHROMIUM'] ?? known.find((path) => existsSync(path)) ?? 'chromium';
/* SPDX-License-Identifier: MIT */
