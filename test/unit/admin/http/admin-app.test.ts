import { pino } from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { type AdminAppParts, createAdminApp } from '../../../../src/admin/http/admin-app.ts';

it('the admin server allows a stalled connection more time than the timeout of the appliance', async () => {
  const timeoutMs = 600_000;
  const parts: Partial<AdminAppParts> = { timeoutMs, build: { version: '1.2.3' } };

  const { app } = await createAdminApp(parts as AdminAppParts);
  onTestFinished(() => app.close());

  expect(app.server.timeout).toBeGreaterThan(timeoutMs);
});

it('a refusal is a problem document and is counted, even at a misspelt documentation path', async () => {
  const denied: string[] = [];
  const metrics: Partial<AdminAppParts['metrics']> = {
    countResponse: () => undefined,
    countDenied: ({ reason }) => void denied.push(reason),
  };
  const parts: Partial<AdminAppParts> = {
    timeoutMs: 1_000,
    build: { version: '1.2.3' },
    metrics: metrics as AdminAppParts['metrics'],
    log: pino({ level: 'silent' }),
  };
  const { app } = await createAdminApp(parts as AdminAppParts);
  onTestFinished(() => app.close());

  const url = await app.listen({ host: '127.0.0.1', port: 0 });

  const paths = ['/whoami', '/%64ocs', '/d%6fcs/openapi.json'];
  const answers = await Promise.all(paths.map((path) => fetch(`${url}${path}`)));

  expect(answers.map(({ status }) => status)).toEqual([401, 401, 401]);
  expect(answers.map(({ headers }) => headers.get('content-type'))).toEqual(
    paths.map(() => 'application/problem+json'),
  );
  expect(denied).toEqual(paths.map(() => 'unauthenticated'));
});
