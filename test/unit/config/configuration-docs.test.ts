import { existsSync, readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { configurationJsonSchema } from '../../../scripts/docs/configuration-tables.ts';
import { plainSchema, type SchemaNode } from '../../../scripts/docs/key-list.ts';
import { webSchema as webConfiguration } from '../../../src/config/web-schema.ts';

const docs = new URL('../../../docs/', import.meta.url);
const pageOf = (name: string): string => readFileSync(new URL(name, docs), 'utf8');
const schema: SchemaNode = JSON.parse(configurationJsonSchema());
const webSchema = plainSchema(webConfiguration);
const ajv = new Ajv({ strictTypes: false });
const fits = ajv.compile(schema);

/** A schema and those of all keys in it. */
function nodesOf(node: SchemaNode): readonly SchemaNode[] {
  const inside = [...Object.values(node.properties ?? {}), ...(node.items ? [node.items] : [])];
  return [node, ...inside.flatMap(nodesOf)];
}

describe('the documentation of the configuration', () => {
  it('has a type and a meaning in each item of a key', () => {
    const items = pageOf('configuration.md').match(/^- `[a-z_]+[.[].*(?:\n {2}.*)*/gm) ?? [];

    expect(items.length).toBeGreaterThan(40);
    expect(items.filter((item) => !/^- `[^`]+` \([a-z\d][^]*?\):\s[^]+$/.test(item))).toEqual([]);
  });

  it('names each key of the web configuration', () => {
    const page = pageOf('web-configuration.md');
    const keys = nodesOf(webSchema).flatMap(({ properties = {} }) => Object.keys(properties));

    expect(keys.length).toBeGreaterThan(20);
    expect(keys.filter((key) => !new RegExp(`\\b${key}\\b`).test(page))).toEqual([]);
  });

  it('names the schema by a path relative to the file', () => {
    const named = [...pageOf('configuration.md').matchAll(/^# yaml-language-server: \$schema=(\S+)$/gm)].map(
      ([, path = '']) => path,
    );

    expect(named).not.toEqual([]);
    expect(named.filter((path) => !existsSync(new URL(path, docs)))).toEqual([]);
  });

  it('has examples and defaults that fit the schema', () => {
    // Collectors are alike.
    const different = new Map(nodesOf(schema).map((node) => [JSON.stringify(node), node]));
    const shown = [...different.values()].flatMap((node) =>
      [...(node.examples ?? []), ...('default' in node ? [node.default] : [])].map((value) => ({ node, value })),
    );

    expect(shown.length).toBeGreaterThan(50);
    expect(shown.filter(({ node, value }) => !ajv.validate(node, value))).toEqual([]);
  });

  const appliance = { name: 'lb', url: 'https://192.0.2.10', api_key_file: '/run/secrets/lb' };
  const appliances = [appliance];
  const token = { name: 'alice', sha256: 'ab'.repeat(32), role: 'viewer' };

  it.each([
    [{ appliances, polling: { jitter: 0.1 } }, true],
    [{ appliances: [{ ...appliance, api_key: 'both' }] }, false],
    [{ appliances, poling: {} }, false],
    [{ polling: {} }, false],
    [{ appliances: [{ ...appliance, admin_api_key: 'a', admin_api_key_file: 'b' }] }, false],
    [{ appliances, admin: { tokens: [] } }, false],
    [{ appliances, admin: { tokens: [token] } }, true],
  ])('has a schema that accepts the same files as the loader: %j', (file, isRight) => {
    expect(fits(file)).toBe(isRight);
  });
});
