import { describe, expect, it } from 'vitest';
import { bodyOf, inspect, namesOf, type Replies, refusal, unclear } from './given-inspection.ts';

const configured = [
  { id: 0, ip: '10.0.0.1', port: 80 },
  { id: 1, ip: '10.0.0.2', port: 80 },
];

function given(parts: { words?: readonly (string | null)[]; status?: unknown; more?: Replies } = {}): Replies {
  const { words = ['up', 'up'], status = 'up', more = {} } = parts;
  const rows = words.map((word, index) => ({ id: String(index), ip: `10.0.0.${index + 1}`, port: 80, status: word }));
  return {
    readFarmsSummary: { params: { lslb: [{ name: 'shop', profile: 'http' }] } },
    readFarmStatus: { params: { status } },
    readService: { params: { id: 'front', backends: configured } },
    listFarmBackends: { params: configured },
    readFarmStats: { backends: rows.map((row) => ({ ...row, service: 'front' })) },
    ...more,
  };
}

const drain = { body: { action: 'maintenance', mode: 'drain' } };
const service = (replies: Replies, options = {}) =>
  inspect('setServiceBackendMaintenance', replies, { ...drain, ...options });
const blocked = ['last_healthy_backend blocking'];

describe('the last healthy backend', () => {
  it.each([
    ['the other one is down', ['up', 'down']],
    ['the other one is in maintenance', ['up', 'maintenance']],
    ['the other one is marked down by its check', ['up', 'fgDOWN']],
    ['the state of the other one is unknown', ['up', null]],
    ['there is no other one', ['up']],
    ['its own state is an unknown word', ['undefined', 'down']],
  ])('is not drained while %s', async (_, words) => {
    expect(namesOf(await service(given({ words })))).toEqual(blocked);
  });

  it.each([
    ['another one is up', ['up', 'up']],
    ['it is down itself', ['down', 'down']],
    ['it is in maintenance already', ['maintenance', 'down']],
  ])('is not at stake when %s', async (_, words) => {
    expect(namesOf(await service(given({ words })))).toEqual([]);
  });

  it('is named with the states of the others', async () => {
    const { findings } = await service(given({ words: ['up', 'down'] }));

    expect(findings[0]?.message).toBe(
      'No backend of the service front of shop would be up without 0: 1 (10.0.0.2:80) is down.',
    );
  });

  it('is counted within its service, even if another service has the same ids', async () => {
    const rows = [
      { id: 0, service: 'front', status: 'up' },
      { id: 1, service: 'front', status: 'down' },
      { id: 1, service: 'api', status: 'up' },
    ];

    expect(namesOf(await service(given({ more: { readFarmStats: { backends: rows } } })))).toEqual(blocked);
  });

  it('is assumed when the statistics of a running farm are empty', async () => {
    expect(namesOf(await service(given({ words: [] })))).toEqual(blocked);
    expect(namesOf(await service(given({ more: { readFarmStats: { backends: null } } })))).toEqual(blocked);
  });

  it('is not guarded on a farm that is down, nor when a backend is restored', async () => {
    const stopped = await inspect('deleteServiceBackend', given({ status: 'down', words: [] }));
    const back = await service(given({ words: ['maintenance', 'down'] }), { body: { action: 'up' } });

    expect([namesOf(stopped), namesOf(back)]).toEqual([[], []]);
    expect([...stopped.asked, ...back.asked]).not.toContain('readFarmStats shop');
  });

  it.each(['deleteFarmBackend', 'deleteServiceBackend', 'setFarmBackendMaintenance'] as const)(
    'is guarded in %s too',
    async (key) => {
      const options = key === 'setFarmBackendMaintenance' ? drain : {};

      expect(namesOf(await inspect(key, given({ words: ['up', 'down'] }), options))).toEqual(blocked);
    },
  );

  it.each(unclear('maintenance'))(
    'is guarded against a body that a release may read as maintenance: %s',
    async (text) => {
      expect(namesOf(await service(given({ words: ['up', 'down'] }), { body: bodyOf(text) }))).toEqual(blocked);
    },
  );

  it.each(['{"action":1}', '{"action":null}', '{"Action":"maintenance"}', '{"action":"mainten"}', '{}'])(
    'is not guarded against a body that every release refuses: %s',
    async (text) => {
      expect(namesOf(await service(given({ words: ['up', 'down'] }), { body: bodyOf(text) }))).toEqual([]);
    },
  );
});

