import { canary } from './canaries.ts';
import type { ApplianceEntry } from './configuration.ts';

/** Ways to break a configuration that was good; what is wrong stands beside secrets. */
export const brokenFiles: readonly ((good: string) => string)[] = [
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

export const brokenLists: readonly string[] = [
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
