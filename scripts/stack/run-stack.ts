import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeToken } from '../../src/commands/token.ts';
import { readRuleFiles, ruleFiles } from '../rule-files.ts';
import { lastWords, startAlertmanager, startPrometheus } from './server.ts';
import {
  impatientRules,
  localAlertmanagerConfiguration,
  localPrometheusConfiguration,
  quickened,
} from './configuration.ts';
import { startExporter } from './exporter.ts';
import type { StackFlags } from './flags.ts';
import { checkAddresses, reachable } from './addresses.ts';
import { introduction } from './introduction.ts';
import { createTeller, startReceiver } from './notifications.ts';
import { type Program, StackError } from './program.ts';

export interface StackParts {
  readonly flags: StackFlags;
  /** Ends the stack. */
  readonly stopped: AbortSignal;
  /** Writes a line for people. */
  readonly say: (line: string) => void;
}

/**
 * Runs everything until it is stopped, and reports that; rejects with a StackError when a part
 * cannot start or ends.
 */
export async function runStack({ flags, stopped, say }: StackParts): Promise<void> {
  const { addresses } = flags;
  await checkAddresses(addresses);
  const rules = readRuleFiles();
  const [scraping, routes] = await Promise.all([
    readShipped('deploy/prometheus/prometheus.yml'),
    readShipped('alerts/alertmanager.example.yml'),
  ]);

  const folder = await mkdtemp(join(tmpdir(), 'zlb-stack-'));
  const places = Object.fromEntries(
    Object.entries(addresses).map(([name, address]) => [name, reachable(address)]),
  ) as StackFlags['addresses'];
  const owned: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })];
  try {
    // In this order, so that none looks for another that is not there yet.
    const tell = createTeller(`http://${places.gateway}/console`);
    const receiver = await startReceiver((delivery) => tell(delivery, new Date()).forEach(say));
    owned.push(() => receiver.close());
    const { token, sha256: alertmanagerSha256 } = makeToken();
    const gateway = { url: `http://${places.gateway}`, tokenFile: 'gateway-token' };
    const alertmanager = await startAlertmanager({
      folder: join(folder, 'alertmanager'),
      address: addresses.alertmanager,
      config: localAlertmanagerConfiguration(routes, { people: receiver.url, gateway }),
      files: { [gateway.tokenFile]: token },
      command: flags.alertmanager,
    });
    owned.push(() => alertmanager.stop());
    stopped.throwIfAborted();
    const watched = await startExporter({
      folder: join(folder, 'exporter'),
      address: addresses.exporter,
      gatewayAddress: addresses.gateway,
      alertmanagerSha256,
    });
    owned.push(() => watched.close());
    stopped.throwIfAborted();
    const prometheus = await startPrometheus({
      folder: join(folder, 'prometheus'),
      address: addresses.prometheus,
      config: localPrometheusConfiguration(flags.patient ? scraping : quickened(scraping), places),
      files: flags.patient
        ? Object.fromEntries(ruleFiles.map((name, index) => [name, rules[index] ?? '']))
        : { 'zlb.rules.yml': impatientRules(rules) },
      command: flags.prometheus,
    });
    owned.push(() => prometheus.stop());

    stopped.throwIfAborted();
    introduction(watched, places, flags).forEach(say);
    await untilStopped(stopped, [alertmanager, watched.exporter, prometheus]);
  } catch (error) {
    // Ctrl-C reaches the programs too: one that ends in the middle of its start then does what it
    // was asked.
    const asked = stopped.aborted && (error === stopped.reason || error instanceof StackError);
    if (!asked) throw error;
  } finally {
    for (const close of owned.reverse()) await close();
  }
  say('Stopped.');
}

async function untilStopped(stopped: AbortSignal, programs: readonly Program[]): Promise<void> {
  const asked = new Promise<void>((resolve) => stopped.addEventListener('abort', () => resolve(), { once: true }));
  const ends = programs.map(async (program) => {
    const how = await program.ended;
    throw new StackError(lastWords(program, `ended: ${how}; everything was stopped`));
  });
  await Promise.race([asked, ...ends]);
}

function readShipped(file: string): Promise<string> {
  return readFile(new URL(`../../${file}`, import.meta.url), 'utf8');
}
