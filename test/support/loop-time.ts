import { appendFileSync } from 'node:fs';

// Preloaded into a process under test (`--import`). Appends a line to LOOP_TIME_FILE whenever the
// event loop was held: Unix milliseconds, and the processor time in milliseconds. Processor time of
// the main thread, unlike a delay, does not count other processes of the machine.
const everyMs = 5;
const minHeldMs = 50;

const file = process.env.LOOP_TIME_FILE;
let before = process.threadCpuUsage();
setInterval(() => {
  const { user, system } = process.threadCpuUsage(before);
  before = process.threadCpuUsage();
  const heldMs = (user + system) / 1_000;
  if (file !== undefined && heldMs >= minHeldMs) appendFileSync(file, `${Date.now()} ${heldMs}\n`);
}, everyMs).unref();
