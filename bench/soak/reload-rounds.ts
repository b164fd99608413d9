import { readFileSync } from 'node:fs';
import { canary } from './canaries.ts';
import { type ApplianceEntry, entryOf } from './configuration.ts';
import type { Stage } from './stage.ts';

/** The changes of one round to the files. */
export type Round =
  | { readonly kind: 'broken' }
  /** Nothing differs from what is in force. */
  | { readonly kind: 'same' }
  | { readonly kind: 'added' | 'removed'; readonly name: string }
  /** `moved` got another address, the same appliance behind it. */
  | { readonly kind: 'changed' | 'moved'; readonly name: string };

/** Edits the files of a configuration, one thing in each round. */
export interface ReloadRounds {
  /** `mayAdd` says of whom a page has been seen without them. */
  next(round: number, mayAdd: (name: string) => boolean): { readonly round: Round; write(): void };
  /** The appliances that the files name once they are written. */
  readonly configured: ReadonlySet<string>;
}

/** Half of the appliances that are edited go into the file that the main one names by a pattern. */
export function createReloadRounds({ configuration, random, fleet, plan }: Stage): ReloadRounds {
  const unchanged = plan.untroubled;
  const entries = new Map(fleet.appliances.map((appliance) => [appliance.name, entryOf(appliance)]));
  const configured = new Set(plan.configured);
  const others = [...entries.keys()].filter((name) => !unchanged.includes(name));
  const listed = new Set(others.filter((_, index) => index % 2 === 1));

  function writeAll(): void {
    const chosen = [...entries.values()].filter(({ name }) => configured.has(name));
    configuration.writeListed(chosen.filter(({ name }) => listed.has(name)));
    configuration.write(chosen.filter(({ name }) => !listed.has(name)));
  }

  function edit(name: string, change: (entry: ApplianceEntry) => ApplianceEntry): void {
    const entry = entries.get(name);
    if (entry) entries.set(name, change(entry));
  }

  function breakFiles(): void {
    writeAll();
    if (random.share() < 0.25) configuration.writeListedText(random.pick(brokenLists));
    else configuration.writeText(random.pick(brokenFiles)(readFileSync(configuration.file, 'utf8')));
  }

  return {
    configured,
    next(number, mayAdd) {
      const present = others.filter((name) => configured.has(name));
      const absent = others.filter((name) => !configured.has(name) && mayAdd(name));
      const chance = random.share();
      if (chance < 0.2) return { round: { kind: 'broken' }, write: breakFiles };
      if (chance < 0.3) return { round: { kind: 'same' }, write: writeAll };
      if (chance < 0.45 && present.length > 1) {
        const name = random.pick(present);
        configured.delete(name);
        return { round: { kind: 'removed', name }, write: writeAll };
      }
      if (chance < 0.6 && absent.length > 0) {
        const name = random.pick(absent);
        configured.add(name);
        return { round: { kind: 'added', name }, write: writeAll };
      }
      const name = random.pick(present);
      if (chance < 0.7) {
        edit(name, (entry) => ({ ...entry, url: otherAddress(String(entry['url'])) }));
        return { round: { kind: 'moved', name }, write: writeAll };
      }
      edit(name, (entry) => ({ ...entry, ...random.pick(changes)(number) }));
      return { round: { kind: 'changed', name }, write: writeAll };
    },
  };
}

const changes: readonly ((round: number) => Partial<ApplianceEntry>)[] = [
  (round) => ({ labels: { round: `${round}` } }),
  (round) => ({ key_header: round % 2 === 0 ? 'API_KEY' : 'auto' }),
  (round) => ({ collectors: { summary: { schedule: `*/${round % 2 === 0 ? 15 : 20} * * * * *`, max_stale: '90s' } } }),
  (round) => ({ farms: { exclude: [`nothing-${round}`] } }),
];

/** Two names of this machine; the pinned certificate is the same. */
function otherAddress(url: string): string {
  return url.includes('127.0.0.1') ? url.replace('127.0.0.1', 'localhost') : url.replace('localhost', '127.0.0.1');
}

/** Ways to break a good configuration; the errors are next to secrets. */
const brokenFiles: readonly ((good: string) => string)[] = [
  () => '',
  () => `appliances: [ { name: lb, api_key: '${canary('unclosed')}'`,
  (good) => good.slice(0, good.length / 2),
  (good) => changed(good, (file) => ({ ...file, appliancess: [], password: canary('unknown-key') })),
  (good) => changed(good, (file) => ({ ...file, appliances: [...file.appliances, ...file.appliances] })),
  (good) => changed(good, (file) => ({ ...file, appliances: file.appliances.map(withoutKey) })),
  (good) => changed(good, (file) => ({ ...file, appliances: file.appliances.map(withMissingFile) })),
  (good) => changed(good, (file) => ({ ...file, appliances: [canary('no-appliance')] })),
  (good) => changed(good, (file) => ({ ...file, polling: { timeout: 'soon' } })),
];

const brokenLists: readonly string[] = [
  `- { name: lb, api_key: '${canary('unclosed-list')}'`,
  `{ name: lb, api_key: '${canary('no-list')}' }`,
  `- { name: lb-broken, url: 'https://127.0.0.1:1', api_key: '${canary('unknown-key-in-list')}', nmae: lb }`,
];

interface GoodFile {
  readonly appliances: readonly ApplianceEntry[];
}

function changed(good: string, change: (file: GoodFile) => unknown): string {
  return JSON.stringify(change(JSON.parse(good) as GoodFile));
}

/** JSON leaves out what is undefined. */
function withoutKey(entry: ApplianceEntry): unknown {
  return { ...entry, api_key: undefined };
}

function withMissingFile(entry: ApplianceEntry): unknown {
  return { ...entry, api_key: undefined, api_key_file: 'nowhere.key' };
}
