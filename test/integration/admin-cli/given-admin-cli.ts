import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { admin } from '../../../src/commands/admin/admin.ts';
import { UsageError } from '../../../src/commands/command.ts';
import { deliver } from '../../../src/commands/deliver/deliver.ts';
import { parseFlags } from '../../../src/commands/parse-flags.ts';
import type { World } from '../../../simulator/world.ts';
import { givenFolder } from '../../support/folder.ts';
import { type GivenOptions, givenGateway } from '../../support/given-gateway.ts';
import { givenContext } from '../../unit/commands/given-command.ts';

interface Typed {
  /** A role, or a token. */
  readonly as?: string;
  /** The typed answers, question by question; without them there is no terminal. */
  readonly answers?: readonly string[];
  readonly input?: string | Buffer;
  readonly terminal?: boolean;
  /** Variables beside those that name the gateway. */
  readonly env?: Readonly<Record<string, string>>;
  /** Runs whenever the command or its change waits; the time passes at once. */
  readonly whileWaiting?: (ms: number) => void;
  /** Aborts when the person stops the command. */
  readonly stopped?: AbortSignal;
}

/** The commands admin and deliver against a real gateway in front of simulated appliances. */
export async function givenAdminCli(worlds: Readonly<Record<string, World>>, options: GivenOptions = {}) {
  // Stands still but for waits: a busy machine must not change how long one takes.
  let nowMs = Date.now();
  let whileWaiting: Typed['whileWaiting'];
  const pass = async (ms: number): Promise<void> => {
    nowMs += ms;
    whileWaiting?.(ms);
  };
  const gateway = await givenGateway(worlds, { waits: { steadyNow: () => nowMs, sleep: pass }, ...options });
  const folder = givenFolder();
  const runs: string[] = [];

  async function run(words: readonly string[], typed: Typed = {}) {
    const { as = 'admin', answers, input = '', terminal = answers !== undefined } = typed;
    ({ whileWaiting } = typed);
    const asked: string[] = [];
    const replies = [...(answers ?? [])];
    const { flags, positionals } = parseFlags(words);
    const written: Buffer[] = [];
    const { context, said, warned } = givenContext({
      flags,
      arguments: positionals.slice(1),
      env: { ...typed.env, ZLB_ADMIN_URL: gateway.url, ZLB_ADMIN_TOKEN: gateway.tokenOf(as as 'admin') || as },
      now: () => nowMs,
      steadyNow: () => nowMs,
      sleep: pass,
      ...(typed.stopped && { stopped: typed.stopped }),
      shell: {
        outputIsTerminal: terminal,
        paint: (_, text) => text,
        input: Readable.from([Buffer.from(input)]),
        write: async (bytes) => void written.push(Buffer.from(bytes)),
        ask: answers && (async (question) => (asked.push(question), replies.shift() ?? '')),
      },
    });
    const code = await (words[0] === 'deliver' ? deliver : admin)(context).catch((error: unknown) => {
      if (!(error instanceof UsageError)) throw error;
      warned.push(error.message);
      return 2;
    });
    const [out, err] = [said.join('\n'), warned.join('\n')];
    const errors = err && err.replaceAll(/^/gm, '! ');
    runs.push([`$ zlb-exporter ${words.join(' ')}`, out, ...asked, errors, `exit ${code}`].filter(Boolean).join('\n'));
    return { code, out, err, bytes: Buffer.concat(written), asked };
  }

  return {
    ...gateway,
    run,
    folder,
    /** What was typed and what came of it, each part once; lines of standard error begin with `!`. */
    session: () => withoutRepeats(stable(runs.join('\n\n').replaceAll(folder, '/tmp'))),
    /** A file for `--body=@…` and `file=…`. */
    file: async (name: string, content: string | Buffer) => {
      const path = join(folder, name);
      await writeFile(path, content);
      return path;
    },
    /** The operations that were sent on to the appliance and change something, oldest first. */
    done: async () => {
      const lines = await gateway.audit();
      return lines.filter(({ event }) => event === 'intent').map(({ operation }) => operation);
    },
    /** The calls to the appliance that change something, as method and path. */
    changes: () =>
      gateway.appliance.requests
        .filter(({ method }) => method !== 'GET')
        .map(({ method, path }) => `${method} ${path}`),
  };
}

/** Returns a text with each of its paragraphs once, and without the settings of objects. */
function withoutRepeats(text: string): string {
  const paragraphs = text.replaceAll(/^( *)(Now \(\w+\))(?:\n\1 {2}.*|\n *(?=\n\1 {2}))+/gm, '$1$2 …').split('\n\n');
  const isRepeat = (index: number) => {
    const each = paragraphs[index] ?? '';
    return each.includes('\n') && !each.startsWith('$') && paragraphs.indexOf(each) < index;
  };
  return paragraphs
    .map((each, index) => (isRepeat(index) ? '(as above)' : each))
    .filter((each, index) => !(isRepeat(index) && isRepeat(index - 1)))
    .join('\n\n');
}

/** Returns a text without what differs from run to run: times, addresses, names by chance. */
function stable(text: string): string {
  return (
    text
      .replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:PORT')
      .replaceAll(/\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?: UTC|Z)?)?|\d\d:\d\d:\d\d UTC/g, 'TIME')
      .replaceAll(/[A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d \d{4} GMT/g, 'TIME')
      .replaceAll(/\bpre-change-\d{8}-\d{6}/g, 'pre-change-TIME')
      .replaceAll(/\bch-\w+/g, 'ch-ID')
      .replaceAll(/\brequest [\w-]+$/gm, 'request ID')
      .replaceAll(/-[\da-f]{12}\.pem/g, '-FINGERPRINT.pem')
      .replaceAll(/\b[\da-f]{64}\b/g, 'DIGEST')
      // The length of a signature differs.
      .replaceAll(/"bytes":\d+/g, '"bytes":BYTES')
  );
}