describe('an id without a backend', () => {
  it.each(['2', '00', '01', '-1'])('is detected for %s, even if the appliance would accept it', async (backend) => {
    const { findings } = await service(given(), { params: { backend } });

    expect(namesOf({ findings })).toEqual(['unknown_backend blocking']);
    expect(findings[0]?.message).toContain('those it has are 0 (10.0.0.1:80), 1 (10.0.0.2:80)');
  });

  it('is every id in a service without backends', async () => {
    const more = { readService: { params: { id: 'front', backends: null } } };

    expect(namesOf(await service(given({ more })))).toContain('unknown_backend blocking');
  });

  it('is found in an L4xNAT farm, whose ids have gaps', async () => {
    const more = { listFarmBackends: { params: [configured[0], { ...configured[1], id: 3 }] } };
    const delete3 = await inspect('deleteFarmBackend', given({ more }), { params: { backend: '3' } });
    const delete1 = await inspect('deleteFarmBackend', given({ more }), { params: { backend: '1' } });

    expect(namesOf(delete3)).not.toContain('unknown_backend blocking');
    expect(namesOf(delete1)).toContain('unknown_backend blocking');
  });

  it('is also blocked when a backend is restored', async () => {
    expect(namesOf(await service(given(), { params: { backend: '2' }, body: { action: 'up' } }))).toEqual([
      'unknown_backend blocking',
    ]);
  });

  it('is sent to the appliance, which answers 404, when the service or farm is unknown', async () => {
    const more = {
      readFarmsSummary: { params: { lslb: [] } },
      readFarmStatus: refusal('not_found'),
      readService: refusal('not_found'),
    };

    expect(namesOf(await service(given({ more })))).toEqual([]);
  });
});

it.each([
  ['stopped', 'down', 'Start the farm first.'],
  ['waiting for a restart', 'needed restart', 'Restart the farm first, with the action restart.'],
])('the maintenance mode of an HTTP farm that is %s is blocked with a remedy', async (_, status, remedy) => {
  for (const action of ['maintenance', 'up']) {
    const { findings } = await service(given({ status }), { body: { action } });

    expect(findings).toMatchObject([{ guard: 'maintenance_on_stopped_farm', severity: 'blocking', remedy }]);
  }
});

it('the maintenance mode of a stopped L4xNAT farm is permitted', async () => {
  expect(namesOf(await inspect('setFarmBackendMaintenance', given({ status: 'down' }), drain))).toEqual([]);
});

describe('a redirect', () => {
  const update = (body: Record<string, unknown>, replies = given()) => inspect('updateService', replies, { body });

  it('is blocked with the number and names of the deleted backends', async () => {
    const { findings } = await update({ redirect: 'https://www.example.com/' });

    expect(findings).toMatchObject([
      {
        guard: 'redirect_deletes_backends',
        severity: 'blocking',
        message:
          'A redirect deletes all backends of the service front of shop, 2 in number: 0 (10.0.0.1:80), 1 (10.0.0.2:80).',
      },
    ]);
  });

  it.each([0, 1, true, false, ' ', [], {}, ['https://x/'], { to: 'x' }])(
    'is set by any value that is not empty, such as %j',
    async (redirect) => {
      expect(namesOf(await update({ redirect }))).toEqual(['redirect_deletes_backends blocking']);
    },
  );

  it.each([{ redirect: '' }, { redirect: null }, { vhost: 'x', redirecttype: 'default' }, {}])(
    'is not set by %j, and nothing is read',
    async (body) => {
      expect(await update(body)).toEqual({ findings: [], asked: [] });
    },
  );

  it.each([
    ['a service without backends', { params: { id: 'front', backends: [] } }],
    ['a missing service', refusal('not_found')],
  ])('is permitted for %s', async (_, readService) => {
    expect(namesOf(await update({ redirect: 'https://x/' }, given({ more: { readService } })))).toEqual([]);
  });
});
