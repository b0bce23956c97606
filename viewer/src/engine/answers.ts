/* The questions that the page asks and the answers that it gets, and how both are written as bytes.
 *
 * The analysis of the command, compiled to WebAssembly or running in `winnow view`, answers. So the
 * page computes no estimate of its own: it shows what `winnow report` prints for the same question.
 *
 * A REQUEST is text: lines `key=value`, in the order of the keys of `Request` below, without those
 * that are undefined. Equal questions are therefore equal texts, and a text is the key of a cache.
 *
 * An ANSWER is bytes, little-endian: the length of its JSON as u32, the number of its state as u32,
 * the JSON, zeros up to a multiple of 8, then the columns. The JSON is the object of the view's type below,
 * with the member `columns`: for each column its type, offset (from the first column) and count. A
 * wrong question has the answer {"error": "…"} with the text that the command prints.
 *
 * A STATE is a reading of a trace that grows, numbered from 1 on; 0: the recording does not change.
 *
 * Names in JSON are those of docs/report-json.md. Times are nanoseconds from the start of the run.
 */

/** What was held at a moment; or over the run: allocated, lived briefly, promoted, alive at the end, lived long. */
export type Measure = 'held' | 'allocated' | 'churn' | 'promoted' | 'alive' | 'lasting';
export type Grouping = 'function' | 'line' | 'file' | 'module' | 'process' | 'host' | 'release' | 'thread' | 'type';
/** Callees: from the outermost function down (icicle). Callers: from the allocating function up (inverted). */
export type Direction = 'callees' | 'callers';

export interface Request {
  view: 'head' | 'totals' | 'time' | 'flame' | 'table' | 'kinds' | 'details' | 'source' | 'query' | 'compare';
  /** The query, docs/queries.md. Undefined: every block. It may set the moment too: `at = 12.5s`. */
  where?: string;
  measure?: Measure;
  by?: Grouping;
  direction?: Direction;
  /** Flame: only this label's frames: its callees merged below it, or its callers (see `direction`).
   *  Details, source, time: the row of the table that is asked about. */
  of?: string;
  /** Flame: the path of labels (texts, outermost first, separated by U+001F) whose subtree is wanted. */
  focus?: string;
  /** Flame: fold a function that calls itself directly or through others into one box. */
  fold?: 'yes';
  /** Flame: each level of a function that calls itself directly is a box. Else two are: the second stands for all deeper ones. */
  stacks?: 'whole';
  /** Time: how many moments. */
  points?: number;
  /** Compare, and flame of a comparison: what is before: the run `before`, or a moment of this run (peak, end,
   *  1.5s) for what is held. What is after is what the other keys say. */
  against?: string;
  /** Of two runs: compare as if both had taken as long, or had allocated as many bytes. Default: as they are. */
  per?: 'second' | 'allocation';
  /** Compare, time of a row: what functions allocate themselves (default), or with all that they call. */
  extent?: 'total';
}

export function requestText(request: Request): string {
  const keys: (keyof Request)[] = ['view', 'where', 'measure', 'by', 'direction', 'of', 'focus', 'fold', 'stacks', 'points', 'against', 'per', 'extent'];
  return keys
    .filter((key) => request[key] !== undefined)
    .map((key) => `${key}=${String(request[key]).replace(/[\r\n]+/g, ' ')}\n`)
    .join('');
}

/** A number with the interval that holds the true value in 95 of 100 cases, and the sampled blocks it rests on. */
export interface Estimate {
  estimate: number;
  low: number;
  high: number;
  samples: number;
}

