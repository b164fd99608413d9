import { existsSync, globSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { Ajv } from 'ajv';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { configurationJsonSchema } from '../../../scripts/configuration-tables.ts';
import type { SchemaNode } from '../../../scripts/key-table.ts';
import { makeMaterial } from '../../support/tls-server.ts';
import { loadText } from './given-config.ts';

const docs = new URL('../../../docs/', import.meta.url);
const page = readFileSync(new URL('configuration.md', docs), 'utf8');
let certificate = '';

beforeAll(() => {
  certificate = makeMaterial().cert;
});

function examples(): readonly string[] {
  return [...page.matchAll(/```yaml\n(.*?)```/gs)].map(([, yaml = '']) => yaml);
}

/** A schema and those of all keys in it. */
function nodesOf(node: SchemaNode): readonly SchemaNode[] {
  const inside = [...Object.values(node.properties ?? {}), ...(node.items ? [node.items] : [])];
  return [node, ...inside.flatMap(nodesOf)];
}

describe('the documentation of the configuration', () => {
  it('has a type, a default and a meaning in each row of a key', () => {
    const rows = page.match(/^\| `[a-z_]+\W.*\|$/gm) ?? [];
    const cells = rows.map((row) => row.replace(/ \|$/, '').split(' | '));

    expect(rows.length).toBeGreaterThan(40);
    expect(cells.filter((each) => each.length !== 4 || each.includes(''))).toEqual([]);
  });

  it('shows files that load: the smallest, and a usual one', async () => {
    const [smallest = '', usual = ''] = examples();
    const load = (text: string) =>
      loadText(text.replaceAll('/run/secrets/', '').replace('/etc/ssl/certs/', ''), {
        env: { LB_PARIS_FINGERPRINT: 'ab'.repeat(32), LB_MADRID_FINGERPRINT: 'cd'.repeat(32) },
        files: {
          'lb-paris': 'f1x7ure',
          'lb-madrid': 'f1x7ure',
          'lb-madrid-admin': 'f1x7ure2',
          'ca-certificates.crt': certificate,
        },
      });

    expect(examples()).toHaveLength(2);
    await expect(load(smallest)).resolves.toMatchObject({ appliances: [{ name: 'lb-paris' }] });
    await expect(load(usual)).resolves.toMatchObject({
      appliances: [{ name: 'lb-paris' }, { name: 'lb-madrid', compact: true }],
      polling: { maxBusyRatio: 0.1 },
    });
  });

  it('names the schema by a path relative to the file', () => {
    const named = examples().flatMap((text) => /^# yaml-language-server: \$schema=(\S+)$/m.exec(text)?.[1] ?? []);

    expect(named).not.toEqual([]);
    expect(named.filter((path) => !existsSync(new URL(path, docs)))).toEqual([]);
  });

  it('has no examples that the schema refuses', () => {
    const fits = new Ajv({ strictTypes: false }).compile(JSON.parse(configurationJsonSchema()));

    for (const text of examples()) {
      expect(fits(parse(text)), JSON.stringify(fits.errors)).toBe(true);
      expect(fits(parse(text.replace('appliances:', 'aplliances:')))).toBe(false);
    }
  });

  it('has no configurations in other documents that the schema refuses', async () => {
    const fits = new Ajv({ strictTypes: false }).compile(JSON.parse(configurationJsonSchema()));
    const root = new URL('../', docs);
    const pages = ['README.md', ...globSync(['docs/*.md', 'deploy/**/*.md'], { cwd: root.pathname })];
    const texts = await Promise.all(pages.map((page) => readFile(new URL(page, root), 'utf8')));
    const shown = texts
      .flatMap((text) => [...text.matchAll(/^( *)```yaml\n(.*?)```/gms)])
      .map(([, indent, yaml = '']) => yaml.replaceAll(new RegExp(`^${indent}`, 'gm'), ''))
      // Values of the Helm chart have an image, and the keys of appliances below it.
      .filter((yaml) => /^appliances:/m.test(yaml) && !/^image:/m.test(yaml));

    expect(shown.length).toBeGreaterThan(3);
    expect(shown.filter((yaml) => !fits(parse(yaml)))).toEqual([]);
  });

  it('has examples and defaults that fit the schema', () => {
    const ajv = new Ajv({ strictTypes: false });
    // Collectors are alike.
    const different = new Map(
      nodesOf(JSON.parse(configurationJsonSchema())).map((node) => [JSON.stringify(node), node]),
    );
    const shown = [...different.values()].flatMap((node) =>
      [...(node.examples ?? []), ...('default' in node ? [node.default] : [])].map((value) => ({ node, value })),
    );

    expect(shown.length).toBeGreaterThan(50);
    expect(shown.filter(({ node, value }) => !ajv.validate(node, value))).toEqual([]);
  });

  it('has a schema that refuses the same files as the loader', () => {
    const fits = new Ajv({ strictTypes: false }).compile(JSON.parse(configurationJsonSchema()));
    const appliance = { name: 'lb', url: 'https://192.0.2.10', api_key_file: '/run/secrets/lb' };

    expect(fits({ appliances: [appliance], polling: { jitter: 0.1 } })).toBe(true);
    expect(fits({ appliances: [{ ...appliance, api_key: 'both' }] })).toBe(false);
    expect(fits({ appliances: [appliance], poling: {} })).toBe(false);
    expect(fits({ polling: {} })).toBe(false);
    expect(fits({ appliances: [{ ...appliance, admin_api_key: 'a', admin_api_key_file: 'b' }] })).toBe(false);
    expect(fits({ appliances: [appliance], admin: { tokens: [] } })).toBe(false);
    expect(
      fits({
        appliances: [appliance],
        admin: { tokens: [{ name: 'alice', sha256: 'ab'.repeat(32), role: 'viewer' }] },
      }),
    ).toBe(true);
  });
});
