import { createRequire } from 'node:module';
import type * as Re2 from 're2js';

/**
 * A pattern for whole names, as in Prometheus; `.` matches a line break too, which a name may
 * contain. An appliance chooses the names: the time of RE2 grows in proportion to their length,
 * where a `RegExp` may take for ever.
 */
export class NamePattern {
  readonly source: string;
  readonly #pattern: Re2.RE2JS | undefined;

  /** Throws for a text that is not a pattern of RE2. */
  constructor(source: string) {
    this.source = source;
    // Nearly all configurations have this pattern alone, and need no engine.
    this.#pattern = source === '.*' ? undefined : compile(source);
  }

  test(name: string): boolean {
    return this.#pattern?.matches(name) ?? true;
  }
}

function compile(source: string): Re2.RE2JS {
  // At the first pattern: the engine takes 12 MB.
  const { RE2JS } = createRequire(import.meta.url)('re2js') as typeof Re2;
  return RE2JS.compile(source, RE2JS.DOTALL);
}
