/* The browser of the tests: CHROMIUM names it. Without windows Chromium is another program, which opens a page with a third
 * of the work. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser } from 'playwright-core';

/* An import would search its megabytes for names of exports, which takes longer than a page. */
const { chromium } = createRequire(import.meta.url)('playwright-core') as typeof import('playwright-core');

const known = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];
const executablePath = process.env['CHROMIUM'] ?? known.find((path) => existsSync(path)) ?? 'chromium';

/** The engine is compiled once, quickly: no page of a test lives long enough for a better compilation. */
export const launch = (): Promise<Browser> => chromium.launch({ executablePath, args: ['--no-sandbox', '--js-flags=--liftoff-only'] });
/* SPDX-License-Identifier: MIT */
