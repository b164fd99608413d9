import { ADDRCONFIG, type LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { errorCode, toError } from './check.ts';
import { inTime, steadyNow } from './time.ts';

/** Says that a host name has no address, as far as this machine can tell; without a remedy. */
export class ResolveError extends Error {
  override readonly name = 'ResolveError';
  readonly code = 'ERR_NAME_UNRESOLVED';
}

/** Tells an administrator what to do about a {@link ResolveError}, at the end of a sentence. */
export const resolveRemedy = 'check the name and the name servers of this machine, or write the address in its place';

/** Told when a name that has resolved before begins to fail, and when it resolves again. */
export interface ResolverListener {
  /** Its last known address serves meanwhile. */
  failing(host: string, because: string): void;
  resolved(host: string): void;
}

interface ResolverOptions {
  readonly listener?: ResolverListener;
  /** Replaces the lookup of the system. Rejects with a code such as `ENOTFOUND`. */
  readonly lookup?: (host: string) => Promise<readonly LookupAddress[]>;
  /** How many lookups may hang at a time. */
  readonly maxHanging?: number;
}

/** The last known addresses of a name, and its lookup. */
interface Entry {
  addresses: readonly LookupAddress[] | undefined;
  /** The lookup under way, shared by all who wait for it. */
  running: Promise<readonly LookupAddress[]> | undefined;
  startedAtSteadyMs: number;
  /** True while a lookup hangs, and after one that did until it succeeds. */
  hangs: boolean;
  isFailing: boolean;
}

/** A lookup that takes longer counts as hung, and the last known address is used. */
const hangsAfterMs = 1_000;
/** Two tries of the C library at a name server take longer; one, and a response of the next, do not. */
export const maxResolveMs = 6_000;
/** More names than anybody configures; the oldest are forgotten. */
const maxKept = 10_000;

/**
 * Looks up the names of hosts. The system (getaddrinfo) does it in a thread of libuv, of which
 * there are few, and a lookup cannot be cancelled: at a silent name server it holds its thread for
 * ten seconds and longer. So there is one lookup at a time for a name, and those that hang leave
 * threads for the others. The last known addresses of a name are used while it hangs or fails.
 */
export class HostResolver {
  readonly #options: ResolverOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #hanging = new Set<Entry>();

  constructor(options: ResolverOptions = {}) {
    this.#options = options;
  }

  /**
   * Resolves to the addresses of a host, an IP address to itself. Rejects with a {@link ResolveError}
   * if there are none, or not within `withinMs` of the beginning of the lookup.
   */
  async resolve(host: string, withinMs: number): Promise<readonly LookupAddress[]> {
    const family = isIP(host);
    if (family !== 0) return [{ address: host, family }];
    const entry = this.#entryOf(host);
    if (entry.running === undefined && !this.#mayBegin(entry)) {
      if (entry.addresses) return entry.addresses;
      throw new ResolveError(`its name ${host} does not resolve: the name server does not answer`);
    }
    entry.running ??= this.#begin(host, entry);
    const waitMs =
      (entry.addresses ? Math.min(hangsAfterMs, withinMs) : withinMs) - (steadyNow() - entry.startedAtSteadyMs);
    const late = (): Error =>
      new ResolveError(`its name ${host} does not resolve: no answer of the name server within ${withinMs / 1_000} s`);
    try {
      return await inTime(entry.running, Math.max(0, waitMs), late);
    } catch (error) {
      if (entry.addresses) return entry.addresses;
      throw error;
    }
  }

  #entryOf(host: string): Entry {
    const found = this.#entries.get(host);
    if (found) return found;
    const entry: Entry = {
      addresses: undefined,
      running: undefined,
      startedAtSteadyMs: 0,
      hangs: false,
      isFailing: false,
    };
    this.#entries.set(host, entry);
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > maxKept && oldest !== undefined) this.#entries.delete(oldest);
    return entry;
  }

  /** Returns false for a name whose last lookup hung, while as many others hang as may. */
  #mayBegin(entry: Entry): boolean {
    const { maxHanging = maxHangingIn(process.env.UV_THREADPOOL_SIZE) } = this.#options;
    return !entry.hangs || this.#hanging.size < maxHanging;
  }

  async #begin(host: string, entry: Entry): Promise<readonly LookupAddress[]> {
    const { lookup: find = findAddresses, listener } = this.#options;
    entry.startedAtSteadyMs = steadyNow();
    if (entry.hangs) this.#hanging.add(entry);
    const timer = setTimeout(() => {
      entry.hangs = true;
      this.#hanging.add(entry);
    }, hangsAfterMs);
    try {
      entry.addresses = await find(host);
      entry.hangs = false;
      if (entry.isFailing) listener?.resolved(host);
      entry.isFailing = false;
      return entry.addresses;
    } catch (error) {
      const because = lookupFailureText(error);
      entry.hangs = steadyNow() - entry.startedAtSteadyMs >= hangsAfterMs;
      if (entry.addresses && !entry.isFailing) listener?.failing(host, because);
      entry.isFailing = entry.addresses !== undefined;
      throw new ResolveError(`its name ${host} does not resolve: ${because}`);
    } finally {
      clearTimeout(timer);
      this.#hanging.delete(entry);
      entry.running = undefined;
    }
  }
}

/** Looks up a name as `net.connect` does by itself, for both families. */
async function findAddresses(host: string): Promise<readonly LookupAddress[]> {
  return await lookup(host, { all: true, hints: ADDRCONFIG });
}

function lookupFailureText(error: unknown): string {
  const code = errorCode(error);
  if (code === 'ENOTFOUND') return 'there is no such name (ENOTFOUND)';
  return code === 'EAI_AGAIN' ? 'no answer of the name server (EAI_AGAIN)' : code || toError(error).message;
}

/**
 * Returns how many lookups may hang in a pool of threads: libuv lets lookups have half of them, and
 * half of these stay free.
 */
function maxHangingIn(poolSize: string | undefined): number {
  const threads = Number(poolSize) || 4;
  return Math.max(1, Math.floor((threads + 1) / 4));
}

/** Returns a `lookup` for `net.connect` and `tls.connect` that gets its addresses from a function. */
export function lookupBy(addressesOf: (host: string) => Promise<readonly LookupAddress[]>): LookupFunction {
  async function lookUp(host: string, all: boolean, done: Parameters<LookupFunction>[2]): Promise<void> {
    try {
      const [first, ...others] = await addressesOf(host);
      if (all || !first) done(null, first ? [first, ...others] : []);
      else done(null, first.address, first.family);
    } catch (error) {
      done(toError(error), '');
    }
  }
  return (host, { all = false }, done) => void lookUp(host, all, done);
}
