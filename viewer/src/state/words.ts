/* The words for what rows and boxes are. Those of a trace are functions, which call one another and allocate. Those of a heap
 * snapshot are types and roots, which hold what is below them: all that would be freed without them. */
import type { Head } from '../engine/answers.ts';
import type { Terms } from '../flame/data.ts';

const HOLDING: Terms = {
  caller: 'holds it',
  callee: 'held by it',
  callers: 'held by',
  callees: 'holds',
  noCallers: 'held by nothing',
  noCallees: 'holds nothing',
  frames: 'steps',
  unsure: '',
  icicle: 'roots above what they hold',
  inverted: 'what holds below what it holds',
  both: 'what holds the type or root above it, what it holds below it',
  upward: 'what holds above what it holds',
};

/** Of a trace, and of a heap snapshot. An empty text: a snapshot has no such thing, and nothing stands for it. */
const WORDS = {
  function: ['function', 'type or root'],
  functions: ['functions', 'types and roots'],
  module: ['module', 'type'],
  modules: ['modules', 'types'],
  asksHeld: ['Which functions held the memory, at the peak or at another moment?', 'Which types and roots hold the memory?'],
  asksChange: ['What changed between two runs, or two moments of one?', 'What changed between the two snapshots?'],
  moment: ['moment of the profile', 'moment of the snapshot'],
  callees: ['callees', 'holds'],
  callers: ['callers', 'held by'],
  calleesOf: ['callees of', 'held by'],
  callersOf: ['callers of', 'what holds'],
  bothOf: ['callers and callees of', 'what holds and is held by'],
  both: ['Callers and callees', 'What holds it, and what it holds'],
  itsBoth: ['its callers and callees', 'what holds it, and what it holds'],
  either: ['callees or callers', 'what is held, or what holds it'],
  neighbours: ['neighbours, caller, callee', 'neighbours, what holds it, what it holds'],
  allAgain: ['All functions (Esc)', 'All types and roots (Esc)'],
  down: ['From the outermost function down (i)', 'From the roots down to what they hold (i)'],
  up: ['From the allocating function up (i)', 'From the blocks up to what holds them (i)'],
  recursion: ['fold recursion', 'fold repeats'],
  itself: ['One box for a function that calls itself (c)', 'One box for a type that holds others of itself (c)'],
  stacks: ['whole stacks', 'whole paths'],
  whichStacks: ['Stacks', 'Paths'],
  folded: ['Frames that pass on at least 95 % are one box, a recursion two (w)', 'Steps that pass on at least 95 % are one box (w)'],
  unfolded: ['Each frame has a box (w)', 'Each step has a box (w)'],
  frames: ['frames', 'steps'],
  keep: ['Keep only stacks with it', 'Keep only it and what it holds'],
  drop: ['Drop stacks with it', 'Drop it and what it holds'],
  hide: ['Hide it: its callers get its blocks', 'Hide it: what holds it gets its blocks'],
  begin: ['Begin all stacks at it', 'Begin all paths at it'],
  keepModule: ['Keep only its module', 'Keep only its type'],
  own: ['What it allocated itself', 'Its own blocks'],
  withCallees: ['with callees', 'with what it holds'],
  total: ['With what the functions that it calls allocated', 'With all that would be freed without it'],
  blocks: ['About how many blocks, with those of the functions that it calls; the range is in the tip of each number', 'How many blocks, with those that it holds'],
  share: ['Its part of all bytes of this question: of what it allocated itself; in the order of those with callees, with these', 'Its part of all bytes: of its own blocks; in the order of those with what it holds, with these'],
  shareWith: ['Its part of the bytes with callees', 'Its part of the bytes with what it holds'],
  onlyCall: ['that only call', 'that only hold others'],
  through: ['through', 'in and below'],
  ofOne: ['All of the view; the graph is of one function.', 'All of the view; the graph is of one type or root.'],
  nothing: ['No sampled block is in this view.', 'No block is in this view.'],
  search: ['Search names, or filter: size >= 1K', 'Search names, or filter: fn ~ map'],
  noMatch: ['No sampled block matches the query.', 'No block matches the query.'],
  noSelection: ['The selection has no samples under this question.', 'The selection has no blocks in this view.'],
  empty: ['The program allocated nothing.', 'The heap is empty.'],
  select: ['Select a box or a row: its numbers, its place and its callers are shown here.', 'Select a box or a row: its numbers, what holds it and what it holds are shown here.'],
  noCaller: ['no caller', 'nothing'],
  building: ['Building the call tree…', 'Building the tree…'],
  colours: ['Colours: namespaces and files of the program, and libraries', 'Colours: types'],
  whichBytes: ['Which bytes of a function', 'Which bytes of a type or root'],
  ownAll: ['What functions allocate themselves', 'Their own blocks'],
  totalAll: ['With all that they call', 'With all that they hold'],
  noise: ['no sure change', 'unchanged'],
  named: ['functions whose names have this', 'types and roots whose names have this'],
  incomplete: ['', 'The snapshot ends early: blocks are missing, and maybe what holds those that are shown.'],
  numbers: [
    'Memory is sampled, so a number is an estimate: of 100 intervals, 95 contain the true value. “188 MB ±2 %” is the estimate and its interval; where the interval is wide or lopsided, its ends are given: “131–335 kB”. “≈”, and in the graph hatching, marks a number whose interval spans more than a factor of five; “samples” is the number of sampled blocks of the whole row. The hue of a box says where its code is from: the namespace or the file in the program, or the library. Grey boxes are of the C runtime, of what is not known or has no hue, and small boxes that were merged.',
    'Each block counts, so numbers are exact. A box holds the boxes below it: they would be freed without it. What several hold together is below “held by several at once”. The hue of a box is that of its type. Grey boxes are roots, types without a hue, and small boxes that were merged.',
  ],
} as const;

export type Word = keyof typeof WORDS;

export const isSnapshot = (head: Head | null): boolean => head?.limits.no_callers === true;
export const wordIn = (head: Head | null, word: Word): string => WORDS[word][+isSnapshot(head)]!;
export const termsIn = (head: Head | null): Terms | undefined => (isSnapshot(head) ? HOLDING : undefined);

/** A word, or what is no word as it is: of groupings, some are. */
export const wordedIn = (head: Head | null, text: string): string => (text in WORDS ? wordIn(head, text as Word) : text);

/** The fields by which the blocks of a snapshot can be chosen. */
const FIELDS: Record<string, string> = {
  fn: 'a type or root that holds the block, or its own',
  module: 'a type that holds the block, or its own',
  hide: 'types and roots that are taken out of all paths',
  from: 'paths begin at this type or root',
};
export const fieldsIn = (head: Head | null): Record<string, string> | undefined => (isSnapshot(head) ? FIELDS : undefined);
/* SPDX-License-Identifier: MIT */
