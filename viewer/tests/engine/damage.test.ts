/* Pages that were cut or damaged: either they can be asked, or a text says what is wrong; never anything else.
 * WINNOW_SOAK=1 tries 10,000 of them. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { decodeAnswer, requestText } from '../../src/engine/answers.ts';
import { answersOf, type Block, FIRST, sectionsOf } from '../../src/engine/container.ts';
import { type Engine } from '../../src/engine/engine.ts';
import { engineIn, inFolder, makePage, type Section, sectionsIn, without } from './page.ts';

const ROUNDS = process.env['WINNOW_SOAK'] ? 10_000 : 300;
const VIEWS = ['head', 'totals', 'flame', 'time', 'table', 'kinds'] as const;

/** Numbers that are the same in each run. */
function drawing(seed: number): (below: number) => number {
  let state = seed;
  return (below) => (state = (state * 48271) % 2147483647) % below;
}

function askAll(engine: Engine): void {
  for (const view of VIEWS) decodeAnswer(engine.ask(requestText({ view })));
  decodeAnswer(engine.ask(requestText({ view: 'source', of: 'main' })));
  decodeAnswer(engine.ask(requestText({ view: 'details', of: 'main' })));
}

/** Opens the sections. True: they could be asked; false: they were refused with a text for people. */
function opens(engine: Engine, sections: Section[]): boolean {
  try {
    engine.open(sections);
    askAll(engine);
    return true;
  } catch (error) {
    assert.ok(error instanceof Error && !(error instanceof WebAssembly.RuntimeError), String(error));
    assert.match(error.message, /^section [A-Z]{4}: .|not enough memory/);
    return false;
  }
}

test(`${ROUNDS} recordings with damaged sections are refused with a name, or read`, { skip: without }, async () => {
  const draw = drawing(1);
  let [read, refused] = [0, 0];
  for (const kind of ['collected', 'named', 'plain'])
    await inFolder(async (folder) => {
      const html = readFileSync(makePage(folder, [kind], kind === 'named' ? ['--source'] : []).page, 'utf8');
      const sections = sectionsIn(html).filter((section) => !FIRST.includes(section.name));
      for (let round = 0; round < ROUNDS / 3; round++) {
        const damaged = sections.map(({ name, bytes }) => ({ name, bytes: bytes.slice() }));
        for (let times = 1 + draw(3); times > 0; times--) {
          const victim = damaged[draw(damaged.length)]!;
          if (draw(4)) victim.bytes[draw(victim.bytes.length || 1)] = draw(256);
          else victim.bytes = victim.bytes.slice(0, draw(victim.bytes.length + 1));
        }
        if (opens(await engineIn(html), damaged)) read++;
        else refused++;
      }
    });
  assert.ok(read > ROUNDS / 50 && refused > ROUNDS / 10, `${read} were read, ${refused} refused`);
});

/* As a browser finds the elements in a file, whatever the file is. */
function blocksIn(html: string): Block[] {
  const blocks: Block[] = [];
  for (const [, attributes, text] of html.matchAll(/<script type="application\/octet-stream"([^>]* data-section=[^>]*)>([^<]*)(?:<\/script>|$)/g)) {
    const value = (name: string) => new RegExp(` data-${name}="([^"]*)"`).exec(attributes!)?.[1] ?? '';
    blocks.push({
      run: '',
      section: value('section'),
      index: Number(value('block')),
      raw: Number(value('raw')),
      deflated: value('codec') === 'deflate-raw',
      crc: parseInt(value('crc'), 16),
      base64: text!,
    });
  }
  return blocks;
}

/** A file that was cut, or in which some characters of the data are others. */
function damage(html: string, draw: (below: number) => number): string {
  const begin = html.indexOf('<script type="application/octet-stream" data-section=');
  const at = () => begin + draw(html.length - begin);
  if (draw(3) === 0) return html.slice(0, at());
  let damaged = html;
  for (let times = 1 + draw(4); times > 0; times--) {
    const place = at();
    damaged = damaged.slice(0, place) + String.fromCharCode(32 + draw(95)) + damaged.slice(place + draw(3));
  }
  return damaged;
}

async function readPage(html: string, original: string): Promise<boolean> {
  let sections: Section[];
  try {
    sections = await sectionsOf(blocksIn(html));
    const answers = answersOf(sections.filter((section) => FIRST.includes(section.name)));
    for (const bytes of answers.values()) decodeAnswer(bytes);
  } catch (error) {
    assert.match((error as Error).message, /^the page is damaged: /);
    return false;
  }
  return opens(await engineIn(original), sections.filter((section) => !FIRST.includes(section.name)));
}

/* Node 18 has no such stream; browsers have. */
function cannotInflate(): string | false {
  try {
    return new DecompressionStream('deflate-raw') ? false : '';
  } catch {
    return 'this Node cannot inflate as a browser does';
  }
}

test(`${ROUNDS} files that were cut or changed are read, or name the damage`, { skip: without || cannotInflate() }, () =>
  inFolder(async (folder) => {
    const html = readFileSync(makePage(folder, ['named']).page, 'utf8');
    const draw = drawing(2);
    let read = 0;
    for (let round = 0; round < ROUNDS; round++) if (await readPage(damage(html, draw), html)) read++;
    assert.ok(read < ROUNDS / 2, `${read} were read`);
    assert.ok(await readPage(html, html));
  }));
/* SPDX-License-Identifier: MIT */
