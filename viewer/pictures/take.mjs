/* Takes pictures of a page: node take.mjs PAGE.html PREFIX writes PREFIX-light.png and PREFIX-dark.png. */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const [, , file, prefix] = process.argv;
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
for (const colorScheme of ['light', 'dark']) {
  const page = await browser.newPage({ viewport: { width: 1200, height: 860 }, colorScheme, deviceScaleFactor: 1.5 });
  await page.goto(pathToFileURL(resolve(file)).href);
  await page.waitForFunction(() => !document.querySelector('.stale') && document.querySelector('.population'));
  await page.waitForTimeout(1000);
  await page.screenshot({ path: `${prefix}-${colorScheme}.png` });
}
await browser.close();
/* SPDX-License-Identifier: MIT */
