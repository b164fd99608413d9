import type {
  ApplianceStatus,
  BackendStatus,
  CertificateStatus,
  CollectorStatus,
  FarmStatus,
  FleetStatus,
} from '../../src/state/status.ts';
import type { ExporterInfo } from '../../src/pages/status/exporter-panel.ts';

/** When these statuses are looked at. */
export const nowMs = Date.parse('2026-11-21T03:12:04Z');
export const minuteMs = 60_000;
export const dayMs = 86_400_000;

/** An appliance about which everything is known and good, except what is given. */
export function applianceStatus(given: Partial<ApplianceStatus> & { readonly name: string }): ApplianceStatus {
  return {
    url: 'https://192.0.2.10:444',
    labels: {},
    up: true,
    deactivated: false,
    product: 'relianoid',
    version: '8.4.0',
    edition: 'enterprise',
    hostname: given.name,
    breaker: 'closed',
    farms: [farmStatus({ name: 'shop' })],
    certificates: [certificateStatus({ file: 'shop.pem' })],
    activation: { status: 'activated', kind: 'permanent', notAfterSeconds: nowMs / 1_000 + 300 * 86_400 },
    interfaces: [{ name: 'eth0', state: 'up' }],
    series: 120,
    seriesLeftOut: 0,
    collectors: ['farms', 'backends', 'certificates'].map((name) => collectorStatus({ name })),
    ...given,
  };
}

/** The status of an appliance about which only this is known. */
export function unknownAppliance(known: Partial<ApplianceStatus> & { readonly name: string }): ApplianceStatus {
  return {
    url: 'https://192.0.2.10:444',
    labels: {},
    up: undefined,
    deactivated: false,
    product: undefined,
    version: undefined,
    edition: undefined,
    hostname: undefined,
    breaker: 'closed',
    farms: undefined,
    certificates: undefined,
    activation: undefined,
    interfaces: undefined,
    series: 0,
    seriesLeftOut: 0,
    collectors: [],
    ...known,
  };
}

export function farmStatus(given: Partial<FarmStatus> & { readonly name: string }): FarmStatus {
  return {
    profile: 'http',
    state: 'up',
    vip: '192.0.2.40',
    vport: '443',
    established: 12,
    hasHealthCheck: undefined,
    certificates: undefined,
    backends: [backendStatus({ backend: '10.0.0.1:80' }), backendStatus({ backend: '10.0.0.2:80' })],
    ...given,
  };
}

export function backendStatus(given: Partial<BackendStatus> & { readonly backend: string }): BackendStatus {
  return { service: 'front', state: 'up', established: 6, ...given };
}

export function certificateStatus(given: Partial<CertificateStatus> & { readonly file: string }): CertificateStatus {
  return {
    kind: 'certificate',
    commonName: 'shop.example.com',
    issuer: 'Example CA',
    state: 'valid',
    notBeforeSeconds: nowMs / 1_000 - 198 * 86_400,
    notAfterSeconds: nowMs / 1_000 + 200 * 86_400,
    isUnreadable: false,
    usedBy: ['shop'],
    ...given,
  };
}

export function collectorStatus(given: Partial<CollectorStatus> & { readonly name: string }): CollectorStatus {
  return {
    ok: true,
    lastSuccessMs: nowMs - 20_000,
    intervalMs: 30_000,
    isStale: false,
    isSupported: true,
    ...given,
  };
}

/** An exporter that is well, of 90 minutes. */
export function exporterInfo(given: Partial<ExporterInfo> = {}): ExporterInfo {
  return {
    version: '1.2.3',
    isDemonstration: false,
    isReady: true,
    processStatistics: { startedAtMs: nowMs - 90 * minuteMs, memoryBytes: 90 * 1_048_576, loopDelayMs: 1 },
    configuration: { isInForce: true, loadedAtMs: nowMs - 90 * minuteMs },
    adminUrl: undefined,
    ...given,
  };
}

export function fleetStatus(...appliances: readonly ApplianceStatus[]): FleetStatus {
  return { appliances, transitions: [] };
}