/** view=head: the trace; nothing of it depends on a question. */
export interface Head {
  trace: {
    command: string[];
    title: string;
    thread_name: string;
    pid: number;
    host: string;
    heap: string;
    rate: number;
    word_bytes: number;
    started_ns: number;
    duration_ns: number;
    samples: number;
    /** Calls by which realloc made these blocks larger. */
    growths: number;
    lost: number;
    lost_because: string;
    stacks_lost: number;
    stacks_cut: number;
    damaged_chunks: number;
    damaged_bytes: number;
    /** Totals of stacks, and nothing of moments between: a profile of another tool. */
    totals?: boolean;
    /** What such a file tells, in sentences. */
    note?: string;
    /** The tool that wrote the file; undefined: Winnow. */
    writer?: string;
    /** Of the time of all processes, the part in which they sampled nothing: what they allocated then is in no number. */
    asleep_share?: number;
    /** How long none of them sampled. */
    asleep_ns?: number;
    /** Records are missing: totals are lower bounds. */
    partial: boolean;
    /** The trace has its end, and nothing is missing. */
    complete: boolean;
    /** By the system, as `winnow record` saw it. */
    killed_for_memory: boolean;
    /** The end was not recorded, and nearly all of the limit was used. */
    probably_killed_for_memory: boolean;
    /** Of several traces, which the page shows as one. */
    processes?: { pid: number; name: string }[];
  };
  /** What a file of another profiler does not tell: what was held at the peak, what was allocated, what was held at the
   *  end, when which block was freed, which threads allocated. no_callers: it is a heap snapshot, whose stacks are what holds
   *  the blocks. */
  limits: { no_peak: boolean; no_total: boolean; no_end: boolean; no_lives: boolean; no_threads: boolean; no_callers: boolean };
  /** The heap is a collected one: it has areas, promotions, collections. */
  collected: boolean;
  /** Whether single collections are in the trace. */
  heap_told: boolean;
  threads: { thread: number; name: string }[];
  /** The names of what blocks are; null: the trace does not say. */
  types: string[] | null;
  /** Functions that only allocate for their callers; stacks pass over them. */
  wrappers: string[];
  /** How to get more names; empty: names are known. */
  hint: string;
  /** By exec the process became this program, which is not in the trace; empty: an unknown one. */
  became?: string;
  /** Of the samples of the trace, this share is in the page (1: all). */
  kept: number;
  /** When the program began to free what it had as it ended; else the end. */
  closing_ns: number;
  /** Beyond it the system kills a process of the control group; 0: there is none, or it is not known. */
  limit_bytes: number;
  /** The run that is before, if there is one to compare with; what makes the comparison doubtful, without a full stop. */
  before?: { trace: Head['trace']; kept: number; doubts: string[] };
  /** Of so many files the page has lines of source; null: none were asked for. */
  source_files: number | null;
}

/** view=totals (where): as `totals` of docs/report-json.md; `heap` and, without a query, `resident` and `mapped` as there,
 *  if there are any. */
export interface Totals {
  question: string; // "at:peak"
  at_ns: number;
  /** Whether the five moments of the peak are close enough that one time may be named. */
  peak_is_one: boolean;
  totals: {
    /** Undefined with no_total, as is what follows of it. */
    allocated_bytes?: Estimate;
    allocated_blocks: Estimate;
    allocated_bytes_per_second: Estimate;
    peak_bytes: Estimate;
    peak_at_ns: number;
    peak_blocks: Estimate;
    live_at_end_bytes: Estimate;
    live_at_end_blocks: Estimate;
    /** What was alive at the end, or before the program freed most of it as it ended. */
    alive_at_ns: number;
    alive_bytes: Estimate;
    alive_blocks: Estimate;
    /** Bytes of blocks that lived less than brief_ns, and their share of all. */
    brief_bytes?: Estimate;
    brief_share?: Estimate;
    brief_ns?: number;
    /** 0: not measured. */
    peak_rss_bytes: number;
  };
  /** What the recording most likely shows, and the functions that held the most at the peak, themselves, each with the word
   *  that a report has for its trend; not with a query. */
  verdict?: Verdict;
  /** `place`: the line with the most of it, "parser.c:12", or empty. */
  holders?: { text: string; bytes: Estimate; trend?: string; place: string }[];
  /** Those of the verdict's culprits; and what these held at the moment of `holders`: their own bytes are of the verdict's. */
  places?: string[];
  held?: Estimate[];
  /** What to do next, as a sentence without its capital; empty: nothing. */
  next?: string;
  /** Of a page of two runs, without a query: the verdict of `winnow diff`. */
  compared?: Compared;
  heap?: Heap;
  resident?: Record<string, unknown>;
  mapped?: Mapper[];
}

/** The samples of a query: of what the recording has of it. */
export const samplesIn = ({ totals }: Totals): number => (totals.allocated_bytes ?? totals.live_at_end_bytes ?? totals.peak_bytes).samples;

/** `verdict` of docs/report-json.md. */
export interface Verdict {
  kind: string;
  title: string;
  /** Those that grew the most first. */
  culprits: Culprit[];
  /** Beside a verdict on resident memory: the kind of verdict on the blocks, or "none". */
  blocks?: string;
  /** Of "not_decided": by how much all blocks became more after the warm-up. */
  grown_bytes?: Estimate;
  /** A process of less than a second grows. */
  begun?: boolean;
  replaced?: boolean;
  freed_at_exit?: boolean;
  bytes: number;
  at_ns: number;
}

