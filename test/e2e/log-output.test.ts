import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync, readFileSync, readSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { givenFolder } from '../support/folder.ts';
import { valueOf } from '../support/samples.ts';
import { until } from '../support/until.ts';

type StandardError = number | 'inherit';

/** Spawns a program in a process group of its own, which ends with the test. */
function spawnGroup(command: readonly string[], stderr: StandardError): ChildProcess {
  const [program = '', ...args] = command;
  const child = spawn(program, args, { detached: true, stdio: ['pipe', 'ignore', stderr] });
  onTestFinished(() => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
  });
  return child;
}

/**
 * Starts an exporter of one appliance that refuses connections; `wrapper` is a command that runs
 * its arguments.
 */
async function startExporter(parts: { format: string; stderr: StandardError; wrapper?: readonly string[] }) {
  const file = join(givenFolder(), 'zlb.yml');
  writeFileSync(file, "appliances: [{ name: lb-one, url: 'https://127.0.0.1:1', api_key: canarykey }]\n");
  const address = `127.0.0.1:${await freePort()}`;
  const get = async (path: string): Promise<string> =>
    await (await fetch(`http://${address}${path}`, { signal: AbortSignal.timeout(10_000) })).text();
  const child = spawnGroup(
    [
      ...(parts.wrapper ?? []),
      process.execPath,
      'src/main.ts',
      `--config.file=${file}`,
      `--web.listen-address=${address}`,
      '--web.enable-lifecycle',
      `--log.format=${parts.format}`,
    ],
    parts.stderr,
  );
  const exited = once(child, 'exit') as Promise<[number | null]>;
  await until(() => get('/-/healthy').catch(() => ''), Boolean, 20_000);
  const value = async (...series: [name: string, labels?: Record<string, string>]): Promise<number> =>
    valueOf(await get('/metrics'), ...series) ?? 0;
  const dropped = () => value('zlb_exporter_log_lines_dropped_total');
  /** Has one line of about 20 kB logged; resolves to the number of lines dropped so far. */
  const log = async (): Promise<number> => {
    writeFileSync(file, Array.from({ length: 200 }, (_, index) => `unknown_key_of_the_test_${index}: 1`).join('\n'));
    const signal = AbortSignal.timeout(10_000);
    expect((await fetch(`http://${address}/-/reload`, { method: 'POST', signal })).status).toBe(400);
    return await dropped();
  };
  return {
    child,
    dropped,
    log,
    polls: () => value('zlb_collector_errors_total', { collector: 'farms', reason: 'connect' }),
    async stop() {
      const startedAt = performance.now();
      child.kill('SIGTERM');
      const [code] = await exited;
      return { code, ms: performance.now() - startedAt };
    },
  };
}

/** A named pipe that is read only when the test says so. */
function givenPipe() {
  const path = join(givenFolder(), 'pipe');
  expect(spawnSync('mkfifo', [path]).status).toBe(0);
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const writer = openSync(path, constants.O_WRONLY);
  let isOpen = true;
  const closeReader = (): void => {
    if (isOpen) closeSync(reader);
    isOpen = false;
  };
  onTestFinished(closeReader);
  let text = '';
  return {
    writer,
    closeReader,
    /** All that was read so far; it may end in the middle of a line. */
    read(): string {
      const bytes = Buffer.alloc(65_536);
      try {
        text += bytes.toString('utf8', 0, readSync(reader, bytes));
      } catch {
        // Nothing is there to be read.
      }
      return text;
    },
  };
}

describe.each([
  {
    format: 'json',
    line: /^\{"level":.*\}$/,
    notice: /^\{"level":"warn",.*"lines":[1-9]\d*,.*"msg":"log lines were lost"\}$/m,
  },
  { format: 'logfmt', line: /^level=.* msg=.+/, notice: /^level=warn .*lines=[1-9]\d* .*msg="log lines were lost"$/m },
])('an exporter whose log cannot be written, in $format', ({ format, line, notice }) => {
  it('serves, polls and stops on a full disk, and counts the lost lines', async () => {
    const stderr = openSync('/dev/full', 'w');
    const exporter = await startExporter({ format, stderr });
    closeSync(stderr);

    await until(exporter.polls, (polls) => polls > 0);
    await until(exporter.log, (dropped) => dropped > 1);
    const { code, ms } = await exporter.stop();

    expect(code).toBe(0);
    expect(ms).toBeLessThan(4_000);
  });

  it('logs again once there is room, and says how many lines were lost', async () => {
    const log = join(givenFolder(), 'log');
    const wrapper = ['bash', '-c', 'ulimit -f 48; exec "$@" 2>>"$0"', log];
    const exporter = await startExporter({ format, stderr: 'inherit', wrapper });

    await until(exporter.log, (dropped) => dropped > 1);
    const roomForSome = async (): Promise<string> => {
      truncateSync(log);
      await exporter.log();
      return readFileSync(log, 'utf8');
    };
    const text = await until(roomForSome, (seen) => notice.test(seen));
    // The first line began before the cut; the last one ends where there was no room again.
    const [, ...lines] = text.slice(0, text.lastIndexOf('\n')).split('\n');
    const { code } = await exporter.stop();

    expect(lines.length).toBeGreaterThan(1);
    expect(lines.filter((each) => !line.test(each))).toEqual([]);
    expect(code).toBe(0);
    expect(readFileSync(log, 'utf8')).toMatch(/stopping"?\}?\n$/);
  });

  it('continues without a reader of the log; a late reader gets whole lines and the number of lost ones', async () => {
    const pipe = givenPipe();
    const exporter = await startExporter({ format, stderr: pipe.writer });
    closeSync(pipe.writer);

    await until(exporter.log, (dropped) => dropped > 0);
    const text = await until(pipe.read, (seen) => notice.test(seen));
    await exporter.log();
    const all = await until(pipe.read, (seen) => seen.endsWith('\n') && seen.length > text.length + 10_000);

    expect(
      all
        .trim()
        .split('\n')
        .filter((each) => !line.test(each)),
    ).toEqual([]);
    expect((await exporter.stop()).code).toBe(0);
  });

  it('stops in time without a reader of the log', async () => {
    const pipe = givenPipe();
    const exporter = await startExporter({ format, stderr: pipe.writer });
    closeSync(pipe.writer);
    await until(exporter.log, (dropped) => dropped > 0);

    const { code, ms } = await exporter.stop();

    expect(code).toBe(0);
    expect(ms).toBeLessThan(4_000);
  });

  it('continues after the reader of the log has closed the pipe', async () => {
    const pipe = givenPipe();
    const exporter = await startExporter({ format, stderr: pipe.writer });
    closeSync(pipe.writer);
    pipe.closeReader();

    const dropped = await until(exporter.log, (seen) => seen > 1);
    const { code, ms } = await exporter.stop();

    expect(dropped).toBeGreaterThan(1);
    expect(code).toBe(0);
    expect(ms).toBeLessThan(4_000);
  });
});
