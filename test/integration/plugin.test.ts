import { createServer } from 'node:http';
import { describe, expect, it } from 'vitest';
import { busyWorld } from '../../simulator/scenes/busy.ts';
import { runCommandLine } from '../../src/cli.ts';
import { givenExporter } from '../support/given-exporter.ts';
import { listening } from '../support/listening.ts';
import { until } from '../support/until.ts';
import { givenContext } from '../unit/commands/given-command.ts';

const hourMs = 3_600_000;

async function ask(url: string, ...words: readonly string[]) {
  const { context, said } = givenContext({ env: { ZLB_EXPORTER_URL: url } });
  return { code: await runCommandLine(['plugin', ...words], context), line: said.join('\n') };
}

const saying = (line: RegExp) => expect.stringMatching(line) as string;

it('the plugin judges by current readings of an exporter, and never by old ones', async () => {
  const { url, appliances, stop } = await givenExporter({ 'lb-1': busyWorld() }, { eager: ['farms', 'backends'] });
  const intranet = () => ask(url, 'farm', 'lb-1', 'intranet');
  // A reading is old after three seconds.
  const known = (answer: typeof intranet) => until(answer, ({ code }) => code !== 3);

  expect(await until(intranet, ({ code }) => code === 0)).toMatchObject({
    line: saying(/^OK - 1 farm of lb-1: .* \| farms=1;;;0 /),
  });
  expect(await known(() => ask(url, 'farm', 'lb-1', 'legacy'))).toEqual({
    code: 2,
    line: saying(/^CRITICAL - farm legacy is critical/),
  });
  expect(await known(() => ask(url, 'connections', 'lb-1', 'shop', '-w', '1', '-c', '2'))).toMatchObject({ code: 2 });
  expect(await ask(url, 'farm', 'lb-2')).toEqual({ code: 3, line: saying(/^UNKNOWN - .* lb-2$/) });

  // Not that the exporter does not watch it.
  expect(await ask(`${url}/nope`, 'farm', 'lb-1')).toEqual({
    code: 3,
    line: saying(/^UNKNOWN - no exporter answers under http:.*\/nope \(404\): check .* path of --exporter\.url$/),
  });

  await appliances[0]?.close();
  const silent = await until(intranet, ({ line }) => line.includes('of farms is'));
  expect(silent).toEqual({ code: 3, line: saying(/^UNKNOWN - lb-1: .* old/) });

  await stop();
  expect(await intranet()).toEqual({ code: 3, line: saying(/^UNKNOWN - the exporter at .* did not respond/) });
});

describe('the plugin', () => {
  /** Asks an exporter whose answer is as old as is given. */
  async function askOld(ageMs: number, collectors: readonly string[]) {
    const atMs = Date.now() - ageMs;
    const state = { up: true, deactivated: false, breaker: 'closed' };
    const read = { lastSuccessMs: atMs - 1_000, intervalMs: 30_000, isStale: false, isSupported: true };
    const appliance = {
      name: 'lb-1',
      ...state,
      problems: [],
      collectors: collectors.map((name) => ({ name, ...read })),
    };
    const server = createServer((_, response) => {
      response.setHeader('date', new Date(atMs).toUTCString());
      response.end(JSON.stringify({ demonstration: false, appliances: [appliance] }));
    });
    return await ask(`http://127.0.0.1:${await listening(server)}`, 'appliance', 'lb-1');
  }

  it.each([
    ['current', 0, ['farms'], 0, /^OK/],
    ['repeated by a proxy', hourMs, ['farms'], 3, /^UNKNOWN - .*clock/],
    ['dated by a wrong clock', -hourMs, ['farms'], 3, /^UNKNOWN - .*clock/],
    ['without a reading of the appliance', 0, [], 3, /^UNKNOWN/],
  ])('reports OK only for a current response: %s', async (_, ageMs, collectors, code, line) => {
    expect(await askOld(ageMs, collectors)).toEqual({ code, line: saying(line) });
  });
});
