import { walk } from './new-user/journey.ts';
import { stepLine } from './new-user/stopwatch.ts';

const stopping = new AbortController();
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stopping.abort());

try {
  console.log('     step      total  what has come true for a new user');
  await walk((step) => console.log(stepLine(step)), stopping.signal);
} catch (error) {
  process.stderr.write(`new-user: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
