// Counts the requests that appliances log by syslog. A line goes from receiver.ts (sockets) through
// frames.ts (a stream becomes lines) and `ApplianceLog` here (the limit) to line.ts with
// pound-line.ts or zproxy-line.ts (the parsers), to waiting.ts if polling does not know its farm yet,
// and to counts.ts (the counters by farm and backend); `publish` puts them into the metrics store.
// RequestLog owns the listeners and the counters of each appliance, which survive a reload. All of it
// runs on the event loop, so an appliance may send so many lines in each tenth of a second; more are
// dropped and counted.

import type { BlockList } from 'node:net';
import type { Logger } from 'pino';
import { Counter, type Registry } from 'prom-client';
import { blockListOf, isIn } from '../lib/address.ts';
import type { Prepared } from '../lib/prepared.ts';
import { isSame } from '../lib/same.ts';
import { ThrottledLog } from '../lib/throttled-log.ts';
import { steadyNow } from '../lib/time.ts';
import type { MetricsStore } from '../metrics/store.ts';
import type { LastMinute } from '../state/status.ts';
import { type PolledFarm, type LineResult, type Objective, RequestCounts } from './counts.ts';
import { readLine } from './line.ts';
import type { LineConsumer } from './frames.ts';
import { type LoggedRequest, targetNames } from './logged-line.ts';
import {
  createHandshakes,
  type SenderDirectory,
  type Receiver,
  type ReceiverSettings,
  receiveDatagrams,
  receiveStreams,
  type RefusalReason,
  refusalReasons,
  type StreamReceiver,
} from './receiver.ts';
import { maxWaitMs, WaitingRequests } from './waiting.ts';

export interface RequestLogSettings {
  /** Without an address, nothing is received. */
  readonly receiver: ReceiverSettings;
  /** Bounds of the histogram in milliseconds. */
  readonly buckets: readonly number[];
  readonly appliances: readonly LoggingAppliance[];
}

export interface LoggingAppliance {
  readonly name: string;
  /** Networks from which its lines come. */
  readonly from: readonly string[];
  readonly objectives: readonly Objective[];
}

export interface RequestLogParts {
  readonly store: Pick<MetricsStore, 'put' | 'remove'>;
  /** Returns the polled farms of an appliance; undefined while polling has no list. */
  readonly farmsOf: (appliance: string) => readonly PolledFarm[] | undefined;
  readonly registry: Registry;
  readonly log: Logger;
}

export const refusalMetric = {
  name: 'zlb_exporter_request_log_refused_total',
  help: 'Datagrams and connections of the log of requests that were refused, by reason (this exporter).',
  labelNames: ['reason'],
} as const;

const storeKey = 'requests';
/** Metrics are at most this much behind the log. */
const publishEveryMs = 1_000;
/** The names of farms are read this often for objectives, also without a line. */
const farmsEveryMs = 30_000;
/** A log is reported as empty after this time without a request. */
const emptyAfterMs = 3_600_000;
/** The limit of an appliance: lines, or bytes that cost as much, in a tenth of a second. */
export const linesPerWindow = 2_500;
export const windowMs = 100;
/** The most addresses in the cache of senders. */
const maxAddresses = 1_000;

/** Counts the requests that appliances log; see the head of this file. */
export class RequestLog implements SenderDirectory {
  readonly #parts: RequestLogParts;
  readonly #refusals = new Counter({ ...refusalMetric, registers: [] });
  readonly #publishing = setInterval(() => this.publishIfChanged(), publishEveryMs);
  readonly #throttledLog: ThrottledLog;
  #settings: RequestLogSettings = { receiver: {}, buckets: [], appliances: [] };
  #receivers: Receivers = {};
  #logs: readonly ApplianceLog[] = [];
  /** The networks of all appliances: one cheap check for a flood with a forged address in each datagram. */
  #networks = blockListOf([]);
  readonly #byAddress = new Map<string, ApplianceLog | undefined>();

  constructor(parts: RequestLogParts) {
    this.#parts = parts;
    this.#throttledLog = new ThrottledLog(parts.log);
  }

  /** The addresses on which it listens: UDP, then TCP. */
  get addresses(): readonly string[] {
    const { udp, tcp } = this.#receivers;
    return [udp, tcp].flatMap((receiver) => receiver?.address ?? []);
  }

