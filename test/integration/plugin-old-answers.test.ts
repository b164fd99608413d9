import { createServer } from 'node:http';
import { describe, expect, it } from 'vitest';
import { runCommandLine } from '../../src/cli.ts';
import { givenContext } from '../unit/commands/given-command.ts';
import { listening } from '../support/listening.ts';

const hourMs = 3_600_000;

/** Runs the plug-in against an answer of an exporter that is as old as is given. */
async function ask(ageMs: number, collectors: readonly string[]) {
  const atMs = Date.now() - ageMs;
  const state = { up: true, deactivated: false, breaker: 'closed' };
  const read = { lastSuccessMs: atMs - 1_000, intervalMs: 30_000, isStale: false, isSupported: true };
  const appliance = { name: 'lb-1', ...state, problems: [], collectors: collectors.map((name) => ({ name, ...read })) };
  const server = createServer((_, response) => {
    response.setHeader('date', new Date(atMs).toUTCString());
    response.end(JSON.stringify({ demonstration: false, appliances: [appliance] }));
  });
  const port = await listening(server);
  const { context, said } = givenContext({});
  const url = `--exporter.url=http://127.0.0.1:${port}`;
  return { code: await runCommandLine(['plugin', 'appliance', 'lb-1', url], context), line: said.join('\n') };
}

describe('the plug-in with an answer that does not show an appliance of now', () => {
  it('is OK for one of now', async () => {
    expect(await ask(0, ['farms'])).toMatchObject({ code: 0 });
  });

  it.each([hourMs, -hourMs])('is UNKNOWN if a proxy repeats it, or a clock is wrong: %i ms old', async (ageMs) => {
    const { code, line } = await ask(ageMs, ['farms']);

    expect({ code, line }).toEqual({ code: 3, line: expect.stringMatching(/^UNKNOWN - .*clock/) as string });
  });

  it('is UNKNOWN if nothing is read from the appliance', async () => {
    expect(await ask(0, [])).toMatchObject({ code: 3 });
  });
});
