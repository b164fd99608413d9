import { alertThresholds } from '../../state/alert-thresholds.ts';
import { isSilentFarm } from '../../state/status.ts';
import { plural, globMatcher, joinFirst } from '../../lib/text.ts';
import {
  findingOf,
  type MonitoredFarm,
  overdueText,
  problemsAbout,
  assertFresh,
  type SeenAppliance,
} from './exporter-reply.ts';
import {
  type CheckResult,
  type CheckedObject,
  hasThresholds,
  type Thresholds,
  UnknownStateError,
  thresholdTexts,
  stateOfValue,
} from './check-result.ts';

/**
 * Whether farms serve their clients, as the exporter judges; `-w` and `-c` are for the percentage
 * of backends that are up.
 */
export function judgeFarms(seen: SeenAppliance, glob: string, thresholds: Thresholds): CheckResult {
  const farms = farmsOf(seen, glob);
  const { appliance, nowMs } = seen;
  const byLimits = hasThresholds(thresholds);
  const reading = appliance.collectors.find(({ name }) => name === 'backends');
  const late = reading && overdueText(reading, nowMs);
  const byFarm = Map.groupBy(problemsAbout(seen, 'farm'), ({ labels }) => labels?.['farm']);
  const findings = farms.flatMap((farm): readonly CheckedObject[] => {
    const problems = byFarm.get(farm.name) ?? [];
    const kept = byLimits ? problems.filter(({ alert }) => alert !== 'ZlbBackendDown') : problems;
    const isDown = kept.some(({ level }) => level === 'critical');
    const found = [...kept.map(findingOf), ...(byLimits && !isDown ? shareFindings(farm, thresholds) : [])];
    if (byLimits && !reading && found.length === 0 && farm.profile !== 'datalink')
      return [
        { state: 'UNKNOWN', text: `farm ${farm.name}: ${appliance.name} is not asked for its backends (-w, -c)` },
      ];
    // In the first run the farms are read one after the other.
    const isRead = late === undefined || (reading?.lastSuccessMs == null && farm.backends != null);
    return found.length > 0 || isRead ? found : [{ state: 'UNKNOWN', text: `farm ${farm.name}: ${late}` }];
  });
  const states = [...Map.groupBy(farms, ({ state }) => state)].map(([state, list]) => `${list.length} ${state}`);
  const backends = backendsOf(farms);
  const upCount = backends?.filter(({ state }) => state === 'up').length ?? 0;
  const shares = farms.flatMap((farm) => sharesOf(farm).map(({ percent }) => percent));
  return {
    findings,
    okText: `${plural(farms.length, 'farm')} of ${appliance.name}: ${states.join(', ')}; ${backends ? `${upCount} of ${plural(backends.length, 'backend')} up` : 'not all backends are known'}`,
    performanceData: [
      { label: 'farms', value: farms.length, min: 0 },
      ...(backends
        ? [
            { label: 'backends', value: backends.length, min: 0 },
            { label: 'backends_up', value: upCount, min: 0, max: backends.length },
          ]
        : []),
      ...(backends && shares.length > 0
        ? [
            {
              label: 'least_up',
              value: Math.min(...shares),
              unit: '%' as const,
              ...thresholdTexts(thresholds),
              min: 0,
              max: 100,
            },
          ]
        : []),
    ],
  };
}

/** Returns the backends of the running farms; undefined if those of any such farm are not known. */
function backendsOf(farms: readonly MonitoredFarm[]) {
  // Some appliances list no backends of a stopped farm, unless it is an L4 farm.
  const running = farms.filter(({ state }) => state !== 'down');
  if (running.length === 0) return undefined;
  const lists = running.flatMap((farm) => (farm.backends && !isSilentFarm(farm) ? [farm.backends] : []));
  return lists.length === running.length ? lists.flat() : undefined;
}

