/* The engine: the analysis of the command, compiled to WebAssembly (viewer/engine). Runs in a worker,
 * or in Node for tests. */

interface Exports {
  memory: WebAssembly.Memory;
  _initialize(): void;
  engine_take(bytes: number): number;
  engine_section(name: number, bytes: number, length: number): void;
  engine_open_before(): number;
  engine_open(): number;
  engine_error(): number;
  engine_prepare(request: number, length: number): number;
  engine_ask(request: number, length: number): number;
  engine_size(): number;
}

export type Sections = { name: string; bytes: Uint8Array }[];

/** What the engine's C library asks of a system. It has no files: these calls are never reached. */
const system = {
  wasi_snapshot_preview1: new Proxy({}, { get: () => () => 8, has: () => true }) as WebAssembly.ModuleImports,
};

export class Engine {
  private constructor(private readonly exports: Exports) {}

  static async start(wasm: BufferSource): Promise<Engine> {
    const { instance } = await WebAssembly.instantiate(wasm, system);
    const exports = instance.exports as unknown as Exports;
    exports._initialize();
    return new Engine(exports);
  }

  /** Copies bytes into the engine's memory and returns their address. */
  private put(bytes: Uint8Array): number {
    const at = this.exports.engine_take(bytes.length);
    if (!at) throw new Error('there is not enough memory for this recording');
    new Uint8Array(this.exports.memory.buffer, at, bytes.length).set(bytes);
    return at;
  }

  private text(at: number): string {
    const bytes = new Uint8Array(this.exports.memory.buffer, at);
    return new TextDecoder().decode(bytes.slice(0, bytes.indexOf(0)));
  }

  private add(sections: Sections): void {
    for (const { name, bytes } of sections)
      this.exports.engine_section(this.put(new TextEncoder().encode(name)), this.put(bytes), bytes.length);
  }

  private check(failed: number): void {
    if (failed) throw new Error(this.text(this.exports.engine_error()));
  }

  /** Opens a recording, and the one before if there is one to compare with. Throws an error for people if
   *  sections are damaged. */
  open(sections: Sections, before: Sections = []): void {
    if (before.length) {
      this.add(before);
      this.check(this.exports.engine_open_before());
    }
    this.add(sections);
    this.check(this.exports.engine_open());
  }

  /** Answers a request (answers.ts) with the bytes of an answer. */
  ask(request: string): ArrayBuffer {
    const parts = this.parts(request);
    for (;;) {
      const { value, done } = parts.next();
      if (done) return value;
    }
  }

  /** The same in parts, after any of which it may be given up. */
  *parts(request: string): Generator<void, ArrayBuffer> {
    const bytes = new TextEncoder().encode(request);
    while (this.exports.engine_prepare(this.put(bytes), bytes.length)) yield;
    const at = this.exports.engine_ask(this.put(bytes), bytes.length);
    if (!at) throw new Error('there is not enough memory for this question');
    return this.exports.memory.buffer.slice(at, at + this.exports.engine_size()) as ArrayBuffer;
  }
}
/* SPDX-License-Identifier: MIT */
