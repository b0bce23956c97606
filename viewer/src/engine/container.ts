/* Blocks of the container (src/page/container.h) as the page has them, made into sections. */

export interface Block {
  /** The recording that it is of; empty: the page's own. */
  run: string;
  section: string;
  /** Within its section, from 0 on. */
  index: number;
  /** Length before it was deflated. */
  raw: number;
  deflated: boolean;
  crc: number;
  base64: string;
}

/** The blocks that the page's script elements hold, in the order of the file. */
export function blocksOf(elements: Iterable<HTMLScriptElement>): Block[] {
  return Array.from(elements, (element) => ({
    run: element.dataset.run ?? '',
    section: element.dataset.section ?? '',
    index: Number(element.dataset.block),
    raw: Number(element.dataset.raw),
    deflated: element.dataset.codec === 'deflate-raw',
    crc: parseInt(element.dataset.crc ?? '', 16),
    base64: element.textContent ?? '',
  }));
}

export function bytesOfBase64(text: string): Uint8Array<ArrayBuffer> {
  const native = Uint8Array as unknown as { fromBase64?: (text: string) => Uint8Array<ArrayBuffer> };
  if (native.fromBase64) return native.fromBase64(text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

function joined(parts: Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** Waits for nothing outside of this thread, as the stream of a blob does: while a browser parses a large page, it
 *  comes back to such a wait only after many ms. */
export async function inflate(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const { readable, writable } = new DecompressionStream('deflate-raw');
  const writer = writable.getWriter();
  const written = Promise.all([writer.write(bytes), writer.close()]);
  const reader = readable.getReader();
  const parts: Uint8Array[] = [];
  const read = async () => {
    for (let part; !(part = await reader.read()).done; ) parts.push(part.value);
  };
  await Promise.all([written, read()]);
  return joined(parts);
}

const crcTable = new Uint32Array(256).map((_, byte) => {
  for (let bit = 0; bit < 8; bit++) byte = byte & 1 ? 0xedb88320 ^ (byte >>> 1) : byte >>> 1;
  return byte;
});

/** The CRC-32 of zlib and gzip. */
export function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (let i = 0; i < bytes.length; i++) crc = crcTable[(crc ^ bytes[i]!) & 0xff]! ^ (crc >>> 8);
  return ~crc >>> 0;
}

async function bytesOf(block: Block): Promise<Uint8Array> {
  const where = `the page is damaged: block ${block.index} of section ${block.section}`;
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    bytes = bytesOfBase64(block.base64.trim());
    if (block.deflated) bytes = await inflate(bytes);
  } catch {
    throw new Error(`${where} cannot be read`);
  }
  if (bytes.length !== block.raw || crc32(bytes) !== block.crc) throw new Error(`${where} is not what was written`);
  return bytes;
}

/** Joins blocks into sections. Rejects with an error that names the damaged block. */
export async function sectionsOf(blocks: Block[]): Promise<{ name: string; bytes: Uint8Array }[]> {
  const sections = new Map<string, Uint8Array[]>();
  for (const block of blocks) {
    const parts = sections.get(block.section) ?? [];
    sections.set(block.section, parts);
    if (block.index !== parts.length)
      throw new Error(`the page is damaged: section ${block.section} has no block ${parts.length}`);
    parts.push(await bytesOf(block));
  }
  return Array.from(sections, ([name, parts]) => ({ name, bytes: joined(parts) }));
}

/** The answers that stand first in the file (src/page/first_answers.h): those of the first view, and those that
 *  are shown after it. */
export const FIRST = ['ANSW', 'MORE'];

/** The answers in such sections, by request. */
export function answersOf(sections: { bytes: Uint8Array }[]): Map<string, ArrayBuffer> {
  const answers = new Map<string, ArrayBuffer>();
  for (const { bytes } of sections) {
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    const next = (at: number) => bytes.subarray(at + 4, at + 4 + view.getUint32(at, true));
    for (let at = 0; at < bytes.length; ) {
      const request = next(at);
      at += 4 + request.length;
      const answer = next(at);
      at += 4 + answer.length;
      answers.set(new TextDecoder().decode(request), answer.slice().buffer as ArrayBuffer);
    }
  }
  return answers;
}
/* SPDX-License-Identifier: MIT */
