import { onTestFinished } from 'vitest';
import { freePort } from './free-port.ts';
import { type Server, type ServerStart, startAlertmanager, startPrometheus } from '../../scripts/stack/server.ts';
import { type Delivery, startReceiver } from '../../scripts/stack/notifications.ts';
import { givenFolder } from './folder.ts';

type Labels = Readonly<Record<string, string>>;

export interface Sample {
  readonly metric: Labels;
  readonly value: number;
}

export interface Series {
  readonly metric: Labels;
  /** Seconds and value. */
  readonly values: readonly (readonly [number, number])[];
}

export interface PrometheusAlert {
  readonly state: 'pending' | 'firing';
  readonly labels: Labels;
  readonly annotations: Labels;
  readonly activeAt: string;
}

export interface AlertmanagerAlert {
  readonly labels: Labels;
  readonly annotations: Labels;
  readonly receivers: readonly { readonly name: string }[];
  readonly status: {
    readonly state: 'active' | 'suppressed' | 'unprocessed';
    /** Fingerprints of the alerts that silence this one. */
    readonly inhibitedBy: readonly string[];
    readonly silencedBy: readonly string[];
  };
}

/**
 * Debian's Prometheus with a configuration and the files that it names, in a folder of its own;
 * ends with the test.
 */
export async function givenPrometheus(
  config: string,
  files?: Readonly<Record<string, string>>,
  // Prometheus knows its Alertmanagers after five seconds; what fired before is sent again after
  // this and not after a minute. An alert that is not sent again ends after four times of it.
  args: readonly string[] = ['--rules.alert.resend-delay=5s'],
) {
  const { url, lines, restart } = await untilTheTestEnds(startPrometheus, config, files, args);
  const api = <Data>(path: string, parameters: Readonly<Record<string, string>> = {}) =>
    ask<Data>(`${url}/api/v1/${path}?${new URLSearchParams(parameters).toString()}`);
  return {
    url,
    /**
     * The samples of an instant query; a scalar is one without labels. Rejects with Prometheus's
     * own words.
     */
    async query(expression: string): Promise<readonly Sample[]> {
      const { data } = await api<QueryResult>('query', { query: expression });
      if (data.resultType === 'vector')
        return data.result.map(({ metric, value }) => ({ metric, value: toNumber(value[1]) }));
      if (data.resultType === 'scalar') return [{ metric: {}, value: toNumber(data.result[1]) }];
      throw new Error(`a ${data.resultType} is not an answer to an instant query: ${expression}`);
    },
    /** The series of a range query; times in seconds. */
    async queryRange(
      expression: string,
      range: { readonly start: number; readonly end: number; readonly step: number },
    ): Promise<readonly Series[]> {
      const { start, end, step } = range;
      const { data } = await api<RangeResult>('query_range', {
        query: expression,
        start: `${start}`,
        end: `${end}`,
        step: `${step}`,
      });
      return data.result.map(({ metric, values }) => ({
        metric,
        values: values.map(([seconds, value]) => [seconds, toNumber(value)] as const),
      }));
    },
    async alerts(): Promise<readonly PrometheusAlert[]> {
      return (await api<{ readonly alerts: readonly PrometheusAlert[] }>('alerts')).data.alerts;
    },
    /** Stops it, as for another version, and starts it again with what it has stored. */
    restart,
    /** Its log as lines of `level=warn …`, until a restart. */
    log: lines,
  };
}

/**
 * Debian's Alertmanager with a configuration, in a folder of its own; ends with the test. It has no
 * peers, unless flags name them.
 */
export async function givenAlertmanager(
  config: string,
  files?: Readonly<Record<string, string>>,
  args?: readonly string[],
) {
  const { url, lines, restart } = await untilTheTestEnds(startAlertmanager, config, files, args);
  return {
    url,
    /** Returns the alerts that it knows, inhibited or not. */
    alerts: () => ask<never, readonly AlertmanagerAlert[]>(`${url}/api/v2/alerts`),
    /** Stops it, as for another version, and starts it again with what it has stored. */
    restart,
    log: lines,
  };
}

/**
 * A webhook that keeps what Alertmanager sends; ends with the test. `url` goes into
 * `webhook_configs`.
 */
export async function givenReceiver() {
  const deliveries: (Delivery & { readonly receivedAt: number })[] = [];
  const { url, close } = await startReceiver((delivery) => deliveries.push({ ...delivery, receivedAt: Date.now() }));
  onTestFinished(close);
  return { url, deliveries: () => [...deliveries] };
}

async function untilTheTestEnds(
  start: (parts: ServerStart) => Promise<Server>,
  config: string,
  files: Readonly<Record<string, string>> = {},
  args?: readonly string[],
): Promise<Server & { readonly restart: () => Promise<void> }> {
  const folder = givenFolder();
  const address = `127.0.0.1:${await freePort()}`;
  const startHere = () => start({ folder, address, config, files, args });
  const server = await startHere();
  let running = server;
  onTestFinished(() => running.stop());
  return {
    ...server,
    async restart() {
      await running.stop();
      running = await startHere();
    },
  };
}

type QueryResult =
  | { readonly resultType: 'vector'; readonly result: readonly { metric: Labels; value: readonly [number, string] }[] }
  | { readonly resultType: 'scalar'; readonly result: readonly [number, string] }
  | { readonly resultType: 'matrix' | 'string' };

interface RangeResult {
  readonly result: readonly { metric: Labels; values: readonly (readonly [number, string])[] }[];
}

async function ask<Data, Body = { readonly data: Data }>(url: string): Promise<Body> {
  const response = await fetch(url);
  const body = await response.text();
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${body}`);
  return JSON.parse(body) as Body;
}

function toNumber(text: string): number {
  return Number(text.replace('Inf', 'Infinity'));
}
