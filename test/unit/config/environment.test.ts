import { expect, it } from 'vitest';
import { hasEnvironmentAppliance } from '../../../src/config/environment.ts';
import { collectorDefaults, loadSettings, loadText, refusal } from './given-config.ts';

const pin = 'ab'.repeat(32);
const appliance = { ZLB_APPLIANCE_URL: 'https://lb.example.org', ZLB_API_KEY: 'CANARY' };
const load = (env: Readonly<Record<string, string>>) => loadSettings({ env });

it('an appliance from the environment is named after its host and gets every default', async () => {
  const settings = await load({
    ...appliance,
    ZLB_TLS_FINGERPRINT_SHA256: pin,
    ZLB_TLS_INSECURE_SKIP_VERIFY: 'false',
  });

  expect(settings.appliances).toHaveLength(1);
  expect(settings.appliances[0]).toMatchObject({
    name: 'lb.example.org',
    tls: { fingerprintSha256: pin, insecureSkipVerify: false },
    collectors: Object.fromEntries(collectorDefaults),
  });
  expect(settings.appliances[0]?.apiKey.reveal()).toBe('CANARY');
  expect(settings.polling.timeoutMs).toBe(20_000);
});

it.each([
  [
    'a key alone',
    { ZLB_API_KEY: 'CANARY' },
    ['ZLB_APPLIANCE_URL: is not set; set it to the address of the appliance, such as https://192.0.2.10:444'],
  ],
  [
    'an address alone',
    { ZLB_APPLIANCE_URL: 'https://lb.example.org', ZLB_API_KEY: '' },
    ['ZLB_API_KEY: is not set; set it to the API key, or ZLB_API_KEY_FILE to the path of a file that holds it'],
  ],
  [
    'a key and a key file',
    { ...appliance, ZLB_API_KEY_FILE: '/CANARY' },
    ['ZLB_API_KEY: contradicts ZLB_API_KEY_FILE; unset one of the two'],
  ],
  [
    'a key instead of its file',
    { ZLB_APPLIANCE_URL: 'https://lb.example.org', ZLB_API_KEY_FILE: 'CANARY' },
    [
      `ZLB_API_KEY_FILE: cannot be read: there is no such file; a relative path starts at ${process.cwd()}. Give the path of a file the exporter may read, best an absolute one`,
    ],
  ],
  [
    'values that mean nothing',
    {
      ...appliance,
      ZLB_API_KEY: 'CANARY\n',
      ZLB_TLS_FINGERPRINT_SHA256: 'CANARY',
      ZLB_TLS_INSECURE_SKIP_VERIFY: 'CANARY',
    },
    [
      'ZLB_API_KEY: cannot be sent in an HTTP header: character 7 of 7 is a space, a line break or not ASCII; copy the key again, alone',
      'ZLB_TLS_FINGERPRINT_SHA256: must be 64 hex digits, with or without colons; `zlb-exporter fingerprint HOST:PORT` prints it',
      'ZLB_TLS_INSECURE_SKIP_VERIFY: must be true or false',
    ],
  ],
  [
    'a pin that is not to be checked',
    { ...appliance, ZLB_TLS_FINGERPRINT_SHA256: pin, ZLB_TLS_INSECURE_SKIP_VERIFY: 'true' },
    [
      'ZLB_TLS_INSECURE_SKIP_VERIFY: contradicts ZLB_TLS_FINGERPRINT_SHA256; remove this one, the fingerprint alone makes a self-signed certificate safe',
    ],
  ],
])('an appliance from the environment is refused for %s, with the name of the variable', async (_what, env, lines) => {
  const refused = await refusal(load(env));

  expect(refused).toEqual(lines.map((line) => `environment: ${line}`));
  expect(refused.join('\n')).not.toContain('CANARY');
});

it('an appliance from the environment replaces the appliances if the file has none', async () => {
  const settings = await loadText('polling: { timeout: 5s }', { env: appliance });

  expect(settings.appliances.map(({ name }) => name)).toEqual(['lb.example.org']);
  expect(settings.polling.timeoutMs).toBe(5_000);
  const refused = await refusal(
    loadText('polling: {}', { env: { ...appliance, ZLB_APPLIANCE_URL: 'ftp://192.0.2.10' } }),
  );
  expect(refused).toEqual(['environment: ZLB_APPLIANCE_URL: must start with https://']);
});

