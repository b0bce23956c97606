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

export async function inflate(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

const crcTable = new Uint32Array(256).map((_, byte) => {
  for (let bit = 0; bit < 8; bit++) byte = byte & 1 ? 0xedb88320 ^ (byte >>> 1) : byte >>> 1;
  return byte;
});

/** The CRC-32 of zlib and gzip. */
export function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = crcTable[(crc ^ byte) & 0xff]! ^ (crc >>> 8);
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
  return Array.from(sections, ([name, parts]) => {
    const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (const part of parts) {
      bytes.set(part, at);
      at += part.length;
    }
    return { name, bytes };
  });
}

/** The answers that the file brings along, by request: section ANSW, a sequence of the length of a
 *  request as u32, the request, the length of its answer as u32, the answer. */
export function answersOf(bytes: Uint8Array): Map<string, ArrayBuffer> {
  const answers = new Map<string, ArrayBuffer>();
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let at = 0; at < bytes.length; ) {
    const requestLength = view.getUint32(at, true);
    const request = new TextDecoder().decode(bytes.subarray(at + 4, at + 4 + requestLength));
    at += 4 + requestLength;
    const length = view.getUint32(at, true);
    answers.set(request, bytes.slice(at + 4, at + 4 + length).buffer as ArrayBuffer);
    at += 4 + length;
  }
  return answers;
}
/* SPDX-License-Identifier: MIT */
