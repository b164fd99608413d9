import { walk } from './new-user/journey.ts';
import { stepLine } from './new-user/stopwatch.ts';

const stopping = new AbortController();
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stopping.abort());

// Where other things start and stop at the same time, as in the test suite, a port that is free now may not be so in a moment.
const ports = process.argv.includes('--other-ports') ? 'all' : 'taken';

try {
  console.log('     step      total  what has come true for a new user');
  await walk({ tell: (step) => console.log(stepLine(step)), stopped: stopping.signal, ports });
} catch (error) {
  process.stderr.write(`new-user: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
