import { readFile } from 'node:fs/promises';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { configurationJsonSchema, configurationPage } from '../../../scripts/generate-configuration-docs.ts';
import { loadText } from './given-config.ts';

const docs = new URL('../../../docs/', import.meta.url);

describe('the documentation of the configuration', () => {
  it('is what scripts/generate-configuration-docs.ts writes', async () => {
    expect(await readFile(new URL('configuration.md', docs), 'utf8')).toBe(configurationPage());
    expect(await readFile(new URL('configuration.schema.json', docs), 'utf8')).toBe(configurationJsonSchema());
  });

  it('has a meaning, a type and an example in each row of a key', () => {
    const rows = configurationPage().match(/^\| `[a-z_]+[^`]*`.*\|$/gm) ?? [];
    const keys = rows.map((row) => row.split(' | ')).filter((cells) => cells.length === 5 && !cells[0]?.includes('…'));

    expect(keys.length).toBeGreaterThan(15);
    for (const [key, type, , meaning, example] of keys) {
      expect({ key, complete: [type, meaning, example].every((cell) => cell !== '' && cell !== ' |') }).toEqual({
        key,
        complete: true,
      });
    }
  });

  it('shows examples that load together', async () => {
    const blocks = [...configurationPage().matchAll(/```yaml\n(.*?)```/gs)].map(([, yaml]) => yaml);

    const loading = loadText(blocks.join('').replace('/run/secrets/lb-paris', 'lb-paris'), {
      env: { LB_PARIS_FINGERPRINT: 'ab'.repeat(32) },
      files: { 'lb-paris': 'f1x7ure' },
    });

    await expect(loading).resolves.toMatchObject({
      appliances: [{ name: 'lb-paris' }],
      admin: { tokens: [{ name: 'alice', role: 'operator' }] },
    });
  });

  it('lets an editor see what the loader would refuse', () => {
    const fits = new Ajv({ allowUnionTypes: true }).compile(JSON.parse(configurationJsonSchema()));
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
