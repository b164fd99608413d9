/** The base paths that were found, so that all connections to an appliance know them. */
export class BasePaths {
  /** By origin. */
  readonly #found = new Map<string, string>();

  get({ origin }: URL): string | undefined {
    return this.#found.get(origin);
  }

  /** Keeps the path of an appliance; forgets it if `path` is undefined. */
  set({ origin }: URL, path: string | undefined): void {
    if (path === undefined) this.#found.delete(origin);
    else this.#found.set(origin, path);
  }
}