/** `verdict` of a comparison in docs/report-json.md, for people. */
export interface Compared {
  kind: string;
  title: string;
  /** Why it is not known. */
  reason: string;
  /** Of the run before. */
  totals: Totals['totals'];
  /** What decided, and its change in bytes; the functions that are named, and their changes; what to do next. */
  fact?: string;
  change?: number;
  labels?: Label[];
  changes?: number[];
  next?: string;
}

export interface Culprit {
  function: string;
  module: string;
  /** Of nearly all of its bytes; or empty. */
  caller: string;
  bytes: Estimate;
  grown_bytes: Estimate;
  bytes_per_second: Estimate;
  /** It grows since then; 0: from the start on. */
  since_ns: number;
  /** Of several processes: the first one in which it is a culprit, and in how many it is one. */
  process?: string;
  processes?: number;
}

/** A function that mapped memory itself, and the callers that nearly all of it has in common, innermost first. */
export interface Mapper {
  name: string;
  /** Null: not measured. */
  resident_bytes: number | null;
  mapped_bytes: number;
  callers: string[];
}

/** Of a collected heap; more members are in docs/report-json.md. */
export interface Heap {
  promoted_share: Estimate;
  /** Null: too few promoted blocks were sampled. Below 0: more would have been promoted. */
  what_if: ({ interval_words: number; samples: number } & Record<'kept_half' | 'kept_2' | 'kept_4' | 'kept_8', { low: number; high: number }>) | null;
  pauses: {
    count: number;
    total_ns: number;
    share: number | null;
    /** Missing if no pause was 0.1 ms or longer. */
    median_ns?: number;
    below_99_ns?: number;
    longest_ns?: number;
    longest_at_ns?: number;
  } & Record<`${'minor' | 'slice' | 'stop'}_${'count' | 'ns'}`, number>;
}

/** view=time (where, by, points). Columns over the moments: */
export interface Time {
  /** The rows of the table that held the most themselves at one of the moments, largest first; at most TOP. */
  labels: Label[];
  at_ns: number; // of the question
  peak_ns: number;
  /** Local peaks of what was held, in order of time. */
  peaks_ns: number[];
  columns: {
    time: Float64Array;
    /** Bytes held, with their interval. */
    held: Float64Array;
    low: Float64Array;
    high: Float64Array;
    /** Of `held`: born in the minor heap (and not yet promoted), in the major heap (or promoted), outside.
     *  All zeros for malloc. */
    minor: Float64Array;
    major: Float64Array;
    outside: Float64Array;
    /** What those rows held themselves, row by row, with its interval. */
    top_held: Float32Array;
    top_low: Float32Array;
    top_high: Float32Array;
    /** Bytes allocated since the moment before, divided by that time in seconds. */
    rate: Float64Array;
    /** 1: nothing was sampled since the moment before, and what was held is not known. */
    asleep: Uint32Array;
    /** The process: its own moments. Not filtered. */
    memory_time: Float64Array;
    rss: Float64Array;
    private: Float64Array;
    /** Collections: when, whether a major cycle ended (1) or only minor ones (0), and the heap's size then. */
    collection_time: Float64Array;
    collection_major: Uint32Array;
    collection_heap: Float64Array;
    /** Single pauses of at least 0.1 ms: when they ended, their length, and for what: 0 a minor collection,
     *  1 marking or sweeping, 2 another domain. */
    pause_time: Float64Array;
    pause_ns: Float64Array;
    pause_kind: Uint32Array;
  };
}

export const TOP = 5;

/** view=time with `of` (and extent): what that row of the table held at the same moments, with its interval. */
export interface TimeOfRow {
  columns: Record<'held' | 'low' | 'high', Float32Array>;
}

/** What a box or a row stands for. `function` may be empty for groupings by file or module. */
export interface Label {
  /** As `winnow report` prints it, with the module if several have the function; the text for `of` and `focus`. */
  text: string;
  function: string;
  module: string;
  file: string;
  line: number;
}

