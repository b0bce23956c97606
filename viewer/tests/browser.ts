/* The browser of the tests: CHROMIUM names it. Without windows Chromium is another program, which opens a page with a third
 * of the work. */
import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const known = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];
const executablePath = process.env['CHROMIUM'] ?? known.find((path) => existsSync(path)) ?? 'chromium';

/** The engine is compiled once, quickly: no page of a test lives long enough for a better compilation. */
export const launch = (): Promise<Browser> => chromium.launch({ executablePath, args: ['--no-sandbox', '--js-flags=--liftoff-only'] });
/* SPDX-License-Identifier: MIT */