/** How many connections farms have: by `-w` and `-c`, or else the half-open ones by the alert. */
export function judgeConnections(seen: SeenAppliance, glob: string, thresholds: Thresholds): CheckResult {
  const farms = farmsOf(seen, glob);
  const byLimits = hasThresholds(thresholds);
  const silent = farms.filter(isSilentFarm).map(({ name }) => name);
  const findings = farms.flatMap((farm): readonly CheckedObject[] => {
    const { name, state, established, pending } = farm;
    const because = isSilentFarm(farm) ? ': its proxy does not answer the appliance, and a restart is the repair' : '';
    if (state === 'unknown' || established == null || (pending == null && !byLimits))
      return [{ state: 'UNKNOWN', text: `the connections of farm ${name} are not known${because}` }];
    const open = isRequests(farm) ? `${established} requests in progress` : `${established} established`;
    const text = `farm ${name} has ${open} and ${pending ?? 'an unknown number of'} pending connections${because}`;
    if (byLimits) return [{ state: stateOfValue(thresholds, established), text }];
    const { pendingConnections, pendingConnectionsRatio } = alertThresholds;
    const isMany = (pending ?? 0) > pendingConnections && (pending ?? 0) > pendingConnectionsRatio * established;
    return [{ state: isMany ? 'WARNING' : 'OK', text }];
  });
  const established = sumOf(farms.map((farm) => farm.established));
  const pending = sumOf(farms.map((farm) => farm.pending));
  const ranges = farms.length === 1 ? thresholdTexts(thresholds) : {};
  return {
    findings,
    okText: `${plural(farms.length, 'farm')} of ${seen.appliance.name}: ${established} established connections${farms.some(isRequests) ? ', of HTTP farms requests in progress' : ''}${silent.length > 0 ? `; the proxy of ${joinFirst(silent)} does not answer the appliance` : ''}`,
    performanceData: [
      ...(established === undefined ? [] : [{ label: 'established', value: established, ...ranges, min: 0 }]),
      ...(pending === undefined ? [] : [{ label: 'pending', value: pending, min: 0 }]),
    ],
  };
}

/** zproxy counts the requests in progress of a farm, and not its connections (docs/metrics.md). */
function isRequests({ proxy }: MonitoredFarm): boolean {
  return proxy === 'zproxy';
}

/** Returns undefined if a part of the sum is not known. */
function sumOf(values: readonly (number | null | undefined)[]): number | undefined {
  const known = values.filter((value) => value != null);
  return known.length === values.length ? known.reduce((total, value) => total + value, 0) : undefined;
}

function farmsOf(seen: SeenAppliance, glob: string): readonly MonitoredFarm[] {
  assertFresh(seen, 'farms');
  const { name, farms } = seen.appliance;
  if (!farms) throw new UnknownStateError(`the farms of ${name} are not known`);
  const fits = globMatcher(glob);
  const found = farms.filter((farm) => fits(farm.name));
  if (found.length === 0) throw new UnknownStateError(`${name} has no farm ${glob}`);
  return found;
}

/** Compares the percentage of backends that are up with limits. */
function shareFindings(farm: MonitoredFarm, thresholds: Thresholds): readonly CheckedObject[] {
  return sharesOf(farm).flatMap(({ service, up, unknown, wanted, percent }) => {
    const state = stateOfValue(thresholds, percent);
    if (state === 'OK') return [];
    const where = `${service ? `service ${service} of ` : ''}farm ${farm.name}`;
    const text = `${up} of ${plural(wanted, 'backend')} of ${where} ${up === 1 ? 'is' : 'are'} up`;
    return [{ state: unknown > 0 && up + unknown === wanted ? 'UNKNOWN' : state, text }];
  });
}

/** Returns how many backends of each service are up, without those in maintenance. */
function sharesOf({ backends }: MonitoredFarm) {
  return [...Map.groupBy(backends ?? [], ({ service }) => service)].flatMap(([service, list]) => {
    const count = (state: string): number => list.filter((each) => each.state === state).length;
    const [up, unknown, wanted] = [count('up'), count('unknown'), list.length - count('maintenance')];
    return wanted === 0 ? [] : [{ service, up, unknown, wanted, percent: (100 * up) / wanted }];
  });
}
