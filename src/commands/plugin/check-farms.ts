import { alertThresholds } from '../../lib/alert-thresholds.ts';
import { counted, globMatcher } from '../../lib/text.ts';
import { type MonitoredFarm, overdue, requireFresh, type Seen } from './exporter-reply.ts';
import { type CheckResult, type Finding, type Limits, NothingKnown, rangesOf, stateBy } from './check-result.ts';

/** Whether farms serve their clients, and how many of their backends are up. */
export function checkFarms(seen: Seen, glob: string, { warning = 100, critical }: Limits): CheckResult {
  const farms = farmsOf(seen, glob);
  const { appliance, nowMs } = seen;
  const reading = appliance.collectors.find(({ name }) => name === 'backends');
  const late = reading && overdue(reading, nowMs);
  const limits = { warning, critical };
  const findings = farms.flatMap((farm): readonly Finding[] => {
    const found = farmFindings(farm, limits, reading !== undefined);
    return found.length > 0 || late === undefined ? found : [{ state: 'UNKNOWN', text: `farm ${farm.name}: ${late}` }];
  });
  const backends = farms.flatMap((farm) => farm.backends ?? []);
  const upCount = backends.filter(({ state }) => state === 'up').length;
  const states = [...Map.groupBy(farms, ({ state }) => state)].map(([state, list]) => `${list.length} ${state}`);
  return {
    findings,
    otherwise: `${counted(farms.length, 'farm')} of ${appliance.name}: ${states.join(', ')}; ${upCount} of ${counted(backends.length, 'backend')} up`,
    measures: [
      { label: 'farms', value: farms.length },
      { label: 'backends', value: backends.length },
      { label: 'backends_up', value: upCount },
    ],
  };
}

/** How many connections farms have: by `-w` and `-c`, or else the half-open ones by the alert. */
export function checkConnections(seen: Seen, glob: string, limits: Limits): CheckResult {
  const farms = farmsOf(seen, glob);
  const hasLimits = limits.warning !== undefined || limits.critical !== undefined;
  const findings = farms.flatMap(({ name, state, established, pending }): readonly Finding[] => {
    if (state === 'unknown' || established == null || (pending == null && !hasLimits))
      return [{ state: 'UNKNOWN', text: `the connections of farm ${name} are not known` }];
    const text = `farm ${name} has ${established} established and ${pending ?? 'an unknown number of'} pending connections`;
    if (hasLimits) return [{ state: stateBy(limits, established, 'at most'), text }];
    const { pendingConnections, pendingConnectionsRatio } = alertThresholds;
    const isMany = (pending ?? 0) > pendingConnections && (pending ?? 0) > pendingConnectionsRatio * established;
    return [{ state: isMany ? 'WARNING' : 'OK', text }];
  });
  const established = sumOf(farms.map((farm) => farm.established));
  const pending = sumOf(farms.map((farm) => farm.pending));
  const ranges = farms.length === 1 ? rangesOf(limits, 'at most') : {};
  return {
    findings,
    otherwise: `${counted(farms.length, 'farm')} of ${seen.appliance.name}: ${established} established connections`,
    measures: [
      ...(established === undefined ? [] : [{ label: 'established', value: established, ...ranges }]),
      ...(pending === undefined ? [] : [{ label: 'pending', value: pending }]),
    ],
  };
}

/** Returns undefined if a part of the sum is not known. */
function sumOf(values: readonly (number | null | undefined)[]): number | undefined {
  const known = values.filter((value) => value != null);
  return known.length === values.length ? known.reduce((total, value) => total + value, 0) : undefined;
}

function farmsOf(seen: Seen, glob: string): readonly MonitoredFarm[] {
  requireFresh(seen, 'farms');
  const { name, farms } = seen.appliance;
  if (!farms) throw new NothingKnown(`the farms of ${name} are not known`);
  const fits = globMatcher(glob);
  const found = farms.filter((farm) => fits(farm.name));
  if (found.length === 0) throw new NothingKnown(`${name} has no farm ${glob}`);
  return found;
}

function farmFindings(farm: MonitoredFarm, limits: Limits, readsBackends: boolean): readonly Finding[] {
  const { name, state, profile, backends } = farm;
  if (state === 'down') return [{ state: 'CRITICAL', text: `farm ${name} is down` }];
  if (state === 'critical') return [{ state: 'CRITICAL', text: `farm ${name} is critical: it has no backend` }];
  if (!knownStates.has(state)) return [{ state: 'UNKNOWN', text: `the state of farm ${name} is not known` }];
  const services = Map.groupBy(backends ?? [], ({ service }) => service);
  const found = [...services].flatMap(([service, list]) =>
    serviceFinding(`${service ? `service ${service} of ` : ''}farm ${name}`, list, limits),
  );
  if (state === 'needed_restart') found.push({ state: 'WARNING', text: `farm ${name} waits for a restart` });
  const areAllUp = (backends ?? []).every((backend) => backend.state === 'up');
  if (state === 'problem' && areAllUp)
    found.push({ state: 'WARNING', text: `farm ${name} has a problem: some of its backends are down` });
  // A datalink farm has no statistics of its backends.
  if (readsBackends && !backends && profile !== 'datalink')
    found.push({ state: 'UNKNOWN', text: `the backends of farm ${name} are not known` });
  return found;
}

const knownStates: ReadonlySet<string> = new Set(['up', 'problem', 'maintenance', 'needed_restart']);

/** Judges the share of backends that are up; those in maintenance do not count. */
function serviceFinding(where: string, backends: readonly { readonly state: string }[], limits: Limits): Finding[] {
  const count = (state: string): number => backends.filter((each) => each.state === state).length;
  const [up, unknown] = [count('up'), count('unknown')];
  const wanted = backends.length - count('maintenance');
  if (unknown === backends.length) return [{ state: 'UNKNOWN', text: `the backends of ${where} are not known` }];
  if (up === 0) return [{ state: 'CRITICAL', text: `no backend of ${where} is up` }];
  const state = stateBy(limits, (100 * up) / wanted, 'at least');
  const text = `${up} of ${counted(wanted, 'backend')} of ${where} ${up === 1 ? 'is' : 'are'} up`;
  if (state === 'OK') return [];
  return [{ state: unknown > 0 && up + unknown === wanted ? 'UNKNOWN' : state, text }];
}
