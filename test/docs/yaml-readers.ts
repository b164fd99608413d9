import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { ruleFiles } from '../../scripts/rule-files.ts';
import { collectorDefaults } from '../../src/collectors/registry.ts';
import { loadSettings } from '../../src/app/load-settings.ts';
import { configSchema } from '../../src/config/schema.ts';
import { webSchema } from '../../src/config/web-schema.ts';
import { loadWebSettings } from '../../src/config/web-settings.ts';
import { isRecord } from '../../src/lib/check.ts';
import { feed, isThere } from '../support/programs.ts';
import { root } from './documents.ts';

/** A program that reads YAML of the documents. */
interface Reader {
  readonly name: string;
  /** Keys at the top; one of them is enough to be read by it. */
  readonly keys: readonly string[];
  /** Returns the complaint about the text; empty if it is accepted. */
  complaint(text: string, folder: string): Promise<string>;
}

const appliances = ['lb-paris', 'lb-paris-1', 'lb-paris-2'].map((name, index) => ({
  name,
  url: `https://192.0.2.1${index}:444`,
  api_key: 'a-secret',
}));

const readers: readonly Reader[] = [
  {
    name: 'the exporter',
    keys: keysOf(configSchema([...collectorDefaults.keys()], [])),
    async complaint(text, folder) {
      const file = write(folder, 'zlb.yml', withKeys(text, { appliances }));
      return await saidBy(() => loadSettings({ file, env: {} }));
    },
  },
  {
    name: 'the listener',
    keys: keysOf(webSchema),
    async complaint(text, folder) {
      return await saidBy(() => loadWebSettings({ file: write(folder, 'web.yml', text), env: {} }));
    },
  },
  {
    name: 'Prometheus',
    keys: ['scrape_configs', 'rule_files', 'alerting', 'global'],
    async complaint(text, folder) {
      for (const name of ruleFiles) copyFileSync(join(root, 'alerts', name), join(folder, name));
      return refusedBy('promtool', ['check', 'config', write(folder, 'prometheus.yml', text)]);
    },
  },
  {
    name: 'Prometheus as rules',
    keys: ['groups'],
    async complaint(text, folder) {
      return refusedBy('promtool', ['check', 'rules', write(folder, 'rules.yml', text)]);
    },
  },
  {
    name: 'Alertmanager',
    keys: ['route', 'receivers', 'inhibit_rules', 'time_intervals'],
    async complaint(text, folder) {
      const file = write(
        folder,
        'alertmanager.yml',
        withKeys(text, { route: { receiver: 'all' }, receivers: [{ name: 'all' }] }),
      );
      return refusedBy('amtool', ['check-config', file]);
    },
  },
  {
    name: 'Compose',
    keys: ['services'],
    async complaint(text) {
      const { services } = parse(text) as { services: unknown };
      return isRecord(services) && Object.values(services).every(isRecord)
        ? ''
        : 'services is not a mapping of mappings';
    },
  },
];

const nobody: Reader = {
  name: 'nobody',
  keys: [],
  async complaint() {
    const known = readers.map(({ name, keys }) => `${name} (${keys.join(', ')})`);
    return `Write what one of these reads, with a key of theirs at the top, or mark it: ${known.join('; ')}`;
  },
};

export function readerOf(text: string): Reader {
  const keys = [...text.matchAll(/^([\w-]+):/gm)].map(([, key = '']) => key);
  return readers.find((reader) => keys.some((key) => reader.keys.includes(key))) ?? nobody;
}

function keysOf(schema: { readonly properties: object }): readonly string[] {
  return Object.keys(schema.properties);
}

/**
 * The text as it is, and behind it what it leaves out; where that cannot be, the text is refused
 * with its own lines.
 */
function withKeys(text: string, defaults: Readonly<Record<string, unknown>>): string {
  const missing = Object.entries(defaults).filter(([key]) => !new RegExp(`^${key}:`, 'm').test(text));
  return [text, ...missing.map(([key, value]) => stringify({ [key]: value }))].join('\n');
}

function write(folder: string, name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

async function saidBy(load: () => Promise<unknown>): Promise<string> {
  try {
    await load();
    return '';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function refusedBy(program: string, args: readonly string[]): string {
  if (!isThere(program)) return '';
  const { status, stdout, stderr } = feed(program, args, Buffer.of());
  return status === 0 ? '' : stdout.toString() + stderr;
}