/** view=flame (where, measure, by, direction, of, focus, fold, stacks). The tree in pre-order: node 0 is the
 *  whole. A node stands before its children, and `next` is the first node that is not below it. Nodes
 *  of less than 1/4096 of the whole are merged: siblings into one node with `merged` > 0 and the label
 *  NO_LABEL; so children and self always add up to their parent. Children are ordered by bytes, the
 *  merged ones last. */
export interface Flame {
  /** What counts: blocks with their bytes, or calls that allocated. */
  unit: 'bytes' | 'calls';
  labels: Label[];
  /** Blocks, or calls, of node 0; of a comparison none. */
  blocks?: Estimate;
  /** Where `focus` was: the labels from the outermost to the focus; empty: the whole tree. */
  trail: number[];
  /** Of one function, added by the page (state/halves.ts): which of its halves this is, and the first node of the callers. */
  halves?: { of: 'both' | Direction; callers: number };
  columns: {
    next: Uint32Array;
    label: Uint32Array;
    bytes: Float64Array;
    low: Float64Array;
    high: Float64Array;
    /** Bytes that the node allocated itself. */
    self: Float64Array;
    blocks: Float64Array;
    samples: Uint32Array;
    /** Nodes that were merged into this one; 0: it is a node itself. */
    merged: Uint32Array;
    /** Of the labels of `trail` but the last: 1 if the box is in a chain with the next one (flame/chains.ts). */
    passing: Uint32Array;
    /** The bytes and blocks of the first box of the chain that node 0 is in, as what stands before it passes. */
    chain: Float64Array;
    /** Of a comparison (`against`). Then `bytes` is before + after, by which boxes are as wide as they are,
     *  `blocks` likewise, and `low` to `high` is the interval of `change`, after − before. */
    before?: Float64Array;
    after?: Float64Array;
    change?: Float64Array;
  };
}
export const NO_LABEL = 0xffffffff;
/** With it begins the path of a caller of the one function that is shown; the function follows. */
export const CALLERS = '..';
/** The focus that a path is while one function is shown: the function itself is the whole. */
export const focusIn = (path: string[]): string[] => (path.length > (path[0] === CALLERS ? 2 : 1) ? path : []);

/** view=table (where, measure, by): the rows, by total bytes, largest first. */
export interface Table {
  labels: Label[];
  columns: {
    label: Uint32Array;
    self: Float64Array;
    self_low: Float64Array;
    self_high: Float64Array;
    total: Float64Array;
    total_low: Float64Array;
    total_high: Float64Array;
    self_blocks: Float64Array;
    blocks: Float64Array;
    self_samples: Uint32Array;
    samples: Uint32Array;
    /** Median life of the row's own blocks; NaN: it has none, or half of them live longer than the trace tells. */
    life: Float64Array;
    /** The ends of their intervals; NaN: too few samples tell. */
    blocks_low: Float32Array;
    blocks_high: Float32Array;
    life_low: Float32Array;
    life_high: Float32Array;
    /** measure=alive: the slope of the row's own bytes over the age classes, in bytes a second; its place in
     *  `growth_kinds`; and by how much its bytes became more in each of the AGES classes, oldest first, row by row. */
    growth?: Float32Array;
    growth_low?: Float32Array;
    growth_high?: Float32Array;
    growth_kind?: Uint32Array;
    ages?: Float32Array;
  };
  /** measure=alive: how what is alive came to be, in words. The second, STEADY, is growth that goes on. */
  growth_kinds?: string[];
}
export const AGES = 16;
export const STEADY = 1;

export interface Change {
  before: Estimate;
  after: Estimate;
  difference: Estimate;
}

/** view=compare (where, measure, by, against, per, extent): first the rows whose change is sure (its interval has
 *  no 0), then the others; each part by the size of the change, largest first. Row i has label i. Two
 *  moments are compared by the blocks that only one of them has: `before` was freed, `after` is new. */
export interface Compare {
  moments: boolean;
  /** Some blocks are held at both moments and were resized in between: they are in `before` and in `after`. */
  resized: boolean;
  /** Records are missing: nothing is known of differences. */
  partial: boolean;
  /** Every block was recorded: a change of 0 is none. */
  exact: boolean;
  before_ns: number;
  after_ns: number;
  /** What is before is multiplied by this. */
  scale?: Estimate;
  bytes: Change;
  blocks: Change;
  sure: boolean;
  rows_count: number;
  sure_count: number;
  /** Of churn, blocks that lived less than this count; of what lives long, those that lived at least this. */
  life_ns?: number;
  /** What could not be matched, for people; or empty. */
  note: string;
  /** By row: "gone", "gone or moved", "new", "new or moved", or empty. */
  fates: string[];
  labels: Label[];
  columns: {
    before: Float64Array;
    before_low: Float64Array;
    before_high: Float64Array;
    after: Float64Array;
    after_low: Float64Array;
    after_high: Float64Array;
    change: Float64Array;
    low: Float64Array;
    high: Float64Array;
    /** The change in blocks. */
    blocks: Float64Array;
    before_samples: Uint32Array;
    after_samples: Uint32Array;
    sure: Uint32Array;
  };
}

