/** Numbers that look random and come again with the same seed. */
export interface Random {
  /** From 0 up to 1. */
  share(): number;
  between(from: number, to: number): number;
  /** A whole number from 0 up to `count`. */
  below(count: number): number;
  pick<Item>(items: readonly Item[]): Item;
  shuffle<Item>(items: readonly Item[]): readonly Item[];
}

/** Lehmer's generator. */
export function createRandom(seed: number): Random {
  let state = (seed % 2_147_483_646) + 1;
  const share = (): number => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
  const below = (count: number): number => Math.floor(share() * count);
  function pick<Item>(items: readonly Item[]): Item {
    const item = items[below(items.length)];
    if (item === undefined) throw new RangeError('there is nothing to pick from');
    return item;
  }

  return {
    share,
    below,
    between: (from, to) => from + share() * (to - from),
    pick,
    shuffle: (items) =>
      items
        .map((item) => ({ item, place: share() }))
        .toSorted((a, b) => a.place - b.place)
        .map(({ item }) => item),
  };
}
