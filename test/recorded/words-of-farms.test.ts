import { stateWord } from '../../src/lib/states.ts';
import type { Farm } from '../../src/appliance/farm.ts';
import { describe, expect, it } from 'vitest';
import { backendsCollector } from '../../src/collectors/backends.ts';
import type { FarmConfig } from '../../src/collectors/farm-config.ts';
import { stateImpliesAllUp } from '../../src/collectors/implied-states.ts';
import {
  belowBase,
  type Exchange,
  hasRecordings,
  readExchanges,
  recordedProducts,
  recordingsBeside,
  textOf,
} from '../support/recordings.ts';
import { collectFarmFrom } from '../unit/collectors/given-replies.ts';

for (const { product, beside } of [...recordedProducts, ...recordingsBeside])
  if (!hasRecordings(beside)) console.warn(`NOT RUN: the words of farms in the recordings of ${product}, beside`);

const folders = [
  ...recordedProducts.map(({ product, clone }) => ({ product, folder: clone })),
  ...[...recordedProducts, ...recordingsBeside]
    .filter(({ beside }) => hasRecordings(beside))
    .map(({ product, beside }) => ({ product, folder: beside })),
];

/** As if every farm had a health check: only the word and the states are compared here. */
const checked: FarmConfig = {
  farm: '',
  certificates: [],
  checks: [{ service: '', isChecked: true }],
  protocol: undefined,
  logs: undefined,
  proxy: undefined,
  backends: undefined,
  objects: undefined,
};

/** A row of a list of farms; a list of one farm for its own state. */
interface Row {
  readonly farmname: string;
  readonly profile?: string;
  readonly status: string | number;
  readonly vip?: string;
  readonly vport?: string | number;
}

describe.each(folders)('$product, as recorded in $folder', ({ folder }) => {
  const phases = phasesOf(readExchanges(folder).filter(({ response }) => response.status === 200));

  it('has the same farms with the same states, profiles and addresses in both lists', () => {
    for (const phase of phases) {
      const lists = phase
        .map((exchange) =>
          listIn(exchange).map(({ farmname, profile, status, vip, vport }) => [farmname, profile, status, vip, vport]),
        )
        .filter((list) => list.length > 0);
      for (const list of lists) expect(list).toEqual(lists[0]);
    }
  });

  it('has the same state in the lists and in the call for a single farm', () => {
    for (const phase of phases) {
      const listed = new Map(phase.flatMap(listIn).map(({ farmname, status }) => [farmname, status]));
      for (const { farmname, status } of phase.flatMap(aloneIn))
        if (listed.has(farmname)) expect(status, farmname).toBe(listed.get(farmname));
    }
  });

  it('has no unavailable backend in a farm whose state says that all are up', async () => {
    for (const phase of phases)
      for (const fact of factsIn(phase)) {
        for (const exchange of phase.filter((each) => isAboutBackends(each, fact))) {
          const { data } = await readAs(fact, exchange);
          const others = (data.backends ?? []).filter(({ state }) => state !== 'up');
          if (fact.state === 'up') expect(others, `${exchange.name}: ${fact.name}`).toEqual([]);
          if (fact.state !== 'up') expect(stateImpliesAllUp(fact, data, checked), fact.name).toBe(false);
        }
      }
  });
});

/** Groups reads between which nothing was written, nor a minute passed. */
function phasesOf(exchanges: readonly Exchange[]): readonly (readonly Exchange[])[] {
  const phases: Exchange[][] = [];
  let beforeMs = Number.NaN;
  for (const exchange of exchanges) {
    const atMs = Date.parse(exchange.recorded_at ?? '');
    if (exchange.request.method !== 'GET' || !(atMs - beforeMs < 60_000)) phases.push([]);
    if (exchange.request.method === 'GET') phases.at(-1)?.push(exchange);
    beforeMs = atMs;
  }
  return phases;
}

function pathOf({ request }: Exchange): string {
  return belowBase(request.path);
}

function listIn(exchange: Exchange): readonly Row[] {
  if (pathOf(exchange) !== '/farms' && pathOf(exchange) !== '/stats/farms') return [];
  const { farms, params } = JSON.parse(textOf(exchange)) as { readonly farms?: Row[]; readonly params?: Row[] };
  return farms ?? params ?? [];
}

function aloneIn(exchange: Exchange): readonly Row[] {
  const farmname = /^\/farms\/([\w-]+)\/status$/.exec(pathOf(exchange))?.[1];
  if (farmname === undefined) return [];
  const { params } = JSON.parse(textOf(exchange)) as { readonly params: { readonly status: string } };
  return [{ farmname, status: params.status }];
}

/** Returns what the farms of a phase say, as the poller knows them. */
function factsIn(phase: readonly Exchange[]): readonly Farm[] {
  const listed = new Map(phase.flatMap(listIn).map((row) => [row.farmname, row]));
  const alone = phase.flatMap(aloneIn).map((row) => ({ ...listed.get(row.farmname), ...row }));
  return [...new Map([...listed.values(), ...alone].map((row) => [row.farmname, row])).values()].map(
    ({ farmname, profile, status }) => ({
      name: farmname,
      profile: profile ?? 'http',
      state: stateWord(String(status)),
    }),
  );
}

/** Of an L4 farm three reads have the same states (l4-backends.test.ts). */
function isAboutBackends(exchange: Exchange, { name, profile }: Farm): boolean {
  const paths = profile === 'l4xnat' ? [`/farms/${name}/backends`, `/farms/${name}`] : [];
  return [`/stats/farms/${name}`, ...paths].includes(pathOf(exchange));
}

function readAs(fact: Farm, exchange: Exchange) {
  const body = JSON.parse(textOf(exchange)) as { readonly backends?: unknown; readonly params?: unknown };
  const asList = { params: body.backends ?? body.params };
  return collectFarmFrom(backendsCollector, fact, { readFarmStats: body, listFarmBackends: asList });
}
