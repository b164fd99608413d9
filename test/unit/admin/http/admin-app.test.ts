import { expect, it, onTestFinished } from 'vitest';
import { type AdminAppParts, createAdminApp } from '../../../../src/admin/http/admin-app.ts';

it('cuts no connection as stalled while an appliance may take its time', async () => {
  const timeoutMs = 600_000;
  const parts: Partial<AdminAppParts> = { timeoutMs, build: { version: '1.2.3' } };

  const { app } = await createAdminApp(parts as AdminAppParts);
  onTestFinished(() => app.close());

  expect(app.server.timeout).toBeGreaterThan(timeoutMs);
});