/** view=kinds (where, measure): which kinds of block. Cell (l, s) of the map is at l * sizes + s. */
export interface Kinds {
  /** Lower ends of the classes; the last class is open. */
  life_ns: number[];
  size_bytes: number[];
  columns: {
    /** Bytes of the blocks that died, and (alive_*) of those still alive, whose life is at least so long. */
    bytes: Float64Array;
    samples: Uint32Array;
    alive_bytes: Float64Array;
    alive_samples: Uint32Array;
    /** The share of blocks that live longer; of the query's blocks with its interval, and of all blocks. */
    survival_ns: Float64Array;
    survival: Float64Array;
    survival_low: Float64Array;
    survival_high: Float64Array;
    survival_all: Float64Array;
  };
}

/** A median with its 95 % interval; null: the samples do not tell that end. */
export interface Life {
  median: number;
  /** False: half of the blocks live longer than `median`, the longest life that the trace tells. */
  known: boolean;
  low: number | null;
  high: number | null;
  samples: number;
}

/** view=details (where, measure, by, of): one row of the table, and what else is known of it. */
export interface Details {
  self_bytes: Estimate;
  self_blocks: Estimate;
  total_bytes: Estimate;
  blocks: Estimate;
  self_life_ns: Life;
  total_life_ns: Life;
  /** Of a collected heap: of the bytes born in the minor heap, and of those that were promoted. */
  promoted_share?: Estimate;
  dead_next_share?: Estimate;
  /** Of the bytes with callees, as far as they have any: a stack counts for the caller of its outermost call, and for
   *  what its innermost one calls; what that allocated itself is the callee of its own name. The label '(no callstack)': no caller. */
  callers?: Parts;
  callees?: Parts;
  /** Its lines on the stacks; without lines, its code addresses. Of a recursion several are on one stack. */
  lines?: Parts;
  /** If there are several. */
  threads?: Parts;
}

/** The largest parts of a row, by bytes, each with its share; and how many more there are. */
export interface Parts {
  labels: Label[];
  bytes: Estimate[];
  shares: Estimate[];
  more: number;
}

/** view=source (where, measure, by, of): the lines around the heaviest places of a row of the table, as far as the
 *  page has them (src/analysis/load/listing.h). */
export interface Source {
  files: SourceFile[];
}
export interface SourceFile {
  file: string;
  /** changed: newer than what ran; absent, unfit: not read; unlisted: of too few bytes to be read. */
  state: 'there' | 'changed' | 'absent' | 'unfit' | 'unlisted';
  excerpts: SourceExcerpt[];
}
/** Consecutive lines from `first` on, and the bytes of those that are places. */
export interface SourceExcerpt {
  first: number;
  lines: string[];
  marks: { line: number; bytes: Estimate }[];
}

export interface Failure {
  error: string;
}

type Column = Float64Array | Float32Array | Uint32Array;

/** The number of the state that an answer was made of. */
export const stateOf = (buffer: ArrayBuffer): number => new DataView(buffer).getUint32(4, true);

/** Decodes an answer. Throws if the bytes are not one. The columns are views of the buffer. */
export function decodeAnswer<T>(buffer: ArrayBuffer): T | Failure {
  const head = new DataView(buffer);
  const length = head.getUint32(0, true);
  const answer = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
  const first = 8 + Math.ceil(length / 8) * 8;
  const columns: Record<string, Column> = {};
  for (const [name, column] of Object.entries(answer.columns ?? {}) as [
    string,
    { type: 'f64' | 'f32' | 'u32'; at: number; count: number },
  ][]) {
    const Type = { f64: Float64Array, f32: Float32Array, u32: Uint32Array }[column.type];
    columns[name] = new Type(buffer, first + column.at, column.count);
  }
  answer.columns = columns;
  return answer as T;
}
/* SPDX-License-Identifier: MIT */
