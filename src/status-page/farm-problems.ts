import { alertThresholds } from '../lib/alert-thresholds.ts';
import type { BackendStatus, FarmStatus } from '../poller/status.ts';
import { listed } from './html.ts';
import type { Problem } from './problem.ts';
import { servedProblems } from './served-problems.ts';

/**
 * Returns the problems of a farm: one for its state, or else one for each service that lacks
 * backends, and what its clients meet.
 */
export function farmProblems(appliance: string, farm: FarmStatus, nowMs: number): readonly Problem[] {
  const ofState = stateProblem(appliance, farm);
  if (ofState?.level === 'critical') return [ofState];
  const services = Map.groupBy(farm.backends ?? [], ({ service }) => service);
  const ofServices = [...services].flatMap(
    ([service, backends]) => serviceProblem(appliance, farm, service, backends) ?? [],
  );
  // `problem` is the appliance's word for a farm of whose backends some are down.
  const unexplained = farm.state === 'problem' && ofServices.length === 0 ? [unexplainedProblem(appliance, farm)] : [];
  return [...(ofState ? [ofState] : []), ...ofServices, ...unexplained, ...servedProblems(appliance, farm, nowMs)];
}

function stateProblem(appliance: string, { name, state, sinceMs, vip, vport }: FarmStatus): Problem | undefined {
  const where = vip ? ` on ${vip}${vport ? `:${vport}` : ''}` : '';
  const about = { appliance, labels: { farm: name }, sinceMs: sinceMs ?? ('unseen' as const) };
  switch (state) {
    case 'down':
      return {
        ...about,
        level: 'critical',
        title: `Farm ${name} is down`,
        meaning: `It is stopped: connections to it${where} are refused or time out.`,
        alert: 'ZlbFarmDown',
      };
    case 'critical':
      return {
        ...about,
        level: 'critical',
        title: `Farm ${name} is critical`,
        meaning: `It runs${where}, but none of its backends is up: its clients get errors.`,
        alert: 'ZlbFarmDown',
      };
    case 'needed_restart':
      return {
        ...about,
        level: 'warning',
        title: `Farm ${name} waits for a restart`,
        meaning: 'What was changed on it is not in force.',
        alert: 'ZlbFarmNeedsRestart',
      };
    case 'unknown':
      return {
        ...about,
        level: 'warning',
        title: `Nobody can tell how farm ${name} is`,
        meaning: 'Its appliance gives it no state, or one that is not known here. It may be down.',
        alert: 'ZlbFarmStatusUnknown',
      };
    default:
      return undefined;
  }
}

function unexplainedProblem(appliance: string, { name, sinceMs }: FarmStatus): Problem {
  return {
    level: 'warning',
    appliance,
    labels: { farm: name },
    sinceMs: sinceMs ?? 'unseen',
    title: `Some backends of farm ${name} are down`,
    meaning: 'Its appliance says so; which ones was not read yet.',
    alert: 'ZlbBackendDown',
  };
}

function serviceProblem(
  appliance: string,
  farm: FarmStatus,
  service: string,
  backends: readonly BackendStatus[],
): Problem | undefined {
  const down = backends.filter(({ state }) => state === 'down');
  const known = backends.filter(({ state }) => state !== 'unknown').length;
  const up = backends.filter(({ state }) => state === 'up').length;
  const where = `${service ? `service ${service} of ` : ''}farm ${farm.name}`;
  const sinceMs = latest(backends);
  const labels = { farm: farm.name, ...(service && { service }) };
  if (known > 0 && up === 0) {
    return {
      level: 'critical',
      appliance,
      labels,
      sinceMs,
      title: `No backend is up in ${where}`,
      meaning: `Its clients get errors. ${listed(backends.map(({ backend, state }) => `${backend} is ${state}`))}.`,
      alert: 'ZlbFarmNoBackends',
    };
  }
  if (down.length === 0) return undefined;
  const [first] = down;
  const wanted = backends.filter(({ state }) => state !== 'maintenance').length;
  return {
    level: 'warning',
    appliance,
    labels: { ...labels, ...(first && down.length === 1 && { backend: first.backend }) },
    sinceMs: latest(down),
    title:
      down.length === 1
        ? `Backend ${first?.backend} of ${where} is down`
        : `${down.length} of ${backends.length} backends of ${where} are down`,
    meaning:
      down.length === 1
        ? `${up} of ${wanted} backends ${up === 1 ? 'is up and carries' : 'are up and carry'} its load.`
        : `${listed(down.map(({ backend }) => backend))}; ${up} ${up === 1 ? 'carries' : 'carry'} their load.`,
    alert: up / wanted < alertThresholds.farmBackendsUpRatio ? 'ZlbFarmDegraded' : 'ZlbBackendDown',
  };
}

/** When the newest of them became as it is. */
function latest(backends: readonly BackendStatus[]): number | 'unseen' {
  const times = backends.map(({ sinceMs }) => sinceMs).filter((each) => each !== undefined);
  return times.length > 0 ? Math.max(...times) : 'unseen';
}
