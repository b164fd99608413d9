import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { busyWorld } from '../../../simulator/scenes/busy.ts';
import { givenGateway } from '../../support/given-gateway.ts';

const archive = { type: 'application/gzip', body: Buffer.from('H4sIAAAAAAAAAwMAAAAAAAAAAAA=') };

describe('an uploaded archive', () => {
  it('has its digest in the audit after it was sent', async () => {
    const { call, audit } = await givenGateway({ 'lb-1': busyWorld() });

    const answer = await call('PUT', '/appliances/lb-1/system/backup/one', {
      ...archive,
      headers: { 'x-reason': 'why' },
    });

    expect(answer.status).toBe(200);
    const lines = await audit();
    expect(lines.map(({ event, status }) => [event, status])).toEqual([
      ['intent', undefined],
      ['outcome', answer.status],
    ]);
    expect(lines[1]).toMatchObject({
      sent_bytes: archive.body.length,
      sent_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });

  it('is not read if it is not sent', async () => {
    const { call, appliance } = await givenGateway({ 'lb-1': busyWorld() });

    const planned = await call('PUT', '/appliances/lb-1/system/backup/one', {
      ...archive,
      headers: { 'x-dry-run': 'true' },
    });
    const refused = await call('PUT', '/appliances/lb-1/system/backup/one', { ...archive, as: 'viewer' });

    expect([planned.status, refused.status]).toEqual([200, 403]);
    expect(appliance.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  it('without its length is refused, as the appliance would', async () => {
    const { call, appliance } = await givenGateway({ 'lb-1': busyWorld() });

    const answer = await call('PUT', '/appliances/lb-1/system/backup/one', {
      ...archive,
      body: Readable.from([archive.body]),
    });

    expect(answer).toMatchObject({ status: 411, json: { code: 'length_required' } });
    expect(appliance.requests).toEqual([]);
  });
});
