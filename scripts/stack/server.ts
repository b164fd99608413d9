import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Program, type ProgramStart, startProgram } from './program.ts';
import { reachable } from './reachable.ts';
import { StackError } from './stack-error.ts';

/** A Prometheus or an Alertmanager that answers. */
export interface Server extends Program {
  readonly url: string;
}

export interface ServerStart {
  /** The folder of its configuration and data; created if it is missing. */
  readonly folder: string;
  /** `host:port`, or `:port` for every address. */
  readonly address: string;
  readonly config: string;
  /** Written beside the configuration, so that it can name them without a path. */
  readonly files?: Readonly<Record<string, string>> | undefined;
  /** Another program than Debian's. */
  readonly command?: string | undefined;
  /** Flags beside those that every start has. */
  readonly args?: readonly string[];
}

interface ServerProgram extends ServerStart, ProgramStart {
  readonly command: string;
  readonly args: readonly string[];
  readonly configFile: string;
}

const readyWithinMs = 30_000;

/**
 * Both programs have the same manners: a configuration file, a listen address, and a page that says
 * when they are ready.
 */
export async function startServer({
  folder,
  address,
  config,
  configFile,
  files,
  ...start
}: ServerProgram): Promise<Server> {
  await mkdir(folder, { recursive: true });
  for (const [file, text] of Object.entries({ ...files, [configFile]: config }))
    await writeFile(join(folder, file), text);
  const url = `http://${reachable(address)}`;
  const program = await startProgram({
    ...start,
    args: [
      `--config.file=${join(folder, configFile)}`,
      `--web.listen-address=${address}`,
      `--web.external-url=${url}/`,
      ...start.args,
    ],
  });
  try {
    await ready(program, `${url}/-/ready`);
  } catch (error) {
    await program.stop();
    throw error;
  }
  return { ...program, url };
}

/**
 * Waits until a page of a program answers; rejects with a StackError when it ends before, or never
 * does.
 */
export async function ready(program: Program, page: string): Promise<void> {
  const deadline = performance.now() + readyWithinMs;
  const end = program.ended.then((how) => ({ how }));
  for (;;) {
    const answer = fetch(page, { signal: AbortSignal.timeout(5_000) }).then(
      ({ ok }) => ok,
      () => false,
    );
    const seen = await Promise.race([answer, end]);
    if (seen === true) return;
    if (seen !== false) throw new StackError(lastWords(program, `ended at its start: ${seen.how}${doubt(program)}`));
    if (performance.now() > deadline)
      throw new StackError(lastWords(program, `was not ready after ${readyWithinMs / 1_000} s${doubt(program)}`));
    await delay(50);
  }
}

function doubt({ command, lines }: Program): string {
  return lines().length > 0 ? '' : `, and wrote nothing; is ${command} the right program?`;
}

/** Returns the latest lines of a program, and below them, where people look, its fate. */
export function lastWords({ name, lines }: Program, what: string): string {
  const written = lines().slice(-10);
  const log = written.length === 0 ? [] : [`the last that ${name} wrote:`, ...written.map((line) => `  ${line}`)];
  return [...log, `${name} ${what}`].join('\n');
}
