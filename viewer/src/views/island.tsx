/* A part of the page that follows the state: it is rendered again whenever a signal that it read changes. */
import { effect } from '@preact/signals-core';
import { type ComponentChild, render } from 'preact';
import { cleanName, formsOf } from '../flame/names.ts';

/** Renders into the element with this id. The function must read its signals itself, not in components of its own
 *  that are rendered later. */
export function island(id: string, show: () => ComponentChild): void {
  const host = document.getElementById(id)!;
  host.replaceChildren();
  effect(() => render(show(), host));
}

/** The longest form of a name that has at most so many characters, else its shortest. */
export function compactName(name: string, most: number): string {
  const forms = formsOf(name);
  return forms.find((form) => form.length <= most) ?? forms.at(-1) ?? name;
}

/** A name of the traced program: cleaned, and set apart from the text around it. */
export const Name = ({ text, title }: { text: string; title?: string }) => (
  <bdi class="name" title={title ?? cleanName(text, 2000)}>
    {cleanName(text, 600)}
  </bdi>
);
/* SPDX-License-Identifier: MIT */
