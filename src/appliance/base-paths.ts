import { type ApplianceResponse, isForeign404 } from './response.ts';
import { knownBasePaths } from './route.ts';

/** Knows below which path the API of each appliance is, for all connections to it. */
export class BasePaths {
  /** By origin. */
  readonly #found = new Map<string, string>();

  /** Returns the path that the URL names, or else the one that was found; undefined before that. */
  known(url: URL): string | undefined {
    return url.pathname === '/' ? this.#found.get(url.origin) : url.pathname.replace(/\/$/, '');
  }

  /** Returns the paths to try, the known one first: only that of the URL if it names one. */
  candidates(url: URL): readonly string[] {
    const known = this.known(url);
    if (known === undefined) return knownBasePaths;
    return url.pathname === '/' ? [known, ...knownBasePaths.filter((path) => path !== known)] : [known];
  }

  /**
   * Returns false if a response says that the API is not below the path: a web server answers 404
   * with a page, the API in JSON. Keeps a path that was found, and forgets it after an upgrade that
   * moves the API.
   */
  judge({ origin }: URL, path: string, response: Pick<ApplianceResponse, 'status' | 'mediaType'>): boolean {
    const isThere = !isForeign404(response);
    if (isThere) this.#found.set(origin, path);
    else if (this.#found.get(origin) === path) this.#found.delete(origin);
    return isThere;
  }
}
