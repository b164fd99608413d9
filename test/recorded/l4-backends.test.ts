import { describe, expect, it } from 'vitest';
import { belowBase, hasRecordings, readExchanges, recordedProducts, textOf } from '../support/recordings.ts';

type Backend = Readonly<Record<string, unknown>>;

interface Reply {
  readonly backends?: readonly Backend[];
  readonly params?: readonly Backend[];
}

/** The fields that the exporter takes from the list instead of from the statistics. */
const taken = ['id', 'ip', 'port', 'status', 'weight', 'priority', 'max_conns'];
const farms = ['db-l4', 'dns-udp', 'multi-l4'];

const folders = recordedProducts.flatMap(({ product, clone, beside }) =>
  [clone, ...(hasRecordings(beside) ? [beside] : [])].map((folder) => [product, folder] as const),
);

describe.each(folders)('an L4 farm of %s, in %s', (_, folder) => {
  const replies = new Map(
    readExchanges(folder)
      .filter(({ name, request }) => request.method === 'GET' && /^[01]/.test(name))
      .map((exchange) => [belowBase(exchange.request.path), exchange]),
  );
  const reply = (path: string) => JSON.parse(textOf(replies.get(path)!)) as Reply;
  const facts = (backends: readonly Backend[] = []) => backends.map((each) => taken.map((field) => each[field]));

  it('has the same backend list by itself and in its configuration', () => {
    expect(reply('/farms/db-l4/backends').params).toEqual(reply('/farms/db-l4').backends);
  });

  it.each(farms)('%s lists the health, weights and limits of its statistics', (farm) => {
    const list = facts(reply(`/farms/${farm}`).backends);

    expect(list.length).toBeGreaterThan(0);
    expect(list).toEqual(facts(reply(`/stats/farms/${farm}`).backends));
  });
});
