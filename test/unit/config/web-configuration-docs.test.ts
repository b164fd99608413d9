import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { makeMaterial } from '../../support/tls-server.ts';
import { loadWebText } from './given-web-config.ts';

const page = readFileSync(new URL('../../../docs/web-configuration.md', import.meta.url), 'utf8');

describe('the documentation of the web configuration', () => {
  it('has a meaning and a type in each row of a key', () => {
    const rows = page.match(/^\| `[a-z_]+\..*\|$/gm) ?? [];

    expect(rows.length).toBeGreaterThan(20);
    for (const row of rows) {
      const [key, type, , meaning] = row.replace(/^\| | \|$/g, '').split(' | ');
      expect({ key, complete: [type, meaning].every(Boolean) }).toEqual({ key, complete: true });
    }
  });

  it('shows examples that load', async () => {
    const blocks = [...page.matchAll(/```yaml\n(tls_server_config:.*?)```/gs)].map(([, yaml]) => yaml);
    const [own, clients] = [makeMaterial(), makeMaterial()];
    const files = { 'server.crt': own.cert, 'server.key': own.key, 'prometheus-ca.crt': clients.cert };

    expect(blocks).toHaveLength(2);
    for (const block of blocks) expect(await loadWebText(block ?? '', { files })).toHaveProperty('tls');
  });
});
