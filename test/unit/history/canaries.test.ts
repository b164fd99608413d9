import { expect, it } from 'vitest';
import { checkObject, farmObject, serviceObject, settingsOfFarm } from '../../../src/collectors/configured.ts';

const canary = 'CANARY0123456789';

it('no field that can hold a secret is compared by its value', () => {
  const header = [{ id: 0, header: `Authorization: Basic ${canary}` }, `X-Key:${canary}`, { header: 7 }];
  const farm = settingsOfFarm({
    addheader: header,
    addresponseheader: header,
    headremove: header,
    removeresponseheader: header,
    error503: `<p>${canary}</p>`,
    unknown_field: canary,
    sessions: [{ session: canary }],
    status: canary,
    certlist: [{ file: 'a.pem', key: canary }],
  });
  const service = serviceObject('shop', 'web', {
    redirect: `https://user:${canary}@shop.example/path?token=${canary}`,
    backends: [{ password: canary }],
  });
  const check = checkObject('login', { command: `check_http -a user:${canary}`, description: canary });

  expect(JSON.stringify([farmObject('shop', farm), service, check])).not.toContain('CANARY');
  expect(farm.addheader).toBe('Authorization, X-Key,');
  expect(service.settings.redirect).toBe('https://[redacted]@shop.example/path?[redacted]');
  expect(check.settings.command).toBe('check_http');
});

it('a text that an appliance chooses stays on one line, and is truncated', () => {
  const { settings } = serviceObject('shop', 'web', { vhost: `^a\n\u202Eb${'x'.repeat(10_000)}` });

  expect(settings.vhost).toMatch(/^\^a b?x* ?/);
  expect(settings.vhost).not.toMatch(/[\n\u202E]/);
  expect(settings.vhost!.length).toBeLessThanOrEqual(256);
});
