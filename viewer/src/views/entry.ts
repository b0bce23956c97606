/* Fields for a time or a size: what cannot be read is marked, and said where errors of the query stand. */
import { entryError } from '../state/asking.ts';

export function accepts(input: HTMLInputElement, isKnown: boolean, expected: string): boolean {
  input.setAttribute('aria-invalid', String(!isKnown));
  entryError.value = isKnown ? '' : `“${input.value.trim()}” cannot be read: expected ${expected}`;
  return isKnown;
}
/* SPDX-License-Identifier: MIT */
