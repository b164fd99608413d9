/** The path of a value in the configuration: keys and list positions from the root. */
export type Path = readonly (string | number)[];

/**
 * The place of a value. `key` is a key path such as `appliances[0].url`, or an environment
 * variable.
 */
export interface ConfigLocation {
  readonly file: string;
  readonly line?: number;
  readonly column?: number;
  readonly key: string;
  /** The value as written in the file, before `${NAME}` is replaced. */
  readonly written?: string;
}

/** A mistake in a configuration; the message says how to correct it, and contains no secret. */
export interface ConfigProblem extends Omit<ConfigLocation, 'written'> {
  readonly message: string;
}

/** Thrown for a configuration that is refused; the message has one line for each problem. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[]) {
    super(problems.map(problemLine).join('\n'));
    this.problems = problems;
  }
}

export type ReportProblem = (at: Path, message: string, part?: 'key') => void;

/** The most problems that are reported: nobody reads more, and finding the place of each takes time. */
const maxProblems = 100;

const furtherChecks = 'further checks follow once this is corrected, such as those of the files that it names';

/** Collects the problems of a configuration, so that an operator sees them all at once. */
export class Problems {
  readonly #problems: ConfigProblem[] = [];
  readonly #keys = new Set<string>();

  /** Adds a problem, unless the key has one: the earliest stage has the best message. */
  report({ file, line, column, key }: ConfigLocation, message: string): void {
    const known = JSON.stringify([file, key]);
    if (this.isFull || (key !== '' && this.#keys.has(known))) return;
    this.#keys.add(known);
    this.#problems.push({ file, ...(line && { line }), ...(column && { column }), key, message });
  }

  reportIn(source: { locate(path: Path, part?: 'key'): ConfigLocation }): ReportProblem {
    return (at, message, part) => this.report(source.locate(at, part), message);
  }

  /** True if no further problem is reported: a check that may find many can stop. */
  get isFull(): boolean {
    return this.#problems.length >= maxProblems;
  }

  get isEmpty(): boolean {
    return this.#problems.length === 0;
  }

  /** Returns the error with all problems, sorted by location. */
  error(): ConfigError {
    const problems = this.#problems.toSorted(byLocation);
    const [first] = problems;
    if (!this.isFull || !first) return new ConfigError(problems);
    const message = `There may be more problems: only the first ${maxProblems} are shown`;
    return new ConfigError([...problems, { file: first.file, key: '', message }]);
  }

  /** Returns the error of an early stage, which says that further checks follow. */
  earlyError(): ConfigError {
    const { problems } = this.error();
    const [first] = problems;
    const isWholeFile = problems.every(({ line, key }) => line === undefined && key === '');
    if (this.isFull || !first || isWholeFile) return new ConfigError(problems);
    return new ConfigError([...problems, { file: first.file, key: '', message: furtherChecks }]);
  }
}

/**
 * Returns `appliances[0].tls.ca_file`; a key that is not a plain word may be a misplaced secret and is
 * shown as `[?]`.
 */
export function keyPath(path: Path): string {
  const steps = path.map((step) => {
    if (typeof step === 'number') return `[${step}]`;
    return /^[\w.-]{1,40}$/.test(step) ? `.${step}` : '[?]';
  });
  return steps.join('').replace(/^\./, '');
}

function byLocation(one: ConfigProblem, other: ConfigProblem): number {
  if (one.file !== other.file) return 0;
  return (one.line ?? 0) - (other.line ?? 0) || (one.column ?? 0) - (other.column ?? 0);
}

function problemLine({ file, line, column, key, message }: ConfigProblem): string {
  const place = [file, line, column].filter((part) => part !== undefined).join(':');
  return [place, key, message].filter((part) => part !== '').join(': ');
}
