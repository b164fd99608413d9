import { setImmediate as nextTurn } from 'node:timers/promises';
import { createAgeClock } from '../lib/age-clock.ts';
import { createLately } from '../lib/lately.ts';
import { createRhythm, type Rhythm } from '../lib/rhythm.ts';
import { sleep } from '../lib/sleep.ts';
import { steadyNow } from '../lib/steady-now.ts';
import type { Exposition } from '../metrics/exposition.ts';
import { type Format, formats, type Page, type Representation } from '../metrics/page.ts';
import type { AppliancePoller } from './appliance-poller.ts';
import type { Monitor, MonitoredAppliance } from './monitor.ts';
import type { FleetStatus, RecentTransition } from './status.ts';
import { createTransitionHistory } from './transition-history.ts';
import { createUpkeep } from './upkeep.ts';

/** A monitor whose appliances can be others from one moment to the next. */
export interface Fleet<Appliance extends MonitoredAppliance> extends Monitor {
  /**
   * Watches these and no others. Who is the same as before is left alone: readings, counters and schedules go on. Who is not
   * begins anew, with the counters it had; where it is the same machine its readings stay until there are newer ones.
   */
  watch(appliances: readonly Appliance[]): Promise<FleetChange>;
}

/** How many. */
export interface FleetChange {
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
}

export interface FleetParts<Appliance extends MonitoredAppliance> {
  readonly exposition: Exposition;
  readonly createPoller: (
    appliance: Appliance,
    inherited: Inherited,
    onTransition: (transition: RecentTransition) => void,
  ) => AppliancePoller;
  /** Whether nothing at all differs. */
  readonly isSame: (one: Appliance, other: Appliance) => boolean;
  /** Whether it is the same machine, watched in another way. */
  readonly isSameMachine: (one: Appliance, other: Appliance) => boolean;
}

/** What a poller goes on with. */
export type Inherited = Partial<Pick<AppliancePoller, 'counters' | 'legacy'>>;

interface Watched<Appliance> {
  readonly appliance: Appliance;
  readonly poller: AppliancePoller;
  /** When pages of it alone, or of some, were asked for. */
  readonly asked: Rhythm;
  /** Until when nothing needs to be brought up for its page. */
  goodUntilMs: number;
  /** In which form it was asked for last: who asks again asks for the same. */
  lastForm: Representation | undefined;
  /** Its page in that form, made before it was asked for, and until when it may be sent. */
  finished: { readonly page: Page; readonly untilMs: number } | undefined;
}

/** A thousand handshakes at once would leave no time for anything else; a few appliances are there in no time. */
const betweenStartsMs = 10;
/** No older page is sent: upkeep makes one each second, if there is time. */
const oldestPageMs = 2_000;
/** A page is brought up ahead in the turn before it is expected, and in those after, until it is asked for. */
const expectedWithinMs = 1_200;
/** The page of the round under way may be without the format that is asked for, or have no time left. */
const mostRounds = 2;

/** Who asks asks again soon: Prometheus within two minutes at the most, an open status page within seconds. */
const aheadForMs = 150_000;

/** Appliances that are compared and begun before everything else has its turn. */
const oneTurn = 50;

