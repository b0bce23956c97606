/* Modules that the build makes. */
/** The bundled program of the worker, as text. */
declare module 'winnow:worker' {
  const code: string;
  export default code;
}
declare module '*.css';
/* SPDX-License-Identifier: MIT */
