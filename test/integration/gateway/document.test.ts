import { describe, expect, it } from 'vitest';
import { busyWorld } from '../../../simulator/scenes/busy.ts';
import { documentStatuses } from '../../support/api-document.ts';
import { givenGateway } from '../../support/given-gateway.ts';

const at = (path: string) => `/appliances/lb-1${path}`;

describe('the error statuses of the API document', () => {
  it('pass unchanged, for reads and changes', async () => {
    const { call, appliance, audit } = await givenGateway({ 'lb-1': busyWorld() });
    const passed = documentStatuses.map(([status]) => status).filter((status) => status !== 401);

    for (const status of passed) {
      const body = { description: 'A call', error: 'true', message: `Grüße, ${status}`, documentation: 'https://x/' };
      for (const route of ['GET /farms', 'POST /system/backup'])
        appliance.fail(route, { kind: 'status', status, body });

      const answers = [
        await call('GET', at('/farms')),
        await call('POST', at('/system/backup'), { json: { name: 'x1' } }),
      ];

      for (const answer of answers) {
        expect([answer.status, answer.json]).toEqual([status, body]);
        expect(answer.headers['content-type']).toBe('application/json');
      }
    }

    const outcomes = (await audit()).filter(({ event }) => event === 'outcome');
    expect(outcomes.map(({ status, code, uncertain }) => [status, code, uncertain])).toEqual(
      passed.map((status) => [status, undefined, undefined]),
    );
  });

  it('401 becomes 502, because the key of the gateway was refused', async () => {
    const { call, appliance, audit } = await givenGateway({ 'lb-1': busyWorld() });
    appliance.fail('*', { kind: 'status', status: 401 });

    const answers = [
      await call('GET', at('/farms')),
      await call('POST', at('/system/backup'), { json: { name: 'x1' } }),
    ];

    for (const answer of answers) {
      expect(answer.json).toMatchObject({
        status: 502,
        code: 'upstream_unauthorized',
        remedy: expect.stringContaining('admin_api_key'),
      });
      expect(answer.headers).not.toHaveProperty('www-authenticate');
    }
    expect((await audit())[1]).toMatchObject({ event: 'outcome', status: 502, code: 'upstream_unauthorized' });
    expect((await audit())[1]).not.toHaveProperty('uncertain');
  });
});
