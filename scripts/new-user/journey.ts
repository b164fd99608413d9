import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../bench/free-port.ts';
import { until } from '../../test/support/until.ts';
import { lineWith, shellLines } from './readme-commands.ts';
import { type Session, startSession } from './session.ts';
import { createStopwatch, type Step } from './stopwatch.ts';

const repository = fileURLToPath(new URL('../../', import.meta.url));
const minuteMs = 60_000;

/**
 * Walks the path of somebody who has just heard of the project, with the commands that the README
 * and the programs print: clone, the README's first command, metrics and page, an alert in `npm run
 * stack`, the farm restarted, the alert resolved. Calls `tell` after each step; throws at the first
 * that does not come true, as each does once it is to stop.
 */
export async function walk(tell: (step: Step) => void, stopped: AbortSignal): Promise<void> {
  const home = await mkdtemp(join(tmpdir(), 'zlb-new-user-'));
  const clone = join(home, 'zlb-exporter');
  const sessions: Session[] = [];
  const open = (line: string, folder = clone): Session => {
    stopped.throwIfAborted();
    const session = startSession(line, folder);
    sessions.push(session);
    return session;
  };
  // They are in groups of their own, which Ctrl-C does not reach.
  stopped.addEventListener('abort', () => sessions.forEach((session) => void session.interrupt()));
  const done = createStopwatch(tell);
  try {
    await finished(open(`git clone --quiet '${repository}' zlb-exporter`, home));
    done('an empty folder has the clone');

    const commands = shellLines(await readFile(join(clone, 'README.md'), 'utf8'));
    const first = lineWith(commands, 'npm start');
    const demonstration = open(first);
    const [, url = ''] = await demonstration.shows(/(http:\/\/\S+)\/metrics/, 5 * minuteMs);
    done(`${first}: it says what to open`);
    await pageWith(`${url}/metrics`, /^zlb_farm_status\{/m);
    done('/metrics has the states of farms');
    await pageWith(`${url}/`, /lb-madrid/);
    done('/ has the load balancers');
    await demonstration.interrupt();

    const second = lineWith(commands, 'npm run stack');
    const stack = await startStack(second, open);
    done(`${second}: everything runs`);
    await stack.shows(/^[\d:]+ FIRING /m, minuteMs);
    done('the first alert fires');
    await stack.shows(/^[\d:]+ FIRING .*ZlbFarmDown lb-madrid legacy/m, 2 * minuteMs);
    done('ZlbFarmDown fires for the farm legacy');

    const printed = stack.output().split('\n');
    // The URL and the first token; a second one follows, of another person.
    const credentials = printed.filter((line) => /^\s*export ZLB_ADMIN_/.test(line)).slice(0, 2);
    const type = async (...words: readonly string[]) => {
      const command = lineWith(printed, ' admin ', ...words).trim();
      await finished(open([...credentials, command].join('\n')));
      done(`${command}: done`);
    };
    await type('action=stop');
    await stack.shows(/^[\d:]+ FIRING .*ZlbFarmDown lb-paris-1 www/m, 2 * minuteMs);
    done('ZlbFarmDown fires for the farm www');
    await type('restart-farm');
    await stack.shows(/^[\d:]+ RESOLVED .*ZlbFarmDown lb-paris-1 www/m, 2 * minuteMs);
    done('the alert is resolved');
    await stack.interrupt();
    await stack.shows(/^Stopped\.$/m, 0);
    done('Ctrl-C: everything has stopped');
  } finally {
    for (const session of sessions) await session.interrupt();
    await rm(home, { recursive: true, force: true });
  }
}

async function finished({ ended, output }: Session): Promise<void> {
  const code = await ended;
  if (code !== 0) throw new Error(`a command ended with ${code}:\n${output().slice(-2_000)}`);
}

/** Resolves once a page has what is looked for. */
async function pageWith(url: string, what: RegExp): Promise<void> {
  await until(
    async () => {
      const answer = await fetch(url, { headers: { accept: 'text/html, text/plain' } });
      return answer.ok ? await answer.text() : `${url} answers ${answer.status}`;
    },
    (page) => what.test(page),
    minuteMs / 2,
  );
}

/**
 * Opens `npm run stack` as it is written, and again with the flags that it names itself while ports
 * are taken; resolves once all runs.
 */
async function startStack(command: string, open: (line: string) => Session): Promise<Session> {
  const flags: string[] = [];
  for (;;) {
    const session = open(flags.length === 0 ? command : `${command} -- ${flags.join(' ')}`);
    const [seen] = await session.shows(/^Notifications$|choose another: npm run stack/m, 2 * minuteMs);
    if (seen === 'Notifications') return session;
    await session.ended;
    for (const [, flag] of session.output().matchAll(/npm run stack -- (--\S+)=127\.0\.0\.1:PORT/g))
      flags.push(`${flag}=127.0.0.1:${await freePort()}`);
  }
}
