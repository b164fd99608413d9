import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { namedCommands } from '../support/named-commands.ts';
import { root } from './documents.ts';
import { startMachine } from './machine.ts';
import { failuresOfNamed } from './try-commands.ts';

it('every command in an alert, message, help or document works in a clone', {
  timeout: 1_200_000,
}, async () => {
  const machine = await startMachine({ hasAlerts: false });
  onTestFinished(() => machine.close());
  const env = { ...process.env, ...machine.env, ZLB_CONFIG_FILE: 'running.yml', PATH: process.env['PATH'] };

  const failures = await failuresOfNamed({ program: [join(root, 'zlb-exporter')], cwd: machine.folder, env }, machine);

  expect(failures).toEqual([]);
  expect(namedCommands().length).toBeGreaterThan(80);
});
