// Counts the requests that appliances log: receives lines by syslog, reads them, and adds them to
// counters by farm and backend. It owns the listeners and the counts of each appliance, which stay
// over a reload. All of it runs on the event loop, so an appliance has a share of lines in each
// tenth of a second; what exceeds it is dropped and counted. Read on in receiver.ts, frames.ts,
// line.ts and counts.ts.

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
import { type LoggedFarm, type LineResult, type Objective, RequestCounts } from './counts.ts';
import { readLine } from './line.ts';
import type { LoggedRequest } from './logged-line.ts';
import {
  createHandshakes,
  type LineSink,
  type Receiver,
  type ReceiverSettings,
  receiveDatagrams,
  receiveStreams,
  type RefusalReason,
  refusalReasons,
  type Sender,
  type StreamReceiver,
} from './receiver.ts';
import { maxWaitMs, namesOf, WaitingRequests } from './waiting.ts';

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
  /** Returns the farms of an appliance that polling knows; undefined while it knows none. */
  readonly farmsOf: (appliance: string) => readonly LoggedFarm[] | undefined;
  readonly registry: Registry;
  readonly log: Logger;
}

export const refusalMetric = {
  name: 'zlb_exporter_request_log_refused_total',
  help: 'Datagrams and connections of the log of requests that were refused, by reason (this exporter).',
  labelNames: ['reason'],
} as const;

const storeKey = 'requests';
/** Metrics show what came until so long ago. */
const publishEveryMs = 1_000;
/** Objectives say within that time that their farm is gone, also without a line. */
const learnEveryMs = 30_000;
/** A log without a request for that long after its start is silent. */
const silentAfterMs = 3_600_000;
/** How much of an appliance is read in a tenth of a second: lines, and whatever else costs. */
export const linesPerSlot = 2_500;
export const slotMs = 100;
/** How many addresses are remembered, with the appliance of each. */
const maxAddresses = 1_000;

/** Counts the requests that appliances log: owns the listeners and the counts of appliances. */
export class RequestLog implements LineSink {
  readonly #parts: RequestLogParts;
  readonly #refusals = new Counter({ ...refusalMetric, registers: [] });
  readonly #publishing = setInterval(() => this.publish(), publishEveryMs);
  readonly #throttledLog: ThrottledLog;
  #settings: RequestLogSettings = { receiver: {}, buckets: [], appliances: [] };
  #receivers: Receivers = {};
  #senders: readonly ApplianceLog[] = [];
  /** One look for all: a flood may forge an address in each datagram. */
  #networks = blockListOf([]);
  readonly #byAddress = new Map<string, ApplianceLog | undefined>();

  constructor(parts: RequestLogParts) {
    this.#parts = parts;
    this.#throttledLog = new ThrottledLog(parts.log);
  }

  /** The addresses on which it listens: of datagrams, then of connections. */
  get addresses(): readonly string[] {
    const { udp, tcp } = this.#receivers;
    return [udp, tcp].flatMap((receiver) => receiver?.address ?? []);
  }

