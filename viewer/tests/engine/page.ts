/* Pages and answers of the command, for tests of the engine. WINNOW_BUILD is the build with the
 * programs; the tests are skipped without it. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inflateRawSync } from 'node:zlib';
import { FIRST } from '../../src/engine/container.ts';
import { Engine } from '../../src/engine/engine.ts';

export const built = process.env['WINNOW_BUILD'] ?? '';
export const without = built ? false : 'WINNOW_BUILD does not name a build of Winnow';

export const program = (path: string) => join(built, path);

/** Calls with a folder that is removed afterwards. */
export async function inFolder<T>(use: (folder: string) => T | Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'winnow-'));
  try {
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Writes a trace of a kind of tests/cli/make_trace, and its page. */
export function makePage(folder: string, kind: string[], options: string[] = []): { trace: string; page: string } {
  const trace = join(folder, 'a.trace');
  const page = join(folder, 'a.html');
  execFileSync(program('tests/cli/make_trace'), [...kind, trace]);
  execFileSync(program('src/cli/winnow'), ['html', ...options, '-o', page, trace], { stdio: 'pipe' });
  return { trace, page };
}

/** Writes two traces and the page that compares them. */
export function makeComparison(folder: string, before: string[], after: string[]): string {
  const page = join(folder, 'compared.html');
  const traces = [before, after].map((kind, index) => {
    const trace = join(folder, `${index}.trace`);
    execFileSync(program('tests/cli/make_trace'), [...kind, trace]);
    return trace;
  });
  execFileSync(program('src/cli/winnow'), ['html', '-o', page, ...traces], { stdio: 'pipe' });
  return page;
}

/** What the command answers; of a comparison if there is a trace before. */
export function nativeAnswers(trace: string, requests: string[], before?: string): ArrayBuffer[] {
  const { stdout, status, stderr } = spawnSync(program('tests/page/page_ask'), before === undefined ? [trace] : [trace, before], {
    input: requests.map((request) => `${request}\n`).join(''),
    maxBuffer: 1 << 30,
  });
  if (status !== 0) throw new Error(String(stderr));
  const answers: ArrayBuffer[] = [];
  for (let at = 0; at < stdout.length; ) {
    const length = stdout.readUInt32LE(at);
    answers.push(new Uint8Array(stdout.subarray(at + 4, at + 4 + length)).buffer);
    at += 4 + length;
  }
  return answers;
}

export interface Section {
  /** Empty: the page's own recording; "before". */
  run: string;
  name: string;
  bytes: Uint8Array;
}

/** The sections in a page. */
export function sectionsIn(html: string): Section[] {
  const sections = new Map<string, Uint8Array[]>();
  const block = /<script type="application\/octet-stream" data-section="(\w+)"[^>]*data-codec="([\w-]+)" data-crc="\w+"(?: data-run="(\w+)")?>([^<]*)</g;
  for (const [, name, codec, run = '', base64] of html.matchAll(block)) {
    const stored = Buffer.from(base64!, 'base64');
    const key = `${run} ${name}`;
    const parts = sections.get(key) ?? [];
    parts.push(codec === 'raw' ? stored : inflateRawSync(stored));
    sections.set(key, parts);
  }
  return [...sections].map(([key, parts]) => {
    const [run = '', name = ''] = key.split(' ');
    return { run, name, bytes: new Uint8Array(Buffer.concat(parts)) };
  });
}

/** The engine that a page has in it. */
export async function engineIn(html: string): Promise<Engine> {
  const [, base64] = html.match(/<script[^>]* id="engine"[^>]*>([^<]*)</) ?? [];
  return Engine.start(inflateRawSync(Buffer.from(base64!, 'base64')));
}

/** The engine of a page, with its recording open. */
export async function openPage(path: string): Promise<Engine> {
  const html = readFileSync(path, 'utf8');
  const engine = await engineIn(html);
  const sections = sectionsIn(html).filter((section) => !FIRST.includes(section.name));
  engine.open(
    sections.filter((section) => section.run === ''),
    sections.filter((section) => section.run === 'before'),
  );
  return engine;
}
/* SPDX-License-Identifier: MIT */