  /** Opens the listeners of other settings beside the present ones; rejects with a ListenError. */
  async prepare(settings: RequestLogSettings): Promise<Prepared> {
    const [before, { listenUdp, listenTcp, tls }] = [this.#settings.receiver, settings.receiver];
    const { udp: oldUdp, tcp: oldTcp } = this.#receivers;
    const handshakes = tls && createHandshakes(tls, this);
    const [hasNewUdp, hasNewTcp] = [listenUdp !== before.listenUdp, listenTcp !== before.listenTcp];
    const newUdp = hasNewUdp && listenUdp !== undefined ? await receiveDatagrams(listenUdp, this) : undefined;
    const newTcp =
      hasNewTcp && listenTcp !== undefined
        ? await receiveStreams(listenTcp, handshakes, this).catch(async (error: unknown) => {
            await newUdp?.close();
            throw error;
          })
        : undefined;
    return {
      commit: () => {
        this.#receivers = { udp: hasNewUdp ? newUdp : oldUdp, tcp: hasNewTcp ? newTcp : oldTcp };
        if (hasNewUdp) void oldUdp?.close();
        if (hasNewTcp) void oldTcp?.close();
        else if (!isSame(tls, before.tls)) oldTcp?.useTls(handshakes);
        if (newUdp ?? newTcp) this.#announce();
        this.#apply(settings);
      },
      discard: async () => void (await Promise.all([newUdp?.close(), newTcp?.close()])),
    };
  }

  /** Applies other settings; appliances that stay keep their counters. */
  #apply(settings: RequestLogSettings): void {
    const names = new Set(settings.appliances.map(({ name }) => name));
    for (const { name } of this.#settings.appliances) if (!names.has(name)) this.#parts.store.remove(name, storeKey);
    this.#logs = settings.appliances.map((appliance) => {
      const kept = this.#logs.find((each) => each.appliance.name === appliance.name);
      kept?.configure(appliance, settings.buckets);
      return kept ?? new ApplianceLog(appliance, settings.buckets, this.#parts);
    });
    this.#settings = settings;
    this.#networks = blockListOf(settings.appliances.flatMap(({ from }) => from));
    this.#byAddress.clear();
  }

  #announce(): void {
    const { registry, log } = this.#parts;
    if (!registry.getSingleMetric(refusalMetric.name)) registry.registerMetric(this.#refusals);
    for (const reason of refusalReasons) this.#refusals.inc({ reason }, 0);
    log.info({ addresses: this.addresses }, 'receiving the log of requests');
  }