it('an appliance from the environment has the name that the environment gives it', async () => {
  const settings = await load({ ...appliance, ZLB_APPLIANCE_NAME: 'lb-paris' });

  expect(settings.appliances.map(({ name }) => name)).toEqual(['lb-paris']);
  await expect(refusal(load({ ...appliance, ZLB_APPLIANCE_NAME: 'lb\nparis' }))).resolves.toEqual([
    expect.stringMatching(/^environment: ZLB_APPLIANCE_NAME: /),
  ]);
});

it.each([
  ['ZLB_TLS_FINGERPRINT', 'ZLB_TLS_FINGERPRINT_SHA256'],
  ['ZLB_APPLIANCE_URI', 'ZLB_APPLIANCE_URL'],
  ['ZLB_URL', 'ZLB_APPLIANCE_URL'],
  ['ZLB_APIKEY_FILE', 'ZLB_API_KEY_FILE'],
  ['ZLB_API_KEY_1', 'ZLB_API_KEY'],
  ['ZLB_INSECURE_SKIP_VERIFY', 'ZLB_TLS_INSECURE_SKIP_VERIFY'],
  ['ZLB_NAME', 'ZLB_APPLIANCE_NAME'],
])('an appliance from the environment is refused with a misspelt variable: %s', async (variable, meant) => {
  const lines = [
    `environment: ${variable}: is not a variable of this program; did you mean ${meant}? Set that one, or unset this one`,
  ];
  const file = 'appliances: [{ name: lb, url: 192.0.2.10, api_key: f1x7ure }]';

  expect(await refusal(load({ ...appliance, [variable]: 'CANARY' }))).toEqual(lines);
  expect(await refusal(loadText(file, { env: { [variable]: 'CANARY' } }))).toEqual(lines);
  expect(hasEnvironmentAppliance({ [variable]: 'CANARY' })).toBe(true);
});

it('an appliance from the environment may use any variable that its files name, and ignores those of others', async () => {
  const file = 'appliances: [{ name: lb, url: 192.0.2.10, api_key: "${ZLB_API_KEY_1}" }]';
  const ofKubernetes = Object.fromEntries(
    ['ZLB', 'ZLB_API', 'ZLB_ADMIN', 'ZLB_APPLIANCE', 'ZLB_EXPORTER'].flatMap((service) =>
      ['SERVICE_HOST', 'SERVICE_PORT', 'SERVICE_PORT_HTTP', 'PORT', 'PORT_9444_TCP', 'PORT_9444_TCP_ADDR'].map(
        (end) => [`${service}_${end}`, 'tcp://10.0.0.1:9444'],
      ),
    ),
  );
  const ofService = {
    ZLB_EXPORTER_FLAGS: '',
    ZLB_NODE_FLAGS: '--x',
    ZLB_EXPORTER_REVISION: 'abc',
    ZLB_ADMIN_TOKEN: 'x',
  };

  const settings = await loadText(file, { env: { ZLB_API_KEY_1: 'f1x7ure', ...ofKubernetes, ...ofService } });

  expect(settings.appliances[0]?.apiKey.reveal()).toBe('f1x7ure');
  expect(hasEnvironmentAppliance({ ...ofKubernetes, ...ofService })).toBe(false);
});

it('an appliance from the environment is refused beside a file with appliances, because one would be ignored', async () => {
  const file = 'appliances: [{ name: lb, url: 192.0.2.10, api_key: f1x7ure }]';

  const refused = await refusal(loadText(file, { env: appliance }));

  expect(refused).toEqual([
    expect.stringMatching(/^environment: ZLB_APPLIANCE_URL: is set while \S+zlb\.yml lists appliances; unset it, or /),
  ]);
});

it('an appliance from the environment does not affect a file that only uses its key variable', async () => {
  const file = 'appliances: [{ name: lb, url: 192.0.2.10, api_key: "${ZLB_API_KEY}" }]';

  const settings = await loadText(file, { env: { ZLB_API_KEY: 'f1x7ure' } });

  expect(settings.appliances[0]?.apiKey.reveal()).toBe('f1x7ure');
});

it('an appliance from the environment exists if one of its variables has a value', () => {
  expect(hasEnvironmentAppliance({})).toBe(false);
  expect(hasEnvironmentAppliance({ ZLB_APPLIANCE_URL: '', PATH: '/bin' })).toBe(false);
  expect(hasEnvironmentAppliance({ ZLB_API_KEY_FILE: '/run/secrets/lb' })).toBe(true);
});