  /** Listens where other settings say so, beside what listens now; rejects with a ListenError. */
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
        else if (!isSame(tls, before.tls)) oldTcp?.present(handshakes);
        if (newUdp ?? newTcp) this.#announce();
        this.#apply(settings);
      },
      discard: async () => void (await Promise.all([newUdp?.close(), newTcp?.close()])),
    };
  }

  /** Counts for the appliances of other settings; those that stay keep their counts. */
  #apply(settings: RequestLogSettings): void {
    const names = new Set(settings.appliances.map(({ name }) => name));
    for (const { name } of this.#settings.appliances) if (!names.has(name)) this.#parts.store.remove(name, storeKey);
    this.#senders = settings.appliances.map((appliance) => {
      const kept = this.#senders.find((each) => each.appliance.name === appliance.name);
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

  /** Shows new counts. */
  publish(): void {
    for (const each of this.#senders) each.publish();
  }

  /** Shows all counts, after the store may have dropped some. */
  republish(): void {
    for (const each of this.#senders) each.republish();
  }

  /** Returns the last minute of a farm; undefined if no line about it came. */
  lastMinute(appliance: string, farm: string): LastMinute | undefined {
    return this.#senders.find((each) => each.appliance.name === appliance)?.counts.lastMinute(farm);
  }

  /** Returns true if no request of an appliance was counted in the first hour of its log. */
  isSilent(appliance: string): boolean {
    return this.#senders.find((each) => each.appliance.name === appliance)?.isSilent ?? false;
  }

  async close(): Promise<void> {
    clearInterval(this.#publishing);
    await Promise.all([this.#receivers.udp?.close(), this.#receivers.tcp?.close()]);
  }

  refused(reason: RefusalReason, because?: string, address?: string): void {
    this.#refusals.inc({ reason });
    if (because !== undefined) this.#throttledLog.rejected(because, address);
  }

  senderOf(address: string): ApplianceLog | undefined {
    // A datagram may come from anywhere.
    if (this.#byAddress.size >= maxAddresses) this.#byAddress.clear();
    if (!this.#byAddress.has(address))
      this.#byAddress.set(
        address,
        isIn(this.#networks, address) ? this.#senders.find((each) => each.sends(address)) : undefined,
      );
    return this.#byAddress.get(address);
  }
}

interface Receivers {
  readonly udp?: Receiver | undefined;
  readonly tcp?: StreamReceiver | undefined;
}

class ApplianceLog implements Sender {
  appliance: LoggingAppliance;
  readonly counts: RequestCounts;
  readonly #parts: RequestLogParts;
  #networks: BlockList;
  readonly #waiting = new WaitingRequests();
  readonly #sinceMs = steadyNow();
  #learnedAtMs = -Infinity;
  /** How long that took. */
  #learningMs = 0;
  #hasList = false;
  /** When the first request came, if that was before the first list. */
  #waitsSinceMs: number | undefined;
  #isBehind = true;
  #slot = 0;
  #linesInSlot = 0;

  constructor(appliance: LoggingAppliance, buckets: readonly number[], parts: RequestLogParts) {
    this.appliance = appliance;
    this.#parts = parts;
    this.counts = new RequestCounts(appliance.name, buckets, appliance.objectives);
    this.#networks = blockListOf(appliance.from);
  }

  /** Takes other settings of the same appliance. */
  configure(appliance: LoggingAppliance, buckets: readonly number[]): void {
    this.appliance = appliance;
    this.#networks = blockListOf(appliance.from);
    this.counts.configure(buckets, appliance.objectives);
    this.#isBehind = true;
  }

  get isSilent(): boolean {
    return this.counts.hasNoAnswers && steadyNow() - this.#sinceMs >= silentAfterMs;
  }

  sends(address: string): boolean {
    return isIn(this.#networks, address);
  }

  get isOverLimit(): boolean {
    return this.#spent(slotNow()) >= linesPerSlot || (this.#waiting.isFull && this.#awaitsList);
  }

  line(text: string): void {
    const { content, times } = readLine(text);
    if (typeof content === 'string') return this.#countLine(content, times);
    this.#spend(times);
    const nowMs = steadyNow();
    if (!this.#hasList) this.#waitsSinceMs ??= nowMs;
    if (this.counts.knows(...namesOf(content))) return this.#countRequest(content, times);
    // It waits until polling knows its names; until then it must not count as `unknown`.
    if ((this.#hasList || this.#awaitsList) && this.#waiting.add(content, times, nowMs)) return;
    this.#countUnnamed(content, times);
  }

  fault(result: LineResult): void {
    this.#countLine(result, 1);
  }

  incomplete(): void {
    this.#spend(1);
  }

  /** Shows the counts, with what has waited, if something came since the last time. */
  publish(): void {
    this.#learn();
    if (this.#isBehind) this.#show();
  }

  /** Shows the counts, with what has waited, also if nothing came. */
  republish(): void {
    this.#learn();
    this.#show();
  }

  #show(): void {
    this.#isBehind = false;
    this.#parts.store.put(this.appliance.name, storeKey, this.counts.reading());
  }

  get #awaitsList(): boolean {
    return !this.#hasList && steadyNow() - (this.#waitsSinceMs ?? Infinity) < maxWaitMs;
  }

  /** Takes the names that polling knows by now. */
  #learn(): void {
    const nowMs = steadyNow();
    const isDue = this.appliance.objectives.length > 0 && nowMs - this.#learnedAtMs >= learnEveryMs;
    if (!this.#isBehind && this.#waiting.isEmpty && !isDue) return;
    // In a tenth of the time at most, however many backends there are.
    if (nowMs - this.#learnedAtMs < 10 * this.#learningMs) return;
    this.#learnedAtMs = nowMs;
    this.#isBehind = true;
    const farms = this.#parts.farmsOf(this.appliance.name);
    this.counts.learn(farms);
    this.#hasList ||= farms !== undefined;
    const { known, late } = this.#waiting.take((...names) => this.counts.knows(...names), this.#hasList, nowMs);
    for (const { request, times } of known) this.#countRequest(request, times);
    for (const { request, times } of late) this.#countUnnamed(request, times);
    this.#learningMs = steadyNow() - nowMs;
  }

  /** Counts a request whose names polling does not know. */
  #countUnnamed(request: LoggedRequest, times: number): void {
    if (this.#hasList) this.#countRequest(request, times);
    else this.#countLine('early', times);
  }

  #countRequest(request: LoggedRequest, times: number): void {
    this.counts.countLine(request.kind, times);
    this.#isBehind = true;
    if (request.kind === 'answer') this.counts.answered(request, times);
    else this.counts.denied(request.farm, times);
  }

  #countLine(result: LineResult, times: number): void {
    // What is dropped takes nothing from what comes later.
    if (result !== 'over_limit') this.#spend(times);
    this.counts.countLine(result, times);
    this.#isBehind = true;
  }

  #spend(times: number): void {
    const slot = slotNow();
    this.#linesInSlot = this.#spent(slot) + times;
    this.#slot = slot;
  }

  /** Returns what was read in a slot, with what one line had too many for the slots before. */
  #spent(slot: number): number {
    return Math.max(0, this.#linesInSlot - linesPerSlot * (slot - this.#slot));
  }
}

function slotNow(): number {
  return Math.floor(steadyNow() / slotMs);
}
