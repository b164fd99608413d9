import { expect, it } from 'vitest';
import type { ParameterDescriptor } from '../../../../src/admin/calls/discovery.ts';
import type { DryRun } from '../../../../src/admin/calls/dry-run.ts';
import { AdminError } from '../../../../src/admin/policy/admin-error.ts';
import { AdminProblem } from '../../../../src/admin/policy/problem.ts';
import { sendLogs } from '../../../../src/admin/recipes/send-logs.ts';
import { givenRecipe } from './given-recipe.ts';

type Parameter = ParameterDescriptor;

const parameter = (name: string, more: Partial<Parameter> = {}): Parameter => ({
  name,
  required: false,
  non_blank: true,
  list: false,
  ...more,
});
const usual = [parameter('ip'), parameter('port'), parameter('protocol', { possible_values: ['udp', 'tcp'] })];

/** Plans it on an appliance that describes these parameters, if any. */
function planned(to: string, parameters: readonly Parameter[] | AdminError) {
  const dryRun: DryRun = {
    dry_run: true,
    operation: 'setRemoteSyslog',
    risk: 'disruptive',
    would: 'be sent',
    because: [],
    request: { method: 'POST', url: 'https://lb-1/', headers: {}, body: null },
    findings: [],
    validation: { checked: false, problems: [] },
    confirmation: { required: false, expected: [], given: false },
    current: { operation: 'readRemoteSyslog', status: 200, body: { params: [{ ip: '192.0.2.9' }] } },
  };
  return sendLogs.plan(
    givenRecipe({
      calls: {
        dryRun: () => Promise.resolve(dryRun),
        parametersOf: () =>
          parameters instanceof AdminError
            ? Promise.reject(parameters)
            : Promise.resolve({ description: '', parameters }),
      },
      params: { to },
    }),
  );
}

it.each([
  ['ip, port and protocol', usual, { ip: '192.0.2.5', port: '5514', protocol: 'tcp' }],
  [
    'names of its own, and words in capitals',
    [parameter('remote_host'), parameter('remote_port'), parameter('proto', { possible_values: ['UDP', 'TCP'] })],
    { remote_host: '192.0.2.5', remote_port: '5514', proto: 'TCP' },
  ],
  ['more that may be left out', [...usual, parameter('template')], { ip: '192.0.2.5', port: '5514', protocol: 'tcp' }],
])('send-logs sends the parameters that the appliance describes: %s', async (_, parameters, body) => {
  const { facts, steps } = await planned('192.0.2.5:5514', parameters);

  expect(facts).toEqual(['Its remote syslog is now: {"params":[{"ip":"192.0.2.9"}]}']);
  expect(steps).toMatchObject([
    { write: { operationId: 'setRemoteSyslog' }, undoCommand: 'zlb-exporter admin lb-1 send-logs to=off' },
  ]);
  expect(JSON.parse(String(steps[0]?.write?.content?.bytes))).toEqual(body);
});

it.each([
  ['something else that is required', [...usual, parameter('certificate', { required: true })]],
  ['no port', usual.filter(({ name }) => name !== 'port')],
  ['no TCP', [parameter('ip'), parameter('port'), parameter('protocol', { possible_values: ['udp'] })]],
  ['two addresses', [...usual, parameter('server')]],
])('send-logs refuses to guess when the appliance describes %s', async (_, parameters) => {
  await expect(planned('192.0.2.5:5514', parameters)).rejects.toMatchObject({
    title: expect.stringContaining('lb-1 takes ip'),
    remedy: expect.stringContaining('zlb-exporter admin lb-1 setRemoteSyslog'),
  });
});

it('send-logs removes the target with to=off', async () => {
  const { steps } = await planned('off', usual);

  expect(steps).toMatchObject([{ write: { operationId: 'removeRemoteSyslog' } }]);
});

it('send-logs prints a line for rsyslog when the appliance describes no such call', async () => {
  await expect(planned('192.0.2.5:5514', [])).rejects.toMatchObject({
    message: 'It describes no parameters of that call. Nothing was changed.',
    remedy: expect.stringContaining('target="192.0.2.5" port="5514" protocol="tcp"'),
  });
});

it('send-logs prints the same line when a Community Edition has no such call', async () => {
  const missing = new AdminProblem('upstream_malformed', {
    detail: 'The appliance answered 404 instead of the parameters of POST /system/rsyslog: Request not found.',
  });

  await expect(planned('192.0.2.5:5514', missing)).rejects.toMatchObject({
    title: 'lb-1 does not say how to set where its log goes',
    message: expect.stringContaining('Request not found. Nothing was changed.'),
    remedy: expect.stringContaining('target="192.0.2.5" port="5514" protocol="tcp"'),
  });
});

it.each(['on', '192.0.2.5', ':5514', '192.0.2.5:0'])('send-logs refuses to=%s', async (to) => {
  await expect(planned(to, usual)).rejects.toMatchObject({ title: `${to} is not an address with a port` });
});