/** Watches nothing until it is told what. */
export function createFleet<Appliance extends MonitoredAppliance>(parts: FleetParts<Appliance>): Fleet<Appliance> {
  const { exposition, createPoller, isSame, isSameMachine } = parts;
  const closing = new AbortController();
  let watched: ReadonlyMap<string, Watched<Appliance>> = new Map();
  let started = false;
  let starting: Promise<void> = Promise.resolve();
  let wasReady = false;
  const history = createTransitionHistory();
  let described: FleetStatus = { appliances: [], transitions: [] };
  const pollers = (): readonly AppliancePoller[] => [...watched.values()].map(({ poller }) => poller);
  // A machine that was paused must not send the page from before as that of this second.
  const age = createAgeClock(Date.now, steadyNow);
  /** The page of all appliances in the formats that are asked for, and until when it may be sent. */
  let kept: { readonly untilMs: number; readonly pages: ReadonlyMap<Format, Page> } | undefined;
  const lately = createLately<Format | 'plain text' | 'status'>(aheadForMs, age);
  const upkeep = createUpkeep(function* steps() {
    const wanted = formats.filter((format) => lately.has(format));
    const ofThese = watched;
    let untilMs = Number.POSITIVE_INFINITY;
    for (const name of watched.keys()) {
      const one = watched.get(name);
      if (!one) continue;
      // What is made for nobody is garbage a second later, and clearing it away delays everything else.
      const isExpected = one.asked.isExpectedWithin(expectedWithinMs);
      if (isExpected || wanted.length > 0) untilMs = Math.min(untilMs, settle(one));
      // Though nobody asks: what is missed is read again as soon as the appliance answers.
      else one.poller.withhold();
      // Bit by bit, so that who asks again and again does not have it put together all at once.
      if (lately.has('status')) one.poller.describe();
      yield;
      if (isExpected) yield* finish(name, one);
      else one.finished = undefined;
    }
    if (wanted.length === 0) return;
    yield* exposition.joinAhead({ texts: lately.has('plain text') });
    // A reload in between makes it a page of others.
    if (watched !== ofThese) return;
    for (const one of watched.values()) catchUp(one);
    kept = { untilMs, pages: new Map(wanted.map((format) => [format, exposition.page(format)])) };
  });

  /** Returns until when the page may be sent as it stands. */
  function settle(one: Watched<Appliance>): number {
    one.poller.settle();
    one.goodUntilMs = age() + Math.min(oldestPageMs, one.poller.goodForMs());
    return one.goodUntilMs;
  }

  /** What was read since it was settled is on the page already, and must not stand beside an appliance that is not up. */
  function catchUp(one: Watched<Appliance>): void {
    if (!one.poller.isCurrent()) settle(one);
  }

  function keptPage(format: Format): Page | undefined {
    return kept && age() < kept.untilMs ? kept.pages.get(format) : undefined;
  }

  function* finish(name: string, one: Watched<Appliance>): Generator<void, void> {
    yield* exposition.joinAheadOf(name);
    catchUp(one);
    const { lastForm: form, goodUntilMs: untilMs } = one;
    one.finished = form && { page: exposition.finishedPage(name, form), untilMs };
  }

  function finishedPage(one: Watched<Appliance>, { format, compressed }: Representation): Page | undefined {
    const { finished, lastForm } = one;
    const isInForm = lastForm?.format === format && lastForm.compressed === compressed;
    return isInForm && finished && age() < finished.untilMs ? finished.page : undefined;
  }

  /** Who asks for the first time in a while waits for it to be made in slices, together with all others who ask meanwhile. */
  async function wholePage(format: Format): Promise<Page> {
    lately.asked(format);
    for (let round = 0; round < mostRounds && !keptPage(format); round += 1) await upkeep.once();
    return keptPage(format) ?? makeAtOnce(format);
  }

  function makeAtOnce(format: Format): Page {
    // No older page is sent after this one, or counters would fall from one scrape to the next.
    kept = undefined;
    for (const one of watched.values()) settle(one);
    return exposition.page(format);
  }

  /** One after the other, and none that was closed while it waited. */
  async function startAll(begun: readonly AppliancePoller[]): Promise<void> {
    for (const poller of begun) {
      if (closing.signal.aborted) return;
      if (watched.get(poller.name)?.poller !== poller) continue;
      poller.start();
      await sleep(betweenStartsMs, closing.signal).catch(() => undefined);
    }
  }

  async function watch(appliances: readonly Appliance[]): Promise<FleetChange> {
    const before = watched;
    const staying = (appliance: Appliance): Watched<Appliance> | undefined => {
      const one = before.get(appliance.name);
      return one && isSame(one.appliance, appliance) ? one : undefined;
    };
    const untouched = new Set(appliances.map(staying));
    await Promise.all([...before.values()].filter((one) => !untouched.has(one)).map(({ poller }) => poller.close()));

    const isKnownMachine = (appliance: Appliance): boolean => {
      const one = before.get(appliance.name);
      return one !== undefined && isSameMachine(one.appliance, appliance);
    };
    const begun: AppliancePoller[] = [];
    const begin = (appliance: Appliance): Watched<Appliance> => {
      const { counters, legacy } = before.get(appliance.name)?.poller ?? {};
      const inherited = { ...(counters && { counters }), ...(legacy && isKnownMachine(appliance) && { legacy }) };
      const poller = createPoller(appliance, inherited, history.add);
      // Or counters would be gone until it is started and its first call is over.
      if (counters) poller.publish();
      begun.push(poller);
      return {
        appliance,
        poller,
        asked: createRhythm(aheadForMs, age),
        lastForm: undefined,
        finished: undefined,
        goodUntilMs: Number.NEGATIVE_INFINITY,
      };
    };
    const next = new Map<string, Watched<Appliance>>();
    for (const appliance of appliances) {
      next.set(appliance.name, staying(appliance) ?? begin(appliance));
      if (next.size % oneTurn === 0) await nextTurn();
    }
    // From here on all at once: what is held about another machine is dropped, and its poller must not write again.
    const others = appliances.filter((appliance) => !isKnownMachine(appliance)).map(({ name }) => name);
    exposition.arrange(
      appliances.map(({ name }) => name),
      new Set(others),
    );
    watched = next;
    kept = undefined;
    history.keepOnly((appliance) => watched.has(appliance));
    if (started) starting = starting.then(() => startAll(begun));

    const added = appliances.filter(({ name }) => !before.has(name)).length;
    const removed = [...before.keys()].filter((name) => !watched.has(name)).length;
    return { added, changed: begun.length - added, removed };
  }

  return {
    get appliances() {
      return [...watched.values()].map(({ appliance }) => appliance);
    },
    watches: (appliance) => watched.has(appliance),
    watch,
    start() {
      started = true;
      upkeep.start();
      starting = startAll(pollers());
    },
    page({ format, compressed }) {
      if (!compressed) lately.asked('plain text');
      return wholePage(format);
    },
    pageOf(names, form) {
      const asked = [...names].flatMap((name) => watched.get(name) ?? []);
      for (const one of asked) one.asked.beat();
      const [first, second] = asked;
      const finished = first && !second ? finishedPage(first, form) : undefined;
      if (finished) return finished;
      for (const one of asked) {
        // No older page is sent after this one, or counters would fall from one scrape to the next.
        one.finished = undefined;
        one.lastForm = form;
        if (age() >= one.goodUntilMs) settle(one);
        else catchUp(one);
      }
      return exposition.page(form.format, names);
    },
    get ready() {
      wasReady ||= pollers().every((poller) => poller.hadFirstRuns);
      return wasReady;
    },
    describe() {
      lately.asked('status');
      const appliances = pollers().map((poller) => poller.describe());
      const transitions = history.newestFirst;
      const isSame =
        transitions === described.transitions &&
        appliances.length === described.appliances.length &&
        appliances.every((appliance, index) => appliance === described.appliances[index]);
      if (!isSame) described = { appliances, transitions };
      return described;
    },
    changed(appliance, area, farm) {
      void watched.get(appliance)?.poller.changed(area, farm);
    },
    async close() {
      closing.abort();
      await Promise.all([starting, upkeep.close()]);
      await Promise.all(pollers().map((poller) => poller.close()));
    },
  };
}
