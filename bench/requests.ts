import { RequestCounts } from '../src/request-log/counts.ts';
import { FrameReader } from '../src/request-log/frames.ts';
import { readLine } from '../src/request-log/line.ts';
import { logged, loggedByZproxy, type LoggedRequest } from '../test/support/logged-request.ts';
import { medians, timed } from './measure.ts';
import { absolute, compare, type Result } from './results.ts';

const rounds = 20;
const linesAtOnce = 500;
const linesOfRound = 100_000;
const linesOfAll = 10_000_000;
const farms = Array.from({ length: 50 }, (_, farm) => ({
  name: `farm-${farm}`,
  backends: Array.from({ length: 10 }, (_, backend) => ({ service: 'front', backend: `10.0.${farm}.${backend}:80` })),
}));

/** Reads lines of requests as they come by TCP, in this process. */
export async function requestResults(): Promise<readonly Result[]> {
  const [bytes, ofZproxy] = [
    linesOf((request) => `pound: ${logged(request)}`),
    linesOf(
      (request) =>
        `zproxy: ${loggedByZproxy({ ...request, request: 'GET /some/longer/path/with?query=string HTTP/1' })}`,
    ),
  ];
  const counts = new RequestCounts('lb', [5, 25, 100, 300, 1_000, 3_000, 10_000], []);
  counts.learn(farms);
  const frames = new FrameReader();
  const refuse = (fault: string) => {
    throw new Error(fault);
  };
  const sink = {
    line(line: string) {
      const { content } = readLine(line);
      if (typeof content === 'string' || content.kind !== 'answer') return refuse(`not read: ${line}`);
      counts.countLine(content.kind);
      counts.countResponse(content);
    },
    fault: refuse,
    charge: () => refuse('half a line'),
    takesNoMore: false,
  };
  const each = (lines: number, read: () => void) => {
    for (let count = 0; count < lines; count += linesAtOnce) read();
  };
  const [ours, reference] = await medians(rounds, [
    () => timed(() => Promise.resolve(each(linesOfRound, () => frames.read(sink, bytes)))),
    () => timed(() => Promise.resolve(each(linesOfRound, () => split(bytes)))),
  ]);

  const [zproxy, pound] = await medians(rounds, [
    () => timed(() => Promise.resolve(each(linesOfRound, () => frames.read(sink, ofZproxy)))),
    () => timed(() => Promise.resolve(each(linesOfRound, () => frames.read(sink, bytes)))),
  ]);

  // The first million lines warm up.
  each(linesOfAll / 10, () => frames.read(sink, bytes));
  const [memory, time] = [process.memoryUsage.rss(), process.cpuUsage()];
  each(linesOfAll, () => frames.read(sink, bytes));
  const { user, system } = process.cpuUsage(time);
  const perLine = (user + system) / 1e6 / linesOfAll;
  const grownMb = (process.memoryUsage.rss() - memory) / 1e6;
  return [
    compare({ name: '100,000 lines of requests (split only)', unit: 'ms', ours, reference, atMost: 25 }),
    compare({ name: '100,000 lines of zproxy (of pound)', unit: 'ms', ours: zproxy, reference: pound, atMost: 1 }),
    absolute({ name: '20,000 lines a second', unit: 'CPU s/s', value: 20_000 * perLine, atMost: 0.2 }),
    absolute({ name: 'memory grown by 10 million lines', unit: 'MB', value: grownMb, atMost: 50 }),
  ];
}

function split(bytes: Buffer): void {
  const text = bytes.toString('latin1');
  let lines = 0;
  for (let from = 0, end = text.indexOf('\n'); end >= 0; from = end + 1, end = text.indexOf('\n', from))
    if (text.slice(from, end).length > 0) lines += 1;
  if (lines !== linesAtOnce) throw new Error(`${lines} lines`);
}

function linesOf(write: (request: LoggedRequest) => string): Buffer {
  const lines = Array.from(
    { length: linesAtOnce },
    (_, index) => `<134>Nov 26 04:17:34 lb ${write(requestOf(index))}\n`,
  );
  return Buffer.from(lines.join(''), 'latin1');
}

function requestOf(index: number): LoggedRequest {
  const farm = index % farms.length;
  return {
    farm: `farm-${farm}`,
    backend: `10.0.${farm}.${index % 10}:80`,
    seconds: (index / linesAtOnce).toFixed(3),
    request: 'GET /some/longer/path/with?query=string HTTP/1.1',
    agent: 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120 Safari/537.36',
  };
}
