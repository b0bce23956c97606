/* Four characters that tell one text from a few others: for addresses, which are short. */

const BEGIN = 0x811c9dc5;
const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
export const DIGEST = 4; // characters

/** FNV-1a of the text, or of what `state` was made of and the text. */
export function hashOf(text: string, state = BEGIN): number {
  for (let index = 0; index < text.length; index++) state = Math.imul(state ^ text.charCodeAt(index), 0x01000193);
  return state;
}

export function digestOf(hash: number): string {
  const mixed = hash ^ (hash >>> 15);
  return Array.from({ length: DIGEST }, (_, place) => DIGITS[(mixed >>> (6 * place)) & 63]).join('');
}

/** The digests that stand in a text one after the other. */
export const digestsIn = (text: string): string[] => text.match(new RegExp(`.{${DIGEST}}`, 'g')) ?? [];
/* SPDX-License-Identifier: MIT */
