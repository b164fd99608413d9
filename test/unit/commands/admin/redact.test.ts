import { describe, expect, it } from 'vitest';
import { redactor } from '../../../../src/commands/admin/content.ts';

function hide(body: string, text: string): string {
  return redactor({ type: 'application/json', bytes: Buffer.from(body) })(text);
}

describe('a secret in a request body', () => {
  it('is masked in a text, as plain text and as JSON text', () => {
    const body = JSON.stringify({ user: 'alerts', password: 'a "b" c', more: [{ api_key: 'zebra' }] });

    expect(hide(body, 'alerts: a "b" c, {"p":"a \\"b\\" c"}, zebra')).toBe(
      'alerts: [redacted], {"p":"[redacted]"}, [redacted]',
    );
  });

  it('does not mask a text that is part of ordinary words', () => {
    expect(hide('{"password":"yes"}', 'yes and no')).toBe('yes and no');
  });

  it('is found however deep it is', () => {
    const deep = `${'['.repeat(50_000)}"hunter2"${']'.repeat(50_000)}`;

    expect(hide(`{"list":${deep}}`, 'hunter2')).toBe('[redacted]');
  });

  it('is not searched in a file', () => {
    const text = redactor({ type: 'text/plain', bytes: Buffer.from('{"password":"hunter2"}') })('hunter2');

    expect(text).toBe('hunter2');
  });
});
