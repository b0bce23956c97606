// What Chromium's DevTools make of a snapshot, by their own code: devtools.mjs FILE
// Prints a line for each class: its objects, their bytes, the bytes that they retain, and its name.
import { HeapSnapshotManager } from '../../../viewer/node_modules/chrome-devtools-mcp/build/src/processors/HeapSnapshotManager.js';

const { aggregates } = await new HeapSnapshotManager().getAggregates(process.argv[2]);
for (const { className, count, selfSize, retainedSize } of aggregates) console.log(count, selfSize, retainedSize, className);
process.exit(0);
