import { parseArgs } from 'node:util';
import { parts, type SoakOptions, troubles } from './stage.ts';

/** What a command line decides. */
export type ChosenOptions = Omit<SoakOptions, 'promtool' | 'signal' | 'say'>;

/** The whole soak takes half as long again as its part with random faults. */
export function readOptions(words: readonly string[]): ChosenOptions {
  const { values } = parseArgs({
    args: [...words],
    options: {
      // V8 compiles for some ten minutes what bad clients make hot; in a short part that looks as if the heap grew.
      minutes: { type: 'string', default: '40' },
      appliances: { type: 'string', default: '100' },
      reloads: { type: 'string', default: '1000' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      only: { type: 'string', multiple: true, default: [...parts] },
      'web-config': { type: 'boolean', default: false },
      // A cycle that divides a minute.
      'cycle-seconds': { type: 'string', default: '10' },
      // As many as keep the listeners full of connections nearly all the time: what memory that takes is taken at once.
      clients: { type: 'string', default: '24' },
      herd: { type: 'string', default: '1000' },
    },
  });
  const only = values.only.flatMap((list) => list.split(','));
  const unknown = only.find((name) => !parts.some((part) => part === name));
  if (unknown !== undefined) throw new Error(`--only=${unknown} is no part; the parts are ${parts.join(', ')}`);
  const cycleSeconds = positive('cycle-seconds', values['cycle-seconds']);
  const minutes = positive('minutes', values.minutes);
  return {
    parts: new Set(parts.filter((part) => only.includes(part))),
    minutes,
    troubleMinutes: Math.max(minutes / 16, (4 * cycleSeconds) / 60),
    troubles,
    appliances: positive('appliances', values.appliances),
    reloads: positive('reloads', values.reloads),
    cycleSeconds,
    scrapeEveryMs: cycleSeconds * 500,
    clients: positive('clients', values.clients),
    herd: positive('herd', values.herd),
    webConfig: values['web-config'],
    seed: positive('seed', values.seed),
  };
}

function positive(name: string, text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new Error(`--${name}=${text} has to be a number above 0`);
  return value;
}
