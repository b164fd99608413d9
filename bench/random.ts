/** Choices that look random and come again with the same seed. */
export interface Random {
  pick<Item>(items: readonly Item[]): Item;
  shuffle<Item>(items: readonly Item[]): readonly Item[];
}

/** Lehmer's generator. */
export function createRandom(seed: number): Random {
  let state = (seed % 2_147_483_646) + 1;
  const next = (): number => (state = (state * 48_271) % 2_147_483_647);
  const shuffle: Random['shuffle'] = (items) =>
    items
      .map((item) => ({ item, place: next() }))
      .toSorted((a, b) => a.place - b.place)
      .map(({ item }) => item);
  return {
    shuffle,
    pick(items) {
      const item = items[next() % items.length];
      if (item === undefined) throw new RangeError('there is nothing to pick from');
      return item;
    },
  };
}
