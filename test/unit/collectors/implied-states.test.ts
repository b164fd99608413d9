import type { Farm } from '../../../src/appliance/farm.ts';
import { expect, it } from 'vitest';
import type { Backend, FarmBackends } from '../../../src/collectors/backends.ts';
import type { FarmConfig } from '../../../src/collectors/farm-config.ts';
import { stateImpliesAllUp } from '../../../src/collectors/implied-states.ts';

const backend = (name: string, state = 'up'): Backend => ({
  farm: 'shop',
  service: 'main',
  backend: name,
  id: '0',
  ip: name,
  port: '',
  state,
  pending: undefined,
  maxConnections: undefined,
  weight: undefined,
  priority: undefined,
});
const reading = (...backends: readonly Backend[]): FarmBackends => ({ farm: 'shop', sessions: 0, backends });
const fact = (state: string, profile = 'http', isSilent = false): Farm => ({
  name: 'shop',
  profile,
  state,
  isSilent,
});
const config = (isChecked: boolean | undefined, ...names: readonly string[]): FarmConfig => ({
  farm: 'shop',
  certificates: [],
  checks: [{ service: '', isChecked }],
  protocol: undefined,
  logs: undefined,
  proxy: undefined,
  backends:
    names.length > 0
      ? names.map((name) => ({ service: 'main', backend: name, weight: undefined, priority: undefined }))
      : undefined,
  objects: undefined,
});

const twoUp = reading(backend('a'), backend('b'));

it.each<readonly [string, Farm, FarmBackends, FarmConfig | undefined]>([
  ['an HTTP farm that is up', fact('up'), twoUp, undefined],
  ['an HTTPS farm that is up', fact('up', 'https'), twoUp, undefined],
  ['a farm that redirects, and has no backend', fact('up'), reading(), undefined],
  ['a farm with the backends that it is configured with, in another order', fact('up'), twoUp, config(true, 'b', 'a')],
  ['an L4 farm with a health check', fact('up', 'l4xnat'), twoUp, config(true)],
])('the farm state alone implies the state of its backends for %s', (_, farm, read, configured) => {
  expect(stateImpliesAllUp(farm, read, configured)).toBe(true);
});

it.each<readonly [string, Farm, FarmBackends, FarmConfig | undefined]>([
  ...['problem', 'critical', 'maintenance', 'down', 'needed_restart', 'unknown', ''].map(
    (state) => [`a farm that says "${state}"`, fact(state), twoUp, undefined] as const,
  ),
  ['a farm with a backend that was down', fact('up'), reading(backend('a'), backend('b', 'down')), undefined],
  ['a farm with a backend that was in maintenance', fact('up'), reading(backend('a', 'maintenance')), undefined],
  ['a farm with a backend of unknown state', fact('up'), reading(backend('a', 'unknown')), undefined],
  ['a farm whose backends were not known', fact('up'), { farm: 'shop', sessions: 0, backends: undefined }, undefined],
  ['a farm with another list of backends in its configuration', fact('up'), twoUp, config(true, 'a', 'c')],
  ['a farm with one backend more in its configuration', fact('up'), twoUp, config(true, 'a', 'b', 'c')],
  ['a farm whose proxy is silent', fact('up', 'http', true), twoUp, undefined],
  ['an L4 farm without a health check', fact('up', 'l4xnat'), twoUp, config(false)],
  ['an L4 farm with an unknown health check', fact('up', 'l4xnat'), twoUp, undefined],
  ...['gslb', 'datalink', 'eproxy', ''].map(
    (profile) => [`a farm of profile "${profile}"`, fact('up', profile), twoUp, config(true)] as const,
  ),
])('the farm state alone does not imply the state of its backends for %s', (_, farm, read, configured) => {
  expect(stateImpliesAllUp(farm, read, configured)).toBe(false);
});
