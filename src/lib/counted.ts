/** `1 farm`, `2 farms`: of nouns with a plain plural. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
