/** The positions whose value stood before in the list, each with the position of the first one. */
export function findRepeats(
  values: readonly (string | undefined)[],
): readonly { readonly index: number; readonly first: number }[] {
  return values.flatMap((value, index) => {
    const first = values.indexOf(value);
    return value === undefined || first === index ? [] : [{ index, first }];
  });
}
