import { expect, it } from 'vitest';
import { busyWorld } from '../../../simulator/scenes/busy.ts';
import { givenAdminCli } from './given-admin-cli.ts';

const agreed = ['--reason=TICKET-42', '--yes'];

it('send-logs shows the log targets of an appliance, sets one, and removes it again', async () => {
  const { run, appliance, done } = await givenAdminCli({ 'lb-1': busyWorld() });

  const dry = await run(['admin', 'lb-1', 'send-logs', 'to=192.0.2.5:5514', '--dry-run']);
  expect(appliance.world.remoteSyslog).toBeUndefined();
  const on = await run(['admin', 'lb-1', 'send-logs', 'to=192.0.2.5:5514', ...agreed]);
  expect(appliance.world.remoteSyslog).toEqual({ ip: '192.0.2.5', port: 5514 });
  const off = await run(['admin', 'lb-1', 'send-logs', 'to=off', ...agreed]);

  expect([dry, on, off]).toMatchObject([0, 0, 0].map((code) => ({ code, err: '' })));
  expect(on.out).toContain('Send its log to 192.0.2.5:5514 by TCP');
  expect(off.out).toContain('"ip":"192.0.2.5"');
  expect(appliance.world.remoteSyslog).toBeUndefined();
  expect(await done()).toEqual(['setRemoteSyslog', 'removeRemoteSyslog']);
});