  /** Puts changed counters into the store. */
  publishIfChanged(): void {
    for (const each of this.#logs) each.publishIfChanged();
  }

  /** Puts all counters into the store, which a reload may have emptied. */
  publish(): void {
    for (const each of this.#logs) each.publish();
  }

  /** Returns undefined if no line about the farm came. */
  lastMinute(appliance: string, farm: string): LastMinute | undefined {
    return this.#logs.find((each) => each.appliance.name === appliance)?.counts.lastMinute(farm);
  }

  /** Returns true if no request was counted in the first hour of the log of an appliance. */
  isEmpty(appliance: string): boolean {
    return this.#logs.find((each) => each.appliance.name === appliance)?.isEmpty ?? false;
  }

  async close(): Promise<void> {
    clearInterval(this.#publishing);
    await Promise.all([this.#receivers.udp?.close(), this.#receivers.tcp?.close()]);
  }

  countRefusal(reason: RefusalReason, because?: string, address?: string): void {
    this.#refusals.inc({ reason });
    if (because !== undefined) this.#throttledLog.logRejected(because, address);
  }

  consumerFor(address: string): ApplianceLog | undefined {
    // Anybody may send datagrams from any address.
    if (this.#byAddress.size >= maxAddresses) this.#byAddress.clear();
    if (!this.#byAddress.has(address))
      this.#byAddress.set(
        address,
        isIn(this.#networks, address) ? this.#logs.find((each) => each.sends(address)) : undefined,
      );
    return this.#byAddress.get(address);
  }
}

interface Receivers {
  readonly udp?: Receiver | undefined;
  readonly tcp?: StreamReceiver | undefined;
}

class ApplianceLog implements LineConsumer {
  appliance: LoggingAppliance;
  readonly counts: RequestCounts;
  readonly #parts: RequestLogParts;
  #networks: BlockList;
  readonly #waiting = new WaitingRequests();
  readonly #startedAtSteadyMs = steadyNow();
  #namesUpdatedAtSteadyMs = -Infinity;
  #namesUpdateTookMs = 0;
  #hasFarmList = false;
  /** When the first request came, if that was before the first list of farms. */
  #waitingSinceSteadyMs: number | undefined;
  /** True if the counters changed since they were published. */
  #isDirty = true;
  /** The newest window with a line, and the lines that are charged to it. */
  #window = 0;
  #linesInWindow = 0;

  constructor(appliance: LoggingAppliance, buckets: readonly number[], parts: RequestLogParts) {
    this.appliance = appliance;
    this.#parts = parts;
    this.counts = new RequestCounts(appliance.name, buckets, appliance.objectives);
    this.#networks = blockListOf(appliance.from);
  }

  /** Applies other settings of the same appliance. */
  configure(appliance: LoggingAppliance, buckets: readonly number[]): void {
    this.appliance = appliance;
    this.#networks = blockListOf(appliance.from);
    this.counts.configure(buckets, appliance.objectives);
    this.#isDirty = true;
  }

  get isEmpty(): boolean {
    return this.counts.hasNoResponses && steadyNow() - this.#startedAtSteadyMs >= emptyAfterMs;
  }

  sends(address: string): boolean {
    return isIn(this.#networks, address);
  }

  get takesNoMore(): boolean {
    return this.#chargedLines(currentWindow()) >= linesPerWindow || (this.#waiting.isFull && this.#awaitsFarmList);
  }

  line(text: string): void {
    const { content, times } = readLine(text);
    this.charge(times);
    if (typeof content === 'string') return this.#countLine(content, times);
    const nowSteadyMs = steadyNow();
    if (!this.#hasFarmList) this.#waitingSinceSteadyMs ??= nowSteadyMs;
    if (this.counts.knows(...targetNames(content))) return this.#countRequest(content, times);
    // It waits until polling knows its names; until then it must not count as `unknown`.
    if ((this.#hasFarmList || this.#awaitsFarmList) && this.#waiting.add(content, times, nowSteadyMs)) return;
    this.#countUnnamed(content, times);
  }

  fault(result: LineResult): void {
    // Dropped lines are not charged.
    if (result !== 'over_limit') this.charge();
    this.#countLine(result, 1);
  }

  charge(times = 1): void {
    const window = currentWindow();
    this.#linesInWindow = this.#chargedLines(window) + times;
    this.#window = window;
  }

  /** Publishes changed counters, including requests that waited. */
  publishIfChanged(): void {
    this.#updateNames();
    if (this.#isDirty) this.#put();
  }

  /** Publishes the counters, also unchanged ones. */
  publish(): void {
    this.#updateNames();
    this.#put();
  }

  #put(): void {
    this.#isDirty = false;
    this.#parts.store.put(this.appliance.name, storeKey, this.counts.current());
  }

  get #awaitsFarmList(): boolean {
    return !this.#hasFarmList && steadyNow() - (this.#waitingSinceSteadyMs ?? Infinity) < maxWaitMs;
  }

  /** Adds the names that polling knows by now, and counts the requests that waited for them. */
  #updateNames(): void {
    const nowSteadyMs = steadyNow();
    const isDue = this.appliance.objectives.length > 0 && nowSteadyMs - this.#namesUpdatedAtSteadyMs >= farmsEveryMs;
    if (!this.#isDirty && this.#waiting.isEmpty && !isDue) return;
    // Takes at most a tenth of the time, however many backends there are.
    if (nowSteadyMs - this.#namesUpdatedAtSteadyMs < 10 * this.#namesUpdateTookMs) return;
    this.#namesUpdatedAtSteadyMs = nowSteadyMs;
    this.#isDirty = true;
    const farms = this.#parts.farmsOf(this.appliance.name);
    this.counts.learn(farms);
    this.#hasFarmList ||= farms !== undefined;
    const { known, late } = this.#waiting.take(
      (...names) => this.counts.knows(...names),
      this.#hasFarmList,
      nowSteadyMs,
    );
    for (const { request, times } of known) this.#countRequest(request, times);
    for (const { request, times } of late) this.#countUnnamed(request, times);
    this.#namesUpdateTookMs = steadyNow() - nowSteadyMs;
  }

  /** Counts a request whose names polling does not know. */
  #countUnnamed(request: LoggedRequest, times: number): void {
    if (this.#hasFarmList) this.#countRequest(request, times);
    else this.#countLine('early', times);
  }

  #countRequest(request: LoggedRequest, times: number): void {
    this.counts.countLine(request.kind, times);
    this.#isDirty = true;
    if (request.kind === 'answer') this.counts.countResponse(request, times);
    else this.counts.countDenial(request.farm, times);
  }

  #countLine(result: LineResult, times: number): void {
    this.counts.countLine(result, times);
    this.#isDirty = true;
  }

  /** Returns the lines charged to a window, including those beyond the limit of earlier windows. */
  #chargedLines(window: number): number {
    return Math.max(0, this.#linesInWindow - linesPerWindow * (window - this.#window));
  }
}

function currentWindow(): number {
  return Math.floor(steadyNow() / windowMs);
}
