import { describe, expect, it } from 'vitest';
import { busyWorld } from '../../../simulator/scenes/busy.ts';
import { givenAdminCli } from './given-admin-cli.ts';

const canary = 'Canary"0123456789';
const words = ['admin', 'lb-1', 'setEmailSettings', 'user=alerts', '--yes'];
const given = () => givenAdminCli({ 'lb-1': busyWorld() });

describe('a password that the caller sends', () => {
  it('is redacted when the appliance repeats it, but not in the exact response', async () => {
    const { run } = await given();

    const people = await run([...words, `password=${canary}`]);
    const fromInput = await run(words.with(3, '--body=-'), {
      input: JSON.stringify({ user: 'alerts', password: canary }),
    });
    const scripts = await run([...words, `password=${canary}`, '--json']);

    expect(people.err + fromInput.err).toBe('');
    expect(people.out).toMatch(/^password +\[redacted\]$/m);
    expect(people.out).toMatch(/^user +alerts$/m);
    expect(fromInput.out).toBe(people.out);
    expect(JSON.parse(scripts.bytes.toString()).params.password).toBe(canary);
  });

  it('does not appear in a dry run', async () => {
    const { run } = await given();

    const people = await run([...words, `password=${canary}`, '--dry-run']);
    const scripts = await run([...words, `password=${canary}`, '--dry-run', '--json']);

    expect([people.code, scripts.code]).toEqual([0, 0]);
    expect(people.out + people.err + scripts.bytes.toString()).not.toContain('Canary');
  });

  it('does not appear in the message of a refusal', async () => {
    const { run, appliance } = await given();
    const body = { message: `The value ${canary} of password is not allowed.` };
    appliance.fail('POST /system/notifications/methods/email', { kind: 'status', status: 400, body });

    const { code, err } = await run([...words, `password=${canary}`]);

    expect(code).toBe(1);
    expect(err).toContain('The value [redacted] of password is not allowed.');
  });
});
