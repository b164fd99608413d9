/** Where a value stands in the configuration: keys and list positions from the root. */
export type Path = readonly (string | number)[];

/** A place an operator can go to. `key` is a key path such as `appliances[0].url`, or an environment variable. */
export interface Place {
  readonly file: string;
  readonly line?: number;
  readonly column?: number;
  readonly key: string;
  /** The value as it stands in the file, before `${NAME}` is replaced. */
  readonly written?: string;
}

/** One thing to correct; the message says what to do about it and never holds a secret. */
export interface Problem extends Omit<Place, 'written'> {
  readonly message: string;
}

/** What reading one value comes to. */
export type Outcome<T> = { readonly value: T } | { readonly problem: string };

/** A configuration that was refused, with everything wrong in it; the message has one line per problem. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(problems.map(problemLine).join('\n'));
    this.problems = problems;
  }
}

/** Collects problems, so that an operator sees all of them at once. */
export interface Problems {
  /** Keeps one problem per key: the stage that looked first knows best. */
  report(place: Place, message: string): void;
  /** Whether something was reported for the key of a place. */
  knows(place: Place): boolean;
  isEmpty(): boolean;
  /** All of them, sorted by place. */
  error(): ConfigError;
}

export function createProblems(): Problems {
  const problems: Problem[] = [];
  const knows = ({ file, key }: Place) => key !== '' && problems.some((one) => one.file === file && one.key === key);
  return {
    knows,
    report({ file, line, column, key }, message) {
      if (knows({ file, key })) return;
      problems.push({ file, ...(line && { line }), ...(column && { column }), key, message });
    },
    isEmpty: () => problems.length === 0,
    error: () => new ConfigError(problems.toSorted(byPlace)),
  };
}

/** `appliances[0].tls.ca_file`; a key that is no plain word might be a misplaced secret and is not repeated. */
export function keyPath(path: Path): string {
  const steps = path.map((step) => {
    if (typeof step === 'number') return `[${step}]`;
    return /^[\w.-]{1,40}$/.test(step) ? `.${step}` : '[?]';
  });
  return steps.join('').replace(/^\./, '');
}

function byPlace(one: Problem, other: Problem): number {
  if (one.file !== other.file) return 0;
  return (one.line ?? 0) - (other.line ?? 0) || (one.column ?? 0) - (other.column ?? 0);
}

/** The line of a problem for people: its place, its key and what to do. */
export function problemLine({ file, line, column, key, message }: Problem): string {
  const place = [file, line, column].filter((part) => part !== undefined).join(':');
  return [place, key, message].filter((part) => part !== '').join(': ');
}
