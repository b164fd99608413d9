/** A pattern of whole texts in which `*` stands for any characters, as an expression. */
export function globPattern(glob: string): RegExp {
  const source = glob
    .split('*')
    .map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
    .join('.*');
  return new RegExp(`^${source}$`, 's');
}
