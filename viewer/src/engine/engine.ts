/* The engine: the analysis of the command, compiled to WebAssembly (viewer/engine). Runs in a worker,
 * or in Node for tests. */

interface Exports {
  memory: WebAssembly.Memory;
  _initialize(): void;
  engine_take(bytes: number): number;
  engine_section(name: number, bytes: number, length: number): void;
  engine_open(): number;
  engine_error(): number;
  engine_ask(request: number, length: number): number;
  engine_size(): number;
}

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

  /** Opens a recording. Throws an error for people if the sections are damaged. */
  open(sections: Iterable<{ name: string; bytes: Uint8Array }>): void {
    for (const { name, bytes } of sections)
      this.exports.engine_section(this.put(new TextEncoder().encode(name)), this.put(bytes), bytes.length);
    if (this.exports.engine_open()) throw new Error(this.text(this.exports.engine_error()));
  }

  /** Answers a request (answers.ts) with the bytes of an answer. */
  ask(request: string): ArrayBuffer {
    const bytes = new TextEncoder().encode(request);
    const at = this.exports.engine_ask(this.put(bytes), bytes.length);
    if (!at) throw new Error('there is not enough memory for this question');
    return this.exports.memory.buffer.slice(at, at + this.exports.engine_size()) as ArrayBuffer;
  }
}
/* SPDX-License-Identifier: MIT */
