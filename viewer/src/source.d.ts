/* The build chooses the module that opens the source of answers: the engine, or for development the fixture. */
declare module 'winnow:source' {
  import type { Source } from './engine/source.ts';
  export function openSource(): Promise<Source>;
}
/** The bundled program of the worker, as text. */
declare module 'winnow:worker' {
  const code: string;
  export default code;
}
declare module '*.css';
/* SPDX-License-Identifier: MIT */
