import { describe, expect, it } from 'vitest';
import { sentSecrets } from '../../../../src/commands/admin/sent-secrets.ts';

function hide(body: string, text: string): string {
  return sentSecrets({ type: 'application/json', bytes: Buffer.from(body) })(text);
}

describe('what is sent along in secret', () => {
  it('is taken out of a text, as it is and as it stands in JSON', () => {
    const body = JSON.stringify({ user: 'alerts', password: 'a "b" c', more: [{ api_key: 'zebra' }] });

    expect(hide(body, 'alerts: a "b" c, {"p":"a \\"b\\" c"}, zebra')).toBe(
      'alerts: [redacted], {"p":"[redacted]"}, [redacted]',
    );
  });

  it('leaves a text alone that would be found in every other word', () => {
    expect(hide('{"password":"yes"}', 'yes and no')).toBe('yes and no');
  });

  it('is found however deep it is', () => {
    const deep = `${'['.repeat(50_000)}"hunter2"${']'.repeat(50_000)}`;

    expect(hide(`{"list":${deep}}`, 'hunter2')).toBe('[redacted]');
  });

  it('is nothing in a file', () => {
    const text = sentSecrets({ type: 'text/plain', bytes: Buffer.from('{"password":"hunter2"}') })('hunter2');

    expect(text).toBe('hunter2');
  });
});
